import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createProgress } from '../progress.ts';
import { type CommandInput, placedStack, requireState } from './context.ts';
import { printStatus, summary } from './describe.ts';
import { loadByReference } from './image-command.ts';
import { down, openStack, statusOf, up, type UpOptions } from './index.ts';
import { layoutOf } from './layout.ts';
import type { Stack } from './stack.ts';
import { readState, TEMPORAL_KINDS } from './state.ts';
import { temporalAddress, temporalUi } from './temporal.ts';

export interface Command {
  options?: Record<string, { type: 'string' | 'boolean'; short?: string }>;
  /** Everything after the command belongs to another program. */
  passThrough?: boolean;
  run(input: CommandInput): Promise<void>;
}

export const USAGE = `usage: local COMMAND [--name NAME]        NAME is demo unless given

  up [--nodes 3] [--no-operator-image]   bring the stack up, or heal it; with --temporal postgres a new one gets a
     [--temporal postgres]             real Temporal server on PostgreSQL instead of the development server
  down [--wipe]                          end it; --wipe throws its data away as well
  reset                                  down, forget all data, up
  status [--json]                        what runs, where, and how much memory it takes
  kubeconfig [--print]                   path of the kubeconfig, or its content
  env                                    lines for: eval "$(local/local env)"
  logs COMPONENT [--follow]              etcd, apiserver, controller-manager, scheduler, coredns, provisioner,
                                         temporal, postgres, node-1, containerd-1, kubelet-1, kube-proxy-1, ...
  kubectl ARGS...                        kubectl as administrator of the stack
  image load [REF...]                    load or refresh images on every node; all when none is named

faults
  node stop|start|remove N               pull the plug, power on, throw the machine away
  node disconnect|connect N              pull the network cable, plug it in
  node run N -- COMMAND...               run a command inside a node
  temporal stop|start|wipe
  postgres stop|start                    kill -9, and its recovery
  apiserver stop|start
  disk slow N [--off]                    throttle the disk under a node's pods
`;

function print(text: string): void {
  process.stdout.write(text.endsWith('\n') ? text : `${text}\n`);
}

function numberOf(text: string | undefined, what: string): number {
  const number = Number(text);
  if (text === undefined || !Number.isInteger(number) || number < 1) {
    throw new Error(`${what}: a whole number from 1 on is needed, got ${text ?? 'nothing'}`);
  }
  return number;
}

/** Nodes are named by number (`2`) or by name (`demo-2`). */
function nodeNumber(input: CommandInput, position: number): number {
  const word = input.words[position];
  return numberOf(word?.startsWith(`${input.name}-`) ? word.slice(input.name.length + 1) : word, 'node');
}

function choose<T>(verbs: Readonly<Record<string, T>>, word: string | undefined): T {
  const found = word === undefined ? undefined : verbs[word];
  if (found === undefined) throw new Error(`use one of: ${Object.keys(verbs).join(', ')}`);
  return found;
}

async function bringUp(input: CommandInput): Promise<void> {
  const begun = performance.now();
  const progress = createProgress();
  const nodes = input.options['nodes'];
  try {
    const stack = await up({
      name: input.name,
      operatorImage: input.options['no-operator-image'] !== true,
      progress,
      ...(typeof nodes === 'string' ? { nodes: numberOf(nodes, '--nodes') } : {}),
      ...temporalOption(input.options['temporal']),
    });
    print(summary(stack, performance.now() - begun));
  } finally {
    progress.close();
  }
}

function temporalOption(kind: string | boolean | undefined): Pick<UpOptions, 'temporal'> {
  if (kind === undefined) return {};
  const temporal = TEMPORAL_KINDS.find(known => known === kind);
  if (temporal === undefined) throw new Error(`--temporal: use one of: ${TEMPORAL_KINDS.join(', ')}`);
  return { temporal };
}

async function logs(input: CommandInput): Promise<void> {
  const layout = layoutOf(input.name);
  requireState(layout);
  const known = existsSync(layout.logs) ? readdirSync(layout.logs).filter(file => file.endsWith('.log')) : [];
  const component = input.words[0] ?? '';
  const file = `${component.replace(/^kube-(?!proxy)/, '')}.log`;
  if (!known.includes(file)) {
    throw new Error(
      `no logs of ${component || 'nothing'}; there are ${known.map(name => name.slice(0, -4)).join(', ')}`,
    );
  }
  const follow = input.options['follow'] === true ? ['--follow=name', '--retry'] : [];
  await pass('tail', ['--lines=+1', ...follow, join(layout.logs, file)]);
}

