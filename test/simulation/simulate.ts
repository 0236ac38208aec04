/** Runs worlds: storms in which faults happen, each followed by a calm in which the cluster must come to rest as asked for. */
import { podFacts } from '../../src/activities/observe/pod-facts.ts';
import { ANNOTATION_CLUSTER_ID, ANNOTATION_INCARNATION, ANNOTATION_TAKE_UP } from '../../src/api/names.ts';
import type { EtcdClusterSpec, EtcdClusterStatus } from '../../src/api/schemas/types.ts';
import { EtcdError } from '../../src/etcd/port.ts';
import { Coverage } from './coverage.ts';
import { mendApiserver } from './faults-of-apiserver.ts';
import { mendData } from './faults-of-data.ts';
import { endRequests } from './faults-of-requests.ts';
import {
  answerBackups,
  backUp,
  backupsLeft,
  complaintAboutRestores,
  obeyAboutRestores,
  restoreWhatIsLost,
} from './faults-of-restores.ts';
import { mendSpecification } from './faults-of-specification.ts';
import { mendVolumes, removeExchanged } from './faults-of-volumes.ts';
import { complaintAboutVersions, mendVersions, obeyAboutVersions } from './faults-of-versions.ts';
import { Breach, CLUSTER } from './invariants.ts';
import { newestMembers, votersOf } from './sim-raft.ts';
import { prepareTls, putCertificates, restartMembersThatTrustAnother } from './sim-tls.ts';
import { SimWorld } from './sim-world.ts';

/** A calm that takes more than this many ticks, or passes, does not converge. */
const MOST_TICKS = 40_000;
const MOST_PASSES = 400;
/** Restores of one calm, which wait for each other, versions that an upgrade goes through, and members that move to another class. */
const MOST_STAGES = 5;
/** Storms of one world. */
const STORMS = 4;

export interface Result {
  readonly ticks: number;
  readonly passes: number;
  readonly coverage: Coverage;
  /** Undefined when every invariant held. */
  readonly failure: string | undefined;
  /** What happened, in the end of it at least. */
  readonly story: readonly string[];
  /** The ordinals of the faults that happened. */
  readonly happened: readonly number[];
}

/** One world from a seed. Reproducible: the same seed and the same faults, by their ordinals, give the same world. */
export async function simulate(
  seed: number,
  options: {
    readonly only?: readonly number[] | undefined;
    readonly coverage?: Coverage;
    /** Members keep their data in their pods; left to chance when left out. */
    readonly isEphemeral?: boolean | undefined;
    /** Only the watcher signals workflows; in a quarter of all seeds when left out. */
    readonly isWatched?: boolean | undefined;
    /** It ends after this many ticks, wherever it is. */
    readonly most?: number;
  } = {},
): Promise<Result> {
  const { coverage = new Coverage(), most = Number.POSITIVE_INFINITY, isEphemeral } = options;
  const { isWatched = seed % 4 === 0 } = options;
  const only = options.only && new Set(options.only);
  await prepareTls();
  const world = new SimWorld({
    seed,
    only,
    coverage,
    isWatched,
    ...(isEphemeral !== undefined && { isEphemeral }),
  });
  world.begin();
  let failure: Result['failure'];
  try {
    for (let storm = 0; storm < STORMS && !world.operator.gone && world.ticks < most; storm += 1) {
      world.stormy = true;
      const end = world.ticks + world.chaos.storm();
      while (world.ticks < end) {
        await world.tick();
        answerBackups(world, 0.01);
      }
      if (world.isHopeless) continue;
      calm(world);
      await settle(world);
    }
    if (!world.isHopeless && world.random.chance(0.4)) await leave(world);
    if (!world.isHopeless) await destroy(world);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    failure = error instanceof Breach ? error.message : (error.stack ?? error.message);
  } finally {
    world.end();
  }
  await new Promise(resolve => setImmediate(resolve));
  const { ticks, passes, happened, story } = world;
  return { ticks, passes, coverage, failure, story, happened };
}

/**
 * The faults, by their ordinals, that a failure needs: as few as leaving out ever smaller parts of them leaves. It must stay
 * the same kind of failure. Ends after `seconds` with what it has.
 */
