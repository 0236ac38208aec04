/**
 * What must hold when the operator restarts a member that is well, to bring it another version or other settings: the same
 * rules as its gates, from what is really so and not from what is seen. What came after its last look it cannot know.
 */
import type { Step } from '../../src/activities/index.ts';
import { withDefaults } from '../../src/api/defaults/etcd-cluster.ts';
import type { EtcdClusterSpec, EtcdClusterStatus } from '../../src/api/schemas/types.ts';
import type { KubeObject } from '../../src/kube/port.ts';
import { startArguments } from '../fakes/kubernetes/container-arguments.ts';
import type { Attempt } from './sim-calls.ts';
import type { SimEtcd } from './sim-etcd.ts';
import type { SimKube } from './sim-kube.ts';
import { statusOf, versionOf } from './sim-kubelet.ts';
import { type Members, newestMembers, type Process } from './sim-raft.ts';
import { minor } from './sim-versions.ts';

/** Entries of the simulation's log that a member may lack. */
const MOST_LAG = 30;
/** The operator waits for ten seconds, and the kubelet reports whole ones. */
const QUIET_MS = 9_000;
const QUOTA = '--quota-backend-bytes=';

export interface RestartWorld {
  readonly kube: SimKube;
  readonly etcd: SimEtcd;
  readonly cluster: string;
  /** The operator's clock has jumped: it cannot know how long something has been so. */
  readonly hasJumped: boolean;
}

type Rolling = Extract<Step, { kind: 'stopMember' | 'replaceImage' | 'defragmentMember' }>;

/** Why this member must not be restarted now; undefined when it may. */
export function faultOfRestart(world: RestartWorld, name: string, attempt: Attempt): string | undefined {
  const { step, lookedAt: since } = attempt;
  if (!isRolling(step)) return undefined;
  const processes = [...world.etcd.processes.values()];
  const own = processes.find(process => process.name === name);
  const leader = processes.find(({ isLeader }) => isLeader);
  const withoutConsent = faultOfConsent(world, name, step);
  if (withoutConsent !== undefined) return withoutConsent;
  if (own === undefined || leader === undefined || own.frozen || !own.serves) return undefined;
  // Somebody may ask for the restart of one that is cut off: whether a quorum remains is judged in invariants.ts (#stopping).
  const isAsked = step.plannedUpon?.requests?.some(({ kind }) => kind === 'restart') === true;
  if (isAsked && (own.zone !== 0 || own.hidden) && own.changedAt < since) return undefined;
  if (own.corrupt === true && own.changedAt < since) return 'it has other keys';
  const others = processes.filter(process => process !== own && process.changedAt < since);
  const known = others.filter(({ leaderAt = 0 }) => leaderAt < since);
  const voters = newestMembers(leader.disk).rows.filter(row => !row.isLearner);
  if (own.isLeader && (own.leaderAt ?? 0) < since && own.changedAt < since && voters.length > 1)
    return 'it leads, and has not handed over';
  const away = voters.find(({ id }) => id !== own.memberId && isAway(world, id, since));
  if (away !== undefined) return `${away.name} is away`;
  if (hasLearner(newestMembers(leader.disk)) && world.etcd.membersAt < since) return 'there is a learner';
  for (const other of known) {
    const fault = faultOf(world, other, { leader, since, step });
    if (fault !== undefined) return `${other.name} ${fault}`;
  }
  return undefined;
}

/** Steps that restart a member which others could wait for. */
function isRolling(step: Step | undefined): step is Rolling {
  if (step?.kind === 'replaceImage' || step?.kind === 'defragmentMember') return true;
  return step?.kind === 'stopMember' && ['rollout', 'upgrade'].includes(step.purpose);
}

function isAway({ etcd }: RestartWorld, id: string, since: number): boolean {
  const process = [...etcd.processes.values()].find(({ memberId }) => memberId === id);
  if (process === undefined) return (etcd.endedAt.get(id) ?? 0) < since;
  return process.changedAt < since && (process.frozen || process.zone !== 0);
}

function hasLearner({ rows }: Members): boolean {
  return rows.some(row => row.isLearner);
}

