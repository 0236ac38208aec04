/** The commands that lead to a member, by kubectl: exec into its pod, and a port that is forwarded to it. */
import type { EtcdCluster } from '../../api/schemas/types.ts';
import { securityOf } from '../../api/derived/tls.ts';
import { CLIENT_PORT } from '../../api/names.ts';
import { clusterNameOf } from '../commands/cluster-name.ts';
import type { Call } from '../commands/command.ts';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import { Failure, failure, usageFailure } from '../failure.ts';
import { need } from '../not-found.ts';
import { reach } from '../views/command-lines.ts';
import { chosenMember, etcdctlArguments } from './chosen.ts';

const CHECK_MS = 2_000;

/** Runs etcdctl in the pod of a member, with the standard input of this command. @throws Failure when it does not succeed */
export async function etcdctl(call: Call): Promise<ExitCode> {
  const { session, flags, words } = call;
  const args = words.slice(1);
  if (args.length === 0)
    throw usageFailure(
      'etcdctl needs a command',
      'Such as: kubectl etcd etcdctl NAME -- endpoint status --cluster -w table',
    );
  const cluster = await need(session, 'EtcdCluster', clusterNameOf(call));
  const member = chosenMember(cluster, flags.value('member'));
  return runEtcdctl(call, { cluster, member }, args);
}

/** Runs one command of etcdctl in the pod of a member, on this terminal. @throws Failure when it does not succeed */
export async function runEtcdctl(
  { session, io }: Call,
  { cluster, member }: { readonly cluster: EtcdCluster; readonly member: string },
  args: readonly string[],
): Promise<ExitCode> {
  // Without a terminal of its own it must not take the keys that are meant for what reads its output.
  const input = !io.canAsk ? ['-i'] : io.isTerminal ? ['-i', '-t'] : [];
  const code = await io.execute(
    'kubectl',
    [
      'exec',
      ...reach(session.where),
      ...input,
      member,
      '-c',
      'etcd',
      '--',
      ...etcdctlArguments(cluster, member, args),
    ],
    io.interrupted,
  );
  return kubectlEnded(code);
}

/** Forwards a local port to the client port of a healthy member, and to another one when that goes, until it is interrupted. */
export async function forward(call: Call): Promise<ExitCode> {
  const { session, io, words } = call;
  const port = localPort(words[1]);
  const name = clusterNameOf(call);
  let cluster = await need(session, 'EtcdCluster', name);
  io.err(`${accessOf(cluster, port)}\n`);
  while (!io.interrupted.aborted) {
    const member = chosenMember(cluster, undefined);
    io.err(`127.0.0.1:${port} leads to ${member}\n`);
    const stop = new AbortController();
    const until = AbortSignal.any([stop.signal, io.interrupted]);
    const ended = io.execute(
      'kubectl',
      ['port-forward', ...reach(session.where), `pod/${member}`, `${port}:${CLIENT_PORT}`],
      until,
    );
    const code = await Promise.race([ended, watchMember(call, name, member)]);
    stop.abort();
    await ended;
    if (io.interrupted.aborted) break;
    if (code === NO_PROGRAM) return kubectlEnded(code);
    io.err(`${member} is not reached any more\n`);
    await io.pause(CHECK_MS);
    cluster = await healthyAgain(call, name);
  }
  return EXIT.done;
}

/** What a shell answers when there is no such program. */
const NO_PROGRAM = 127;

/** Resolves when the member is not the one to use any more. */
async function watchMember({ session, io }: Call, name: string, member: string): Promise<undefined> {
  for (;;) {
    await io.pause(CHECK_MS);
    if (io.interrupted.aborted) return undefined;
    const cluster = await session.get('EtcdCluster', name).catch(() => undefined);
    const { ready = [], details = [] } = cluster?.status?.members ?? {};
    const isSick = details.some(detail => detail.name === member && detail.health === 'Unhealthy');
    // That the API server does not answer says nothing of the member.
    if (cluster !== undefined && (isSick || !ready.includes(member))) return undefined;
  }
}

async function healthyAgain({ session, io }: Call, name: string): Promise<EtcdCluster> {
  for (;;) {
    const cluster = await need(session, 'EtcdCluster', name);
    if ((cluster.status?.members?.ready ?? []).length > 0) return cluster;
    if (io.interrupted.aborted) throw failure('interrupted');
    await io.pause(CHECK_MS);
  }
}

function accessOf(cluster: EtcdCluster, port: number): string {
  const { namespace, name } = cluster.metadata;
  if (securityOf(cluster)?.client !== true) return `etcdctl --endpoints=http://127.0.0.1:${port}`;
  return `The members of ${name} ask for a client certificate, and theirs are for names such as ${name}-client.${namespace}.svc: the certificate of etcd must be verified for that name, and not for 127.0.0.1.`;
}

function localPort(word: string | undefined): number {
  const port = Number(word ?? CLIENT_PORT);
  if (Number.isInteger(port) && port > 0 && port < 65_536) return port;
  throw usageFailure(`the port must be a number from 1 to 65535, and not ${word ?? ''}`);
}

function kubectlEnded(code: number): ExitCode {
  if (code === 0) return EXIT.done;
  if (code === NO_PROGRAM) throw failure('kubectl is not on PATH');
  throw new Failure(EXIT.error, `it ended with exit code ${code}`);
}