export async function shrink(
  seed: number,
  { seconds = 15, isWatched }: { readonly seconds?: number; readonly isWatched?: boolean | undefined } = {},
): Promise<readonly number[]> {
  const whole = await simulate(seed, { isWatched });
  const kind = kindOf(whole.failure);
  const end = performance.now() + seconds * 1_000;
  let needed = whole.happened;
  for (let part = Math.ceil(needed.length / 2); part >= 1; part = part === 1 ? 0 : Math.ceil(part / 2)) {
    for (let at = 0; at < needed.length && performance.now() < end; ) {
      const without = needed.toSpliced(at, part);
      const { failure, happened } = await simulate(seed, { only: without, isWatched, most: 2 * whole.ticks });
      if (failure === undefined || kindOf(failure) !== kind) at += part;
      else needed = happened;
    }
  }
  return needed;
}

/** A failure without whom and what it befell. */
function kindOf(failure: string | undefined): string {
  return (
    failure
      ?.match(/^does not converge|reason":"\w+|[a-z]{4,}/g)
      ?.slice(0, 4)
      .join() ?? ''
  );
}

/** Faults end, and users let the operator work. */
function calm(world: SimWorld): void {
  world.stormy = false;
  world.record('calm');
  for (const process of world.etcd.processes.values())
    world.etcd.set(process, { frozen: false, zone: 0, hidden: false });
  world.kubelet.stuck.clear();
  world.kubelet.hampered.clear();
  for (const found of [...world.kube.all('PersistentVolumeClaim'), ...world.kube.all('Pod')]) {
    const { labels = {}, annotations = {} } = world.taken.get(found.metadata.uid ?? '') ?? {};
    const metadata = {
      ...found.metadata,
      labels: { ...labels, ...found.metadata.labels },
      annotations: { ...annotations, ...found.metadata.annotations },
    };
    world.kube.change(found, { metadata });
  }
  world.taken.clear();
  mendData(world);
  mendApiserver(world);
  mendSpecification(world);
  mendVersions(world);
  mendVolumes(world);
  if (world.tls?.static !== undefined) {
    putCertificates(world);
    restartMembersThatTrustAnother(world);
  }
  const { nodes } = world.kubelet;
  for (const node of nodes.down) if (!nodes.buried.has(node)) nodes.restore(node);
  for (const node of nodes.all()) nodes.cordon(node, false);
  world.pausesNext = false;
  Object.assign(world.operator, { paused: undefined, aborted: undefined, abort: false, failed: undefined });
  // Who asked for what needs an approval takes it back.
  if (world.operator.consent !== undefined) world.operator.requests = [];
  world.edit({
    paused: false,
    hibernated: world.spec.hibernated === true && world.random.chance(0.5),
    repair: { maxReplacementsPerHour: 100 },
  });
  world.wake();
}

/** A user who added a member by hand removes it again, as soon as there is a leader to ask. */
function expel(world: SimWorld): void {
  for (const process of world.etcd.processes.values()) {
    if (!process.isLeader || !world.etcd.hasQuorum(process)) continue;
    const stranger = newestMembers(process.disk).rows.find(row => row.peerUrl.includes('stranger'));
    if (stranger === undefined) continue;
    try {
      world.etcd.removeByHand(process, stranger.id);
    } catch (error) {
      // Refused or unanswered: tried again with the next tick.
      if (!(error instanceof EtcdError)) throw error;
    }
    world.wake();
  }
}

