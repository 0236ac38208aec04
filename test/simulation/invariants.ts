/** What must hold whatever happens. The world reports each event as it happens; a breach throws. */
import { letsClientsIn } from '../worlds/open-services.ts';
import { ANNOTATION_KEPT_BY_RESTORE, clientServiceName, serialOf } from '../../src/api/names.ts';
import { compareVersions } from '../../src/api/versions/compare.ts';
import type { EtcdCluster, EtcdClusterStatus } from '../../src/api/schemas/types.ts';
import type { KubeObject } from '../../src/kube/port.ts';
import { startArguments } from '../fakes/kubernetes/container-arguments.ts';
import { type Around, GroundTruth } from './ground-truth.ts';
import { RequestInvariants } from './invariants-of-requests.ts';
import { RestoreInvariants } from './invariants-of-restores.ts';
import { faultOfRestart, type RestartWorld } from './invariants-of-restarts.ts';
import {
  type CorruptionWorld,
  faultOfCorruptDisarm,
  faultOfCorruptRemoval,
  mayGoForItsData,
} from './invariants-of-corruption.ts';
import { faultOfDisarm } from './invariants-of-space.ts';
import { faultOfEnd } from './invariants-of-upgrades.ts';
import type { Attempt } from './sim-calls.ts';
import type { EtcdAudit, SimEtcd } from './sim-etcd.ts';
import { type Audit, NAMESPACE, type SimKube } from './sim-kube.ts';
import { newestMembers, type Process, quorumOf, type Row, votersOf } from './sim-raft.ts';
import { isEphemeral, isSeed, versionOf } from './sim-kubelet.ts';
import { agreedOn, isBefore, minor } from './sim-versions.ts';

/** Ticks. */
const COMPARED_LATELY = 3_000;

/** An invariant is broken. */
export class Breach extends Error {
  override readonly name = 'Breach';
}

/** Log entries of the simulation that a learner may lack when it is promoted: what is written during one look. */
const MOST_LAG = 12;
export const CLUSTER = 'example';
/** In whatever domain: one that is asked for before anybody is there is carried out. */
const OURS = new RegExp(`^https?://${CLUSTER}-\\d+\\.${CLUSTER}\\.${NAMESPACE}\\.svc[.:]`);

export class Invariants implements EtcdAudit {
  /** Whose call is being carried out. */
  acting: Attempt | undefined;
  /** At which tick the cluster id was first recorded. */
  recordedAt: number | undefined;
  /** Whether the status was ever wiped: what it alone knew is lost then. */
  forgot = false;
  /** Every version that somebody has written. */
  readonly asked: string[] = [];
  /** `[tick, size]` of each size that was asked for. */
  readonly sizes: [number, number][] = [];
  readonly #kube: SimKube;
  readonly #etcd: () => SimEtcd;
  readonly #tick: () => number;
  readonly #restores: RestoreInvariants;
  readonly #requests: RequestInvariants;
  readonly truth: GroundTruth;
  readonly #names = new Map<string, string>();
  /** At which tick the cluster was deleted with --cascade=orphan: nothing of it is deleted until it is applied again. */
  orphanedAt = Number.POSITIVE_INFINITY;
  /** At which tick each claim, by its uid, was first seen being deleted. */
  readonly #goingSince = new Map<string, number>();
  /** When the cluster was last to sleep. */
  #toSleepAt = -1;
  /** As it was last said. */
  #sleeps = false;