function faultOf(
  world: RestartWorld,
  { name, alarm, corrupt, disk }: Process,
  { leader, since, step }: { readonly leader: Process; readonly since: number; readonly step: Rolling },
): string | undefined {
  const { upgrade } = withDefaults(specOf(world));
  const isForSpace = step.kind === 'defragmentMember';
  const isUpgrade =
    step.kind === 'replaceImage' || (step.kind === 'stopMember' && step.purpose === 'upgrade');
  if (alarm !== undefined && !(isForSpace && alarm === 'NOSPACE')) return `raises ${alarm}`;
  if (corrupt === true) return 'has other keys';
  const { bytes = 0, filledAt = 0 } = disk;
  if (!isForSpace && bytes > 0.8 * quotaOf(world, name) && filledAt < since)
    return 'has hardly any room left';
  if (leader.disk.log.length - disk.log.length > MOST_LAG) return 'lags';
  const pods = world.kube.all('Pod');
  const versions = new Set(pods.map(versionOf));
  // A new version shows what it is in that time; nobody gets one by anything else.
  const quietMs =
    isUpgrade && versions.size > 1 ? Math.max(QUIET_MS, upgrade.soakSeconds * 1_000 - 1_000) : QUIET_MS;
  const pod = pods.find(({ metadata }) => metadata.name === name);
  return pod !== undefined && !world.hasJumped && readyFor(world, pod) < quietMs
    ? 'has been ready for too short a time'
    : undefined;
}

/** What the specification asks for, or what the member runs with where that is more: a field that was taken away asks for nothing. */
function quotaOf(world: RestartWorld, name: string): number {
  const { etcd } = withDefaults(specOf(world));
  const pod = world.kube.peek('Pod', name);
  const argument = pod && startArguments(pod).find(given => given.startsWith(QUOTA));
  return Math.max(etcd.quotaBackendBytes, Number(argument?.slice(QUOTA.length) ?? 0));
}

function readyFor({ kube }: RestartWorld, pod: KubeObject): number {
  const [ready] = statusOf(pod).conditions ?? [];
  return kube.now() - Date.parse(ready?.lastTransitionTime ?? pod.metadata.creationTimestamp ?? '');
}

/** The first member that gets another version, and the last, are touched with what the specification asks for before. */
function faultOfConsent(world: RestartWorld, name: string, step: Rolling): string | undefined {
  if (step.kind !== 'replaceImage') return undefined;
  const pods = world.kube.all('Pod').filter(({ metadata }) => metadata.name !== name);
  const isFirst = pods.every(pod => versionOf(pod) !== step.version);
  const isLast = pods.every(pod => versionOf(pod) === step.version);
  const own = world.kube.peek('Pod', name);
  const isBack = own !== undefined && isWayBack(world, versionOf(own), step.version);
  const { upgrade } = withDefaults(specOf(world));
  if (upgrade.strategy === 'Supervised' && (isFirst || isLast) && !isBack) {
    const wanted = isFirst ? 'begin' : 'finish';
    const isApproved = step.plannedUpon?.approvals?.some(({ ids }) => ids.includes(wanted)) === true;
    if (!isApproved) return `nobody has approved of it: ${wanted}`;
  }
  if (upgrade.snapshotBefore !== 'Required' || !isFirst || isBack) return undefined;
  return world.kube.all('EtcdBackup').length === 0 ? 'there is no backup' : undefined;
}

/** From the minor that is not to be any more: on the way up from a newer one, on the way down from an older one. */
function isWayBack({ kube, cluster }: RestartWorld, from: string, to: string): boolean {
  const { currentVersion } = (kube.peek('EtcdCluster', cluster)?.['status'] ?? {}) as EtcdClusterStatus;
  const isKnown = currentVersion !== undefined;
  return (
    minor(from) !== minor(to) && (isKnown ? minor(currentVersion) === minor(to) : minor(from) > minor(to))
  );
}

function specOf({ kube, cluster }: RestartWorld): EtcdClusterSpec {
  return (kube.peek('EtcdCluster', cluster)?.['spec'] ?? {}) as EtcdClusterSpec;
}
