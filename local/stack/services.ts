import { join } from 'node:path';
import type { StackContext, StoredStack } from './context.ts';
import { save } from './context.ts';
import type { HostComponent, Program } from './control-plane.ts';
import {
  apiserverProgram,
  controllerManagerProgram,
  etcdProgram,
  provisionerProgram,
  schedulerProgram,
} from './control-plane.ts';
import { corednsProgram } from './coredns.ts';
import { plugIn } from './network.ts';
import { postgresProgram } from './postgres.ts';
import { endProcess, isRunning, startService } from './processes.ts';
import { temporalProgram } from './temporal.ts';

const PROGRAMS: Readonly<Record<HostComponent, (context: StackContext) => Program>> = {
  etcd: etcdProgram,
  apiserver: apiserverProgram,
  postgres: postgresProgram,
  temporal: temporalProgram,
  'controller-manager': controllerManagerProgram,
  scheduler: schedulerProgram,
  coredns: corednsProgram,
  provisioner: provisionerProgram,
};

/**
 * How long a process gets to end by itself; the others bear SIGKILL. The API server and Temporal take their
 * time on SIGTERM, and what they have answered for is in their database either way.
 */
const GRACE_MILLISECONDS: Readonly<Partial<Record<HostComponent, number>>> = { etcd: 3000 };

/** The log file of a host process. */
export function logFileOf(context: StoredStack, component: string): string {
  return join(context.layout.logs, `${component}.log`);
}

/** True while the host process runs. */
export function componentIsRunning(context: StoredStack, component: HostComponent): boolean {
  return isRunning(context.state.processes[component]);
}

/** Waits for the cable, sets up the network, and becomes the program: its process ID stays the same. */
const ENTER_NETWORK = 'read -r _ || exit 1; exec </dev/null; ip -batch - <<<"$NETWORK" && exec "$@"';

/**
 * Starts the program again whenever it ends, as a kubelet does with the control plane: the scheduler ends itself when it finds
 * its cache to be wrong, as it may after the API server was away. The program dies with this shell.
 */
const KEEP_RUNNING =
  'while :; do setpriv --pdeathsig KILL -- "$@" </dev/null; echo "$0 ended with status $? and is started again" >&2; sleep 1; done';

/** Starts a host process of the stack unless it runs. Comes back before it serves. */
export async function startComponent(context: StackContext, component: HostComponent): Promise<void> {
  if (componentIsRunning(context, component)) return;
  const { layout } = context;
  const program = PROGRAMS[component](context);
  const { isolation } = program;
  const { command, args } = commandOf(component, program);
  const { record, release } = await startService({
    stackId: layout.id,
    component,
    command,
    args,
    env: isolation === undefined ? {} : { NETWORK: isolation.network },
    logFile: logFileOf(context, component),
  });
  context.state.processes[component] = record;
  save(context);
  try {
    if (isolation !== undefined) await plugIn(layout, isolation.cable, record.pid);
  } catch (error) {
    await endProcess(record); // it would wait for its cable forever
    throw error;
  }
  release();
}

function commandOf(
  component: HostComponent,
  { command, args, isolation, keepRunning }: Program,
): Pick<Program, 'command' | 'args'> {
  const shell = (script: string): string[] => ['--norc', '-c', script, component, command, ...args];
  if (isolation !== undefined)
    return { command: 'unshare', args: ['--net', '--', 'bash', ...shell(ENTER_NETWORK)] };
  return keepRunning === true ? { command: 'bash', args: shell(KEEP_RUNNING) } : { command, args };
}

/** Ends a host process of the stack and waits until it has ended. */
export async function stopComponent(context: StoredStack, component: HostComponent): Promise<void> {
  await endProcess(context.state.processes[component], GRACE_MILLISECONDS[component] ?? 0);
  delete context.state.processes[component];
  save(context);
}

/** For waits: says that a process has ended, and where to read why. */
export function endedEarly(context: StoredStack, component: HostComponent): string | undefined {
  if (componentIsRunning(context, component)) return undefined;
  return `${component} has ended, see ${logFileOf(context, component)}`;
}