/** Users do what messages say: they write another version, wake a cluster, or delete the claims of one that never held data. */
function obey(world: SimWorld): void {
  const { decision, invariants } = world;
  obeyAboutRestores(world);
  endRequests(world);
  if (decision.kind !== 'blocked') return;
  // Who asked for what needs an approval takes it back, also what a pause has hidden.
  if (decision.reason === 'NotProvedLost') world.operator.requests = [];
  // They have looked at what the message says of the members.
  const { consent } = world.operator;
  if (['CorruptMember', 'CorruptUnexplained'].includes(decision.reason ?? '') && consent !== undefined) {
    world.operator.approve(consent);
    for (const id of consent.ids) invariants.truth.named.add(id);
  }
  if (decision.reason === 'DataUndecided') replaceOne(world);
  // What was aborted just before the calm ends in it: the resync that the message asks for.
  if (decision.reason === 'Aborted') world.operator.aborted = undefined;
  // Not at once: nodes and volumes may come back.
  if (decision.reason === 'MemberLost' && world.random.chance(0.002)) restoreWhatIsLost(world);
  if (decision.reason === 'QuorumLostForGood' && consent !== undefined && world.random.chance(0.002))
    world.operator.approve(consent);
  obeyAboutVersions(world);
  const [, domain] = /^spec\.pod\.ClusterDomain .*: write (\S+) again/.exec(decision.message ?? '') ?? [];
  if (domain !== undefined) world.edit({ pod: { ClusterDomain: domain } });
  // A cluster that cannot sleep without losing a member is woken: then that member is replaced.
  if (decision.reason === 'BackupFailed') backUp(world);
  // Before it is born nothing keeps the volumes from another version than the first one that was asked for.
  const [ran] = [...world.etcd.disks.values()].map(disk => disk.ran).filter(version => version !== '');
  if (invariants.recordedAt === undefined && ran !== undefined) world.edit({ version: ran });
  if (decision.reason === 'ClaimMissing' && world.spec.hibernated === true) world.edit({ hibernated: false });
  // What else is refused stands in conditions beside it (seed 627767716).
  if (decision.reason === 'HibernationRefused') world.edit({ hibernated: false });
  const isInTheWay = /PersistentVolumeClaim \S+ exists and is not owned by this EtcdCluster/.test(
    decision.message ?? '',
  );
  if (isInTheWay || ['ClaimsUnstamped', 'IdentityUnknown', 'ClaimExchanged'].includes(decision.reason ?? ''))
    removeExchanged(world);
  if (decision.reason !== 'IdentityUnknown') return;
  nameCluster(world);
  const [, copies = ''] = /Delete (.+), which contain nothing but a copy/.exec(decision.message ?? '') ?? [];
  for (const [, kind, name = ''] of copies.matchAll(/(pod|claim) ([^\s,]+)/g))
    world.kube.delete(kind === 'pod' ? 'Pod' : 'PersistentVolumeClaim', name);
  if (invariants.recordedAt !== undefined || world.hasClients) return;
  for (const kind of ['Pod', 'PersistentVolumeClaim'])
    for (const { metadata } of world.kube.all(kind)) world.kube.delete(kind, metadata.name);
}

/** Somebody says which of the members that hold different data is to go. */
function replaceOne({ operator, decision, invariants }: SimWorld): void {
  if (operator.requests.length > 0) return;
  const names = [...(decision.message ?? '').matchAll(/\b(example-\d+)\b/g)].map(([, name = '']) => name);
  const name = names.at(-1) ?? '';
  const row = invariants.truth.members()?.rows.find(each => each.name === name);
  if (row === undefined) return;
  invariants.truth.named.add(row.id);
  operator.ask('replaceMember', name);
}

/** Nothing shows any more which cluster it was: a user who knows the id of what runs, or has last run, writes it on its claims (seed 1140746596). */
function nameCluster({ decision, etcd, invariants, kube }: SimWorld): void {
  const [, token] = /incarnation (\S+) exist/.exec(decision.message ?? '') ?? [];
  if (!invariants.forgot || token === undefined) return;
  const running = [...etcd.processes.values()].find(({ isLeader }) => isLeader);
  const kept = [...etcd.disks.values()].findLast(({ lost, log }) => !lost && log.length > 0);
  const annotations = { [ANNOTATION_CLUSTER_ID]: running?.clusterId ?? kept?.clusterId };
  if (annotations[ANNOTATION_CLUSTER_ID] === undefined) return;
  for (const { kind, metadata } of kube.all('PersistentVolumeClaim'))
    if (metadata.annotations?.[ANNOTATION_INCARNATION] === token)
      kube.merge(kind, metadata.name, { metadata: { annotations } });
}

