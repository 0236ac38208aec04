/** Creates an EtcdRestore: says what that does, asks for the cluster by its name, and follows it if that is wanted. */
import { API_VERSION } from '../../api/names.ts';
import type { EtcdCluster, EtcdRestore } from '../../api/schemas/types.ts';
import { secondsOf } from '../arguments/duration.ts';
import type { Call } from '../commands/command.ts';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import { failure, usageFailure } from '../failure.ts';
import { type Followed, followed } from '../followed.ts';
import { formatted } from '../output.ts';
import { kubectlLine } from '../views/command-lines.ts';
import type { Line } from '../views/lines.ts';

/** How long --wait waits by default, in seconds. */
const WAIT_SECONDS = 3_600;
/** Phases that do not change by themselves. */
const ENDED = ['Succeeded', 'Failed', 'Refused'];

export interface Sending {
  /** What happens, said before it is asked for. One line each. */
  readonly effect: readonly string[];
  /** For what the name of the cluster is typed. */
  readonly purpose: string;
  readonly specOf: (of: {
    /** The id of the cluster that may be overwritten; undefined: it has none. */
    readonly confirmed: string | undefined;
    /** Who asks. */
    readonly by: string;
  }) => EtcdRestore['spec'];
}

/** How long is waited. @throws Failure when the flags contradict each other */
export function waitSeconds({ flags }: Pick<Call, 'flags'>): number {
  const seconds = secondsOf(flags.value('timeout') ?? String(WAIT_SECONDS), 'timeout');
  if (flags.has('timeout') && !flags.has('wait')) throw usageFailure('--timeout belongs to --wait');
  return seconds;
}

/** @throws Failure, KubeError */
export async function sendRestore(
  call: Call,
  cluster: EtcdCluster,
  { effect, purpose, specOf }: Sending,
): Promise<ExitCode> {
  const { session, flags, io } = call;
  const seconds = waitSeconds(call);
  io.err(`${effect.join('\n')}\n`);
  const confirmed = await confirm(call, cluster, purpose);
  const by = await session.whoAmI();
  const object = { spec: specOf({ confirmed, by }), ...headOf(cluster) };
  if (flags.has('dry-run')) {
    const checked = await session.kube.create(object, { dryRun: true });
    io.out(formatted(checked, flags.value('output') ?? 'yaml'));
    return EXIT.done;
  }
  const created = (await session.kube.create(object)) as unknown as EtcdRestore;
  io.err(`etcdrestore/${created.metadata.name} created\n`);
  if (flags.has('wait')) return follow(call, created, seconds);
  call.show({ data: created, lines: nextLines(call, created) });
  return EXIT.done;
}

function headOf({ metadata }: EtcdCluster) {
  const { namespace, name } = metadata;
  return {
    apiVersion: API_VERSION,
    kind: 'EtcdRestore',
    metadata: { generateName: `${name}-restore-`, namespace },
  };
}

/**
 * The id of the cluster whose data may be overwritten; undefined: it has none. A person types the name of the cluster, a script names
 * the id: neither can be done by heart for the wrong cluster.
 */
async function confirm(
  { flags, io, session }: Call,
  cluster: EtcdCluster,
  purpose: string,
): Promise<string | undefined> {
  const { name, namespace } = cluster.metadata;
  const id = cluster.status?.clusterID;
  const confirmed = flags.value('cluster-id');
  if (confirmed !== undefined && confirmed !== id)
    throw usageFailure(`the id of ${name} is ${id ?? 'not known'}, and not ${confirmed}: nothing was sent`);
  if (flags.has('dry-run')) return id;
  if (flags.has('yes')) {
    if (id === undefined || confirmed === id) return id;
    throw usageFailure(
      'with --yes, say which data may be overwritten: nobody reads it before it is sent',
      `Add --cluster-id ${id}, if this is the cluster that is meant`,
    );
  }
  if (!io.canAsk)
    throw usageFailure(
      'this needs a confirmation, and there is no terminal to ask on',
      'Add --yes and --cluster-id to send it without being asked, or --dry-run to see it.',
    );
  io.err(`Namespace ${namespace}, context ${session.context}.\n`);
  const answer = ((await io.ask(`Type the name of the cluster to ${purpose}: `)) ?? '').trim();
  if (answer !== name) throw failure('not sent: it was not confirmed');
  return id;
}

const lookLine = ({ session }: Call, { metadata }: EtcdRestore): string =>
  kubectlLine(session.where, 'get', `etcdrestore/${metadata.name}`);

function nextLines(call: Call, created: EtcdRestore): readonly Line[] {
  return [['What becomes of it: ', lookLine(call, created)]];
}

/** Waits until the restore has ended. @throws Failure `timedOut` after `seconds` */
function follow(call: Call, created: EtcdRestore, seconds: number): Promise<ExitCode> {
  const { name } = created.metadata;
  const restored: Followed<EtcdRestore> = {
    what: `etcdrestore/${name}`,
    look: async () => (await call.session.get('EtcdRestore', name)) ?? throwDeleted(name),
    progress: ({ status: { phase = '', step = '' } = {} }) =>
      [phase || 'Pending', step].filter(text => text !== '').join(': '),
    verdict: verdictOf,
    again: lookLine(call, created),
  };
  return followed(call, restored, seconds);
}

function throwDeleted(name: string): never {
  throw failure(`etcdrestore/${name} was deleted while it was waited for`);
}

function verdictOf(restored: EtcdRestore): ReturnType<Followed<EtcdRestore>['verdict']> {
  const { phase = '', reason = '' } = restored.status ?? {};
  if (!ENDED.includes(phase)) return undefined;
  const line = [`etcdrestore/${restored.metadata.name} ${phase}${reason === '' ? '' : `: ${reason}`}`];
  return { shown: { data: restored, lines: [line] }, exit: phase === 'Succeeded' ? EXIT.done : EXIT.refused };
}