  constructor(world: {
    kube: SimKube;
    etcd: () => SimEtcd;
    tick: () => number;
    around: () => Around;
  }) {
    this.#kube = world.kube;
    this.#etcd = world.etcd;
    this.#tick = world.tick;
    this.truth = new GroundTruth(world);
    this.#restores = new RestoreInvariants({ ...world, cluster: CLUSTER });
    this.#requests = new RequestInvariants({
      kube: world.kube,
      isMember: id => this.truth.members()?.rows.some(row => row.id === id) === true,
      hasJumped: () => this.truth.hasJumped,
    });
  }

  // etcd

  elected(leader: Process): void {
    this.truth.elected(leader.clusterId);
    const acked = this.#etcd().acked.get(leader.clusterId);
    if (acked === undefined) return;
    if (leader.disk.log[acked.index - 1] !== acked.entry)
      throw new Breach(`acknowledged write ${acked.entry.value} is lost: ${leader.name} leads without it`);
  }

  started(process: Process, empty: boolean): void {
    const { memberId, name, disk } = process;
    this.#meets(process);
    const besides = this.#restores.faultOfStart(process);
    if (besides !== undefined) throw new Breach(`${name} is started, and ${besides}`);
    const before = this.truth.diskOfMember(memberId);
    this.truth.ran(memberId, disk);
    const known = this.#names.get(name);
    if (known !== undefined && known !== memberId)
      throw new Breach(`the name ${name} is used again: it was member ${known}, now it is ${memberId}`);
    this.#names.set(name, memberId);
    // A learner that nobody ever promoted has no vote: what it lost others have.
    const row = this.truth.members()?.rows.find(({ id }) => id === memberId);
    if (row?.isLearner === true || before === undefined || before === disk) return;
    if (before.clusterId !== disk.clusterId || !this.#isOfThisFormation(before)) return;
    if (this.recordedAt !== undefined && disk.log.length < before.log.length)
      throw new Breach(
        `member ${name} (${memberId}) starts ${empty ? 'empty' : 'on older data'} under the id that it had data under`,
      );
  }

  /**
   * Whether another member has what the first leader wrote to this disk, after the first entry, which the flags of the members make. A cluster that was taken
   * away as a whole before it was recorded leaves nothing in the logs of the one that forms next under the same ids (seed 2651186203).
   */
  #isOfThisFormation({ memberId, log: [, first] }: Process['disk']): boolean {
    const rows = this.truth.members()?.rows ?? [];
    const written = rows.flatMap(({ id }) => {
      return id === memberId ? [] : (this.truth.diskOfMember(id)?.log[1] ?? []);
    });
    return written.length === 0 || written.some(entry => entry === first);
  }

  /**
   * Whatever release this was, its image was put there by the operator. Only before a cluster is recorded another one may be asked
   * for than has run: nothing is written down yet, and nobody has written.
   */
  crashed(name: string, version: string, message: string): void {
    if (this.recordedAt === undefined) return;
    throw new Breach(`etcd ${version} of ${name} ends: ${message}`);
  }

  /** One minor at a time, and no release that takes what an older one left behind for the truth. */
  #meets({ name, version, disk }: Process): void {
    const agreed = this.#agreedBy(disk);
    const [, above = '0'] = agreed.split('.');
    if (agreed !== '' && isBefore(`3.${Number(above) + 1}`, minor(version)))
      throw new Breach(`${name} is started with ${version} in a cluster of ${agreed}`);
    if (disk.storage !== '' && isBefore(minor(version), disk.storage))
      throw new Breach(`${name} is started with ${version} on data of ${disk.storage}`);
    if (disk.stain !== undefined && !isBefore(minor(version), '3.6'))
      throw new Breach(`${name} is started with ${version} on what an old 3.5 left behind: ${disk.stain}`);
  }

  /** What the cluster has agreed on. A learner that catches up has come to a version of the past: the others know (seed 70044). */
  #agreedBy(disk: Process['disk']): string {
    const rows = this.truth.members()?.rows ?? [];
    if (rows.find(({ id }) => id === disk.memberId)?.isLearner !== true) return agreedOn(disk);
    const disks = rows.flatMap(({ id }) => this.truth.diskOfMember(id) ?? []);
    return disks.map(agreedOn).reduce((newest, each) => (isBefore(newest, each) ? each : newest), '');
  }

  /** It answers nobody meanwhile, as one that is restarted. */
  defragmenting({ name }: Process): void {
    const fault = this.acting && faultOfRestart(this.#restartWorld(), name, this.acting);
    if (fault !== undefined) throw new Breach(`${name} is defragmented: ${fault}`);
  }

  /** Before every member has room the next write would raise it again, and before all hold the same writes go to members that differ. */
  disarming(leader: Process, id: string, alarm: 'NOSPACE' | 'CORRUPT'): void {
    const { acting } = this;
    if (acting === undefined || acting.step?.kind === 'disarmAlarms') return;
    const fault =
      alarm === 'CORRUPT'
        ? faultOfCorruptDisarm(this.#corruption(), leader.clusterId, acting)
        : faultOfDisarm(this.#etcd(), { leader, id, attempt: acting });
    if (fault !== undefined) throw new Breach(`${alarm} of ${id} is disarmed: ${fault}`);
  }

  /** Watches and reads of the past are lost with it. */
  compacting(_leader: Process, revision: string): void {
    const approvals = this.acting?.step?.plannedUpon?.approvals ?? [];
    if (
      this.acting !== undefined &&
      !approvals.some(({ ids }) => ids.some(id => id.endsWith(` ${revision}`)))
    )
      throw new Breach(`history before revision ${revision} is compacted, and nobody has approved of it`);
  }

  changing(what: 'add' | 'promote' | 'remove', leader: Process, row: Row | undefined): void {
    const early = this.acting && this.#requests.faultOfAttempt(this.acting);
    if (early !== undefined) throw new Breach(early);
    if (this.acting !== undefined && what !== 'remove') this.#noAlarm(what, this.acting.lookedAt);
    if (row === undefined || this.acting === undefined) return;
    if (!OURS.test(row.peerUrl)) throw new Breach(`${what} of ${row.peerUrl}, which was added by hand`);
    if (what === 'promote') this.#promoting(leader, row);
    if (what === 'remove' && !row.isLearner) this.#removing(row);
    this.#keepsQuorum(what, leader, row);
  }

  /** Nobody is added or promoted while a member raises an alarm, but for NOSPACE: etcd refuses keys and leases then, not members (server/etcdserver/apply.go, applierV3Capped). */
  #noAlarm(what: string, since: number): void {
    for (const { name, alarm, changedAt } of this.#etcd().processes.values())
      if (alarm !== undefined && !alarm.includes('NOSPACE') && changedAt < since)
        throw new Breach(`${what} while ${name} raises ${alarm}`);
  }

  #promoting(leader: Process, row: Row): void {
    // What shows that it still follows is an entry that was written after the look before the last.
    const since = this.acting?.lookedBefore ?? 0;
    const reached = [leader, ...this.#etcd().peersOf(leader)];
    const process = [...this.#etcd().processes.values()].find(({ memberId }) => memberId === row.id);
    const disk = this.truth.diskOfMember(row.id);
    const changedAt = process?.changedAt ?? this.#etcd().endedAt.get(row.id) ?? 0;
    // Also when it is the leader that was cut off since (seed 1510043).
    if (Math.max(changedAt, leader.changedAt) >= since) return;
    const lag = leader.disk.log.length - (disk?.commit ?? 0);
    if (process === undefined || !reached.includes(process) || lag > MOST_LAG)
      throw new Breach(
        `${row.peerUrl} is promoted ${process ? `${lag} entries behind` : 'while it is down'}`,
      );
  }

  #removing(row: Row): void {
    const since = this.acting?.lookedAt ?? 0;
    const corrupt = this.acting && faultOfCorruptRemoval(this.#corruption(), row, this.acting);
    const isForData = this.acting !== undefined && mayGoForItsData(this.#corruption(), row, this.acting);
    const sizes = isForData ? [0] : this.#sizesSince(since);
    const fault = corrupt ?? this.truth.faultOfRemoval(row, since, sizes);
    if (fault !== undefined) throw new Breach(`voter ${row.name} (${row.id}) is removed: ${fault}`);
  }

  #corruption(): CorruptionWorld {
    return { etcd: this.#etcd(), truth: this.truth };
  }

  /** Which sizes somebody may go by who looked then: an edit that came later cannot be known. */
  #sizesSince(tick: number): readonly number[] {
    const at = this.sizes.findLastIndex(([asked]) => asked < tick);
    return this.sizes.slice(Math.max(0, at)).map(([, size]) => size);
  }

  /** Who was unwell before the operator's last look counts as down, who became so since as up. */
  #keepsQuorum(what: string, leader: Process, row: Row): void {
    if (what === 'add' || (what === 'remove' && row.isLearner)) return;
    // That a learner follows is known from the look before the last, as above.
    const { lookedAt = 0, lookedBefore = 0 } = this.acting ?? {};
    const since = what === 'promote' ? lookedBefore : lookedAt;
    const etcd = this.#etcd();
    const members = newestMembers(leader.disk);
    const reached = new Set([leader, ...etcd.peersOf(leader)].map(({ memberId }) => memberId));
    const isLeaderCut = this.#cutSince(leader.memberId, since);
    const isUp = ({ id, started }: Row) =>
      this.#isNew({ started }, since) ||
      reached.has(id) ||
      isLeaderCut ||
      (etcd.endedAt.get(id) ?? 0) >= since ||
      this.#cutSince(id, since);
    const before = votersOf(members);
    const after = what === 'promote' ? [...before, row] : before.filter(({ id }) => id !== row.id);
    const unwell = after.find(other => other !== row && !isUp(other));
    // A member that is corrupt, or hidden from the operator, may go if a user said so.
    const isDoubtful = [...etcd.processes.values()].some(
      ({ memberId, alarm, hidden }) => memberId === row.id && (alarm === 'CORRUPT' || hidden),
    );
    // A dead or doubtful member may go while another one is away; a healthy one may not, and none may come.
    if (unwell !== undefined && (what === 'promote' || (isUp(row) && !isDoubtful)))
      throw new Breach(`${what} of ${row.name} while ${unwell.name} is away`);
    if (before.filter(isUp).length < quorumOf(before.length)) return;
    if (after.filter(isUp).length >= quorumOf(after.length)) return;
    throw new Breach(
      `${what} of ${row.name} takes quorum away: ${after.filter(isUp).length} of ${after.length} are up`,
    );
  }

  /** Who was added by hand since the operator's last look is not known (seeds 4077902432, 716199402). */
  #isNew({ started }: Pick<Row, 'started'>, since: number): boolean {
    return !started && this.#etcd().membersAt >= since;
  }

  #cutSince(id: string, since: number): boolean {
    return [...this.#etcd().processes.values()].some(
      ({ memberId, changedAt }) => memberId === id && changedAt >= since,
    );
  }

  // Kubernetes

  audit(attempt: Attempt): Audit {
    return {
      created: object => this.#created(object, attempt),
      deleted: object => this.#deleted(object, attempt),
      patched: (before, after) => {
        if (before.kind !== 'Pod' || versionOf(before) === versionOf(after)) return;
        this.#isAsked(after);
        this.#restarting(before, attempt);
      },
      written: (before, after) => {
        const ofRequest = this.forgot ? undefined : this.#requests.faultOfStatus(before, after);
        if (ofRequest !== undefined) throw new Breach(ofRequest);
        if (after.kind !== 'EtcdCluster') return;
        if (attempt.activity === 'switchIncarnation') this.#switching(attempt);
        if (attempt.activity === 'concludeRestore')
          this.#restores.concluding(this.#sizesSince(attempt.lookedAt));
        const early = faultOfEnd(this.truth, before, after);
        if (early !== undefined) throw new Breach(early);
      },
    };
  }

  #switching(attempt: Attempt): void {
    const fault = this.#restores.faultOfSwitch(attempt.lookedAt);
    if (fault !== undefined) throw new Breach(`the cluster is switched to a backup, and ${fault}`);
  }

  #created(object: KubeObject, attempt: Attempt): void {
    if (object.kind === 'Pod' && !isSeed(object)) this.#isAsked(object);
    if (object.kind !== 'Pod' || this.recordedAt === undefined) return;
    if (startArguments(object).includes('--initial-cluster-state=new') && attempt.lookedAt > this.recordedAt)
      throw new Breach(`${object.metadata.name} is bootstrapped after the cluster id was recorded`);
  }

  /** No member is brought to a version that is newer than every one that somebody wrote. */
  #isAsked(pod: KubeObject): void {
    const version = versionOf(pod);
    if (this.asked.some(asked => compareVersions(asked, version) >= 0)) return;
    throw new Breach(
      `${pod.metadata.name} is brought to ${version}, and nobody has asked for more than ${this.asked.join()}`,
    );
  }

  #deleted(object: KubeObject, attempt: Attempt): void {
    if (object.kind === 'EtcdRequest') return;
    const early = this.#requests.faultOfAttempt(attempt);
    if (early !== undefined) throw new Breach(early);
    if (attempt.lookedAt > this.orphanedAt)
      throw new Breach(
        `${object.kind} ${object.metadata.name} is deleted, and the cluster was deleted with --cascade=orphan`,
      );
    const resource = this.#kube.peek('EtcdCluster', CLUSTER);
    const rows = this.truth.members()?.rows ?? [];
    if (resource === undefined || resource.metadata.deletionTimestamp !== undefined) return;
    const { name, uid = '' } = object.metadata;
    if (object.kind === 'Pod') this.#restarting(object, attempt);
    if (object.kind === 'Pod') this.#hasSuccessor(object, attempt);
    const row = rows.find(candidate => candidate.peerUrl.includes(`//${name}.`));
    const { memberId, clusterId = '' } = this.#etcd().disk(uid);
    const isUndone = this.#etcd().restored.has(clusterId) && !this.#etcd().written.has(clusterId);
    // Before its id is recorded nobody is let in, and a claim that somebody deletes is lost in any case.
    if (this.recordedAt === undefined && !this.#etcd().written.has(clusterId)) return;
    if (object.kind === 'PersistentVolumeClaim' && row?.started === true && row.id === memberId && !isUndone)
      throw new Breach(`the claim of member ${name} is deleted, and it is a member`);
    const isClaim = object.kind === 'PersistentVolumeClaim';
    if (isClaim && object.metadata.annotations?.[ANNOTATION_KEPT_BY_RESTORE] !== undefined)
      throw new Breach(`the claim ${name} is deleted, and it is kept to be gone back to`);
    const isVolume =
      object.kind === 'PersistentVolumeClaim' || (object.kind === 'Pod' && isEphemeral(object));
    const loss = isVolume ? this.truth.faultOfDeletion(uid, attempt.lookedAt) : undefined;
    if (loss !== undefined) throw new Breach(`${object.kind} ${name} is deleted: ${loss}`);
    if (attempt.activity === 'fenceMembers') {
      const fault = this.#restores.faultOfFence(attempt.lookedAt);
      if (fault !== undefined) throw new Breach(`${name} is stopped, and ${fault}`);
      return;
    }
    if (object.kind === 'Pod' && row?.isLearner === false) this.#keepsVolume(name, attempt);
    // Who changed their mind since the last look cannot be known.
    const isToSleep = this.#toSleepAt >= attempt.lookedAt;
    if (object.kind === 'Pod' && row?.isLearner === false && !isToSleep && this.recordedAt)
      this.#stopping(row, attempt);
  }

  #restarting({ metadata: { name } }: KubeObject, attempt: Attempt): void {
    const fault = faultOfRestart(this.#restartWorld(), name, attempt);
    if (fault !== undefined) throw new Breach(`${name} is restarted: ${fault}`);
  }

  #restartWorld(): RestartWorld {
    return { kube: this.#kube, etcd: this.#etcd(), cluster: CLUSTER, hasJumped: this.truth.hasJumped };
  }

  /** Nobody is stopped to be started again, or to be restored, while the apiserver takes no pod at all. */
  #hasSuccessor(pod: KubeObject, { activity, purpose, begunAt }: Attempt): void {
    const isRestart = activity === 'stopMember' && ['rollout', 'upgrade'].includes(purpose ?? '');
    const { incarnation } = (this.#kube.peek('EtcdCluster', CLUSTER)?.['status'] ?? {}) as EtcdClusterStatus;
    const isUnderWay = incarnation?.restore !== undefined && incarnation.restore.completedAt === undefined;
    // Half of them are stopped, and those that are left serve nobody any more.
    const isClosed = !letsClientsIn(this.#kube.peek('Service', clientServiceName(CLUSTER)));
    const isBegun =
      isClosed && this.#kube.all('Pod').some(({ metadata }) => metadata.deletionTimestamp !== undefined);
    const isRestore = activity === 'fenceMembers' && !isUnderWay && !isBegun;
    if ((isRestart || isRestore) && this.#kube.isRefusedSince('create Pod', begunAt))
      throw new Breach(`${pod.metadata.name} is stopped, and no pod can be created in its place`);
  }

  /** A claim that is being deleted is there for as long as its pod is. */
  #keepsVolume(name: string, attempt: Attempt): void {
    const { uid = '' } = this.#kube.peek('PersistentVolumeClaim', name)?.metadata ?? {};
    if ((this.#goingSince.get(uid) ?? attempt.lookedAt) < attempt.lookedAt)
      throw new Breach(`the pod of ${name} is stopped, and its volume goes with it`);
  }

  #stopping(row: Row, attempt: Attempt): void {
    const leader = [...this.#etcd().processes.values()].find(({ isLeader }) => isLeader);
    if (leader === undefined) return;
    const before = this.acting;
    this.acting = attempt;
    const members = newestMembers(leader.disk);
    const since = attempt.lookedAt;
    const reached = new Set([leader, ...this.#etcd().peersOf(leader)].map(({ memberId }) => memberId));
    const known = votersOf(members).filter(row => !this.#isNew(row, since));
    const up = known.filter(
      ({ id }) =>
        reached.has(id) || (this.#etcd().endedAt.get(id) ?? 0) >= since || this.#cutSince(id, since),
    );
    this.acting = before;
    const isUp = up.some(({ id }) => id === row.id);
    const voters = known.length;
    const rotten = up.find(({ id }) => {
      const at = this.truth.diskOfMember(id)?.rottenSince ?? since;
      // What became of it since it was compared last is not known, as long as that counts.
      const comparedAt = this.#etcd().hashedAt.get(id);
      const isUnknown = comparedAt !== undefined && comparedAt <= at && since - comparedAt < COMPARED_LATELY;
      return at < since && !isUnknown;
    });
    if (isUp && voters > 1 && rotten !== undefined && attempt.purpose !== 'removal')
      throw new Breach(
        `the pod of ${row.name} is stopped, and ${rotten.name} holds other keys than the others`,
      );
    // Two cannot be restarted otherwise, but they need not be stopped to be fewer.
    const mayFall = voters <= 2 && attempt.purpose !== 'removal';
    if (isUp && up.length >= quorumOf(voters) && up.length - 1 < quorumOf(voters) && !mayFall)
      throw new Breach(`the pod of ${row.name} is stopped: ${up.length - 1} of ${voters} would be up`);
  }

  /** After every tick. */
  check(): void {
    this.#kube.noteRefusals();
    const { spec, status } = (this.#kube.peek('EtcdCluster', CLUSTER) ?? {}) as Partial<EtcdCluster>;
    // An old client that leaves the field out asks for nothing else than before (docs/reference/api.md; seed 3006062128).
    this.#sleeps = spec?.hibernated ?? this.#sleeps;
    if (this.#sleeps) this.#toSleepAt = this.#tick();
    if (status?.clusterID !== undefined) this.recordedAt ??= this.#tick();
    const early = this.#restores.check(this.#tick());
    if (early !== undefined) throw new Breach(early);
    for (const { metadata } of this.#kube.all('PersistentVolumeClaim')) {
      const { uid = '', deletionTimestamp } = metadata;
      if (deletionTimestamp !== undefined && !this.#goingSince.has(uid))
        this.#goingSince.set(uid, this.#tick());
    }
    for (const process of this.#etcd().processes.values()) {
      this.#meets(process);
      if (!process.isLeader) continue;
      const learners = newestMembers(process.disk).rows.filter(row => row.isLearner);
      if (learners.length > 1) throw new Breach(`${learners.length} learners at once`);
    }
  }

  /** The serials of the names that were ever given to a member that started. */
  get lastSerial(): number {
    return Math.max(-1, ...[...this.#names.keys()].map(name => serialOf(name) ?? -1));
  }
}