/** Runs a program on this terminal; its exit status becomes ours. */
async function pass(command: string, args: readonly string[]): Promise<void> {
  const child = spawn(command, args, { stdio: 'inherit' });
  const [code, signal] = (await once(child, 'close')) as [number | null, string | null];
  process.exitCode = code ?? (signal === 'SIGINT' ? 130 : 1);
}

function environment(input: CommandInput): void {
  const stack = placedStack(layoutOf(input.name));
  const { layout } = stack;
  const quote = (value: string): string => `'${value.replaceAll("'", "'\\''")}'`;
  print(
    [
      `export KUBECONFIG=${quote(layout.kubeconfig)}`,
      `export TEMPORAL_ADDRESS=${quote(temporalAddress(stack))}`,
      'export TEMPORAL_NAMESPACE=etcd-operator',
      `export TEMPORAL_UI=${quote(temporalUi(stack))}`,
      `export PATH=${quote(layout.bin)}:"$PATH"`,
    ].join('\n'),
  );
}

async function kubectl(input: CommandInput): Promise<void> {
  const layout = layoutOf(input.name);
  requireState(layout);
  await pass(join(layout.bin, 'kubectl'), [`--kubeconfig=${layout.kubeconfig}`, ...input.words]);
}

async function node(input: CommandInput): Promise<void> {
  const verbs: Record<string, (stack: Stack, index: number) => Promise<void>> = {
    stop: (stack, index) => stack.node.stop(index),
    start: (stack, index) => stack.node.start(index),
    remove: (stack, index) => stack.node.remove(index),
    disconnect: (stack, index) => stack.node.disconnect(index),
    connect: (stack, index) => stack.node.connect(index),
    run: async (stack, index) =>
      print(await stack.node.run(index, input.words[2] ?? 'true', ...input.words.slice(3))),
  };
  const verb = choose(verbs, input.words[0]);
  await verb(await openStack(input.name), nodeNumber(input, 1));
}

async function temporal(input: CommandInput): Promise<void> {
  const verbs: Record<string, (stack: Stack) => Promise<void>> = {
    stop: stack => stack.temporal.stop(),
    start: stack => stack.temporal.start(),
    wipe: stack => stack.temporal.wipe(),
  };
  await choose(verbs, input.words[0])(await openStack(input.name));
}

async function postgres(input: CommandInput): Promise<void> {
  const verbs: Record<string, (stack: Stack) => Promise<void>> = {
    stop: stack => stack.postgres.stop(),
    start: stack => stack.postgres.start(),
  };
  await choose(verbs, input.words[0])(await openStack(input.name));
}

async function apiserver(input: CommandInput): Promise<void> {
  const verbs: Record<string, (stack: Stack) => Promise<void>> = {
    stop: stack => stack.apiserver.stop(),
    start: stack => stack.apiserver.start(),
  };
  await choose(verbs, input.words[0])(await openStack(input.name));
}

async function disk(input: CommandInput): Promise<void> {
  choose({ slow: true }, input.words[0]);
  const stack = await openStack(input.name);
  const index = nodeNumber(input, 1);
  await (input.options['off'] === true ? stack.disk.restore(index) : stack.disk.slow(index));
}

const UP_OPTIONS = {
  nodes: { type: 'string' },
  'no-operator-image': { type: 'boolean' },
  temporal: { type: 'string' },
} as const;

/** Every command by its name. */
export const COMMANDS: Readonly<Record<string, Command>> = {
  up: { options: UP_OPTIONS, run: bringUp },
  down: {
    options: { wipe: { type: 'boolean' } },
    run: input => down(input.name, { wipe: input.options['wipe'] === true }),
  },
  reset: {
    options: UP_OPTIONS,
    run: async input => {
      const temporal = readState(layoutOf(input.name))?.temporal;
      await down(input.name, { wipe: true });
      await bringUp({ ...input, options: { temporal, ...input.options } });
    },
  },
  status: {
    options: { json: { type: 'boolean' } },
    run: async input => {
      const status = await statusOf(input.name);
      print(input.options['json'] === true ? JSON.stringify(status, null, 2) : printStatus(status));
    },
  },
  kubeconfig: {
    options: { print: { type: 'boolean' } },
    run: async input => {
      const layout = layoutOf(input.name);
      requireState(layout);
      print(input.options['print'] === true ? readFileSync(layout.kubeconfig, 'utf8') : layout.kubeconfig);
    },
  },
  env: { run: async input => environment(input) },
  logs: { options: { follow: { type: 'boolean', short: 'f' } }, run: logs },
  kubectl: { passThrough: true, run: kubectl },
  image: { options: { 'no-operator-image': { type: 'boolean' } }, run: loadByReference },
  node: { run: node },
  temporal: { run: temporal },
  postgres: { run: postgres },
  apiserver: { run: apiserver },
  disk: { options: { off: { type: 'boolean' } }, run: disk },
};