/** Until the cluster is as asked for and the operator says so. */
async function settle(world: SimWorld): Promise<void> {
  const firstPass = world.passes;
  const firstTick = world.ticks;
  let restedAt: number | undefined;
  // Each restore makes a cluster again, one member after the other, each version on the way restarts every member, and each that moves is replaced.
  const stages = new Set<string>();
  for (;;) {
    stages.add(stageOf(world));
    const times = Math.min(stages.size, MOST_STAGES);
    const complaint = complaintOf(world);
    restedAt = complaint === undefined ? (restedAt ?? world.ticks) : undefined;
    if (restedAt !== undefined && world.ticks - restedAt > 200) return;
    const isLate = world.ticks - firstTick > times * MOST_TICKS;
    if (isLate || world.passes - firstPass > times * MOST_PASSES) {
      throw new Breach(
        `does not converge after ${world.passes - firstPass} passes: ${complaint}; ${JSON.stringify(world.decision).slice(0, 300)}`,
      );
    }
    await world.tick();
    answerBackups(world, 1);
    expel(world);
    obey(world);
  }
}

function stageOf({ resource, kube }: SimWorld): string {
  const { incarnation, currentVersion } = (resource?.['status'] ?? {}) as EtcdClusterStatus;
  const { storage } = (resource?.['spec'] ?? {}) as EtcdClusterSpec;
  const asked = storage?.volumeClaimTemplate?.spec?.storageClassName;
  const claims = kube.all('PersistentVolumeClaim') as readonly { spec?: { storageClassName?: string } }[];
  const toMove = claims.filter(({ spec }) => asked !== undefined && spec?.storageClassName !== asked).length;
  return `${incarnation?.token} ${currentVersion} ${toMove}`;
}

/** What was asked for and cannot be had: the end of the work, said in so many words. */
const REFUSED = ['EphemeralMembers', 'HibernationRefused', 'Hibernated'];

/** What is not as it was asked for; undefined when all is. */
function complaintOf(world: SimWorld): string | undefined {
  const { decision } = world;
  const isRefused = decision.kind === 'blocked' && REFUSED.includes(decision.reason ?? '');
  // What is gone for good, and in no store: it says so, and nobody can do anything.
  if (decision.kind === 'blocked' && decision.reason === 'MemberLost' && backupsLeft(world).length === 0)
    return undefined;
  if (decision.kind !== 'idle' && !isRefused) return 'not idle';
  const restore = complaintAboutRestores(world);
  if (restore !== undefined) return restore;
  const { size, hibernated } = world.spec;
  const pods = world.kube.all('Pod');
  // What is to sleep is not created first, wherever its data is to be.
  const isUnborn = isRefused && decision.reason === 'Hibernated';
  if (hibernated === true && (!world.isEphemeral || isUnborn))
    return pods.length === 0 ? undefined : 'pods while hibernated';
  const leader = [...world.etcd.processes.values()].find(({ isLeader }) => isLeader);
  if (leader === undefined) return 'no leader';
  const { rows } = newestMembers(leader.disk);
  if (votersOf({ rows, removed: new Set() }).length !== size || rows.length !== size)
    return `${rows.length} members instead of ${size}`;
  if (world.etcd.reach(leader, newestMembers(leader.disk)).length !== size) return 'members are down';
  const outdated = isRefused ? undefined : complaintAboutVersions(world);
  if (outdated !== undefined) return outdated;
  const names = rows.map(row => row.name).toSorted();
  if (JSON.stringify(pods.map(pod => pod.metadata.name).toSorted()) !== JSON.stringify(names))
    return 'pods are not the members';
  const open = pods.find(pod => podFacts(pod, '').firstStart === 'open');
  if (open !== undefined) return `${open.metadata.name} may start on an empty volume`;
  const claims = world.kube
    .all('PersistentVolumeClaim')
    .filter(({ metadata }) => names.includes(metadata.name));
  const going = claims.find(({ metadata }) => metadata.deletionTimestamp !== undefined);
  if (going !== undefined) return `${going.metadata.name} loses its volume with its pod`;
  const { minAvailable } = (world.disruptions.budget?.['spec'] ?? {}) as { minAvailable?: number };
  // An eviction would take the data of such a member: none is let go.
  const kept = world.isEphemeral ? size : size - 1;
  if (!isRefused && minAvailable !== kept) return `${minAvailable} of ${size} are kept from eviction`;
  world.invariants.elected(leader);
  return undefined;
}

const DATA = ['Pod', 'PersistentVolumeClaim'];

/**
 * Somebody deletes the cluster and keeps its data: with --cascade=orphan, so that its pods run on, or with its claims retained. Applied
 * again it waits for a word, and then has the same members.
 */
async function leave(world: SimWorld): Promise<void> {
  const { random, kube, invariants, spec } = world;
  const isOrphaned = random.chance(0.7);
  if (!isOrphaned) world.edit({ storage: { ...spec.storage, retain: 'Retain' } });
  const there = () =>
    DATA.flatMap(kind => kube.all(kind)).filter(
      ({ kind, metadata }) =>
        metadata.deletionTimestamp === undefined && (isOrphaned || kind === 'PersistentVolumeClaim'),
    );
  const kept = there();
  // What has no quorum and no backup is as lost when it is taken up.
  const isLost = world.decision.reason === 'MemberLost';
  world.record(isOrphaned ? 'deleted as an orphan' : 'deleted, its claims retained');
  if (isOrphaned) invariants.orphanedAt = world.ticks;
  if (isOrphaned) kube.orphan('EtcdCluster', CLUSTER);
  else kube.delete('EtcdCluster', CLUSTER);
  let collectsAt = world.ticks + (random.chance(0.3) ? 0 : random.below(400));
  world.wake();
  const end = world.ticks + 20_000;
  while (world.resource !== undefined || !world.operator.gone) {
    if (isOrphaned && world.ticks >= collectsAt) {
      kube.orphanDependents('EtcdCluster', CLUSTER);
      collectsAt = end;
      world.wake();
    }
    await world.tick();
    if (world.ticks > end) throw new Breach(`is not let go: ${JSON.stringify(world.decision).slice(0, 300)}`);
  }
  for (let tick = 0; tick < 200; tick += 1) await world.tick();
  const left = there().map(({ metadata }) => metadata.uid);
  const lost = kept.find(({ metadata }) => !left.includes(metadata.uid));
  if (lost !== undefined) throw new Breach(`${lost.kind} ${lost.metadata.name} was to be left, and is gone`);
  world.reapply(spec);
  const decided = () => world.decision.kind !== 'none' && world.decision.kind !== 'gone';
  while (!decided()) await world.tick();
  invariants.orphanedAt = Number.POSITIVE_INFINITY;
  const [, takeUp] = /take-up=(\S+);/.exec(world.decision.message ?? '') ?? [];
  if (takeUp === undefined && kept.length > 0 && world.decision.kind !== 'blocked')
    throw new Breach(`nobody is asked about ${kept.map(({ metadata }) => metadata.name).join(', ')}`);
  if (takeUp === undefined) return clearAway(world);
  kube.merge('EtcdCluster', CLUSTER, { metadata: { annotations: { [ANNOTATION_TAKE_UP]: takeUp } } });
  world.wake();
  if (isLost) return clearAway(world);
  await settle(world);
}

/** What cannot be taken up is deleted by users. */
function clearAway(world: SimWorld): void {
  for (const { kind, metadata } of [...DATA, 'Service', 'PodDisruptionBudget'].flatMap(each =>
    world.kube.all(each),
  ))
    world.kube.delete(kind, metadata.name);
}

/** The resource is deleted: nothing of it may stay but what was to be kept. */
async function destroy(world: SimWorld): Promise<void> {
  world.record('deleted');
  world.kube.delete('EtcdCluster', CLUSTER);
  world.wake();
  const end = world.ticks + 20_000;
  while (!world.operator.gone) {
    await world.tick();
    if (world.ticks > end)
      throw new Breach(`is not deleted: ${JSON.stringify(world.decision).slice(0, 300)}`);
  }
  for (let tick = 0; tick < 500; tick += 1) await world.tick();
  const left = [...world.kube.all('Pod'), ...world.kube.all('Service'), ...world.kube.all('EtcdCluster')];
  if (left.length > 0)
    throw new Breach(`left behind: ${left.map(({ metadata }) => metadata.name).join(', ')}`);
}
