/** What a generated observation shows of the members: their pods, claims and answers, and the list of a quorum. */
import { ANNOTATION_RENDERED, memberName } from '../../src/api/names.ts';
import type { EtcdCluster } from '../../src/api/schemas/types.ts';
import { madeFrom } from '../../src/objects/made-from.ts';
import { memberPod } from '../../src/objects/pod.ts';
import type { MemberProbe } from '../../src/planner/model/member-probe.ts';
import type {
  ClaimFacts,
  ClusterFacts,
  HashFact,
  Membership,
  PodFacts,
} from '../../src/planner/model/observation.ts';
import { aClaim, aPod, aProbe, CLUSTER_ID, idOf, NAME, UNKNOWN_MEMBERSHIP } from '../worlds/builders.ts';
import type { ClusterDraw } from './generated-cluster.ts';
import type { MemberDraw } from './generated-members.ts';
import { urlOf } from './generated-status.ts';
import { firstUid, IDS, now, TOKENS } from './generated-values.ts';

const stamps = new Map<string, string | undefined>();

/** What a pod that was made of this specification carries; remembered, for there are not many. */
function stampOf(object: EtcdCluster, name: string, version: string): string | undefined {
  const { incarnation, storage } = object.status ?? {};
  if (incarnation === undefined || storage === undefined) return undefined;
  const key = `${name} ${version} ${storage.kind} ${JSON.stringify(object.spec)}`;
  let stamp = stamps.get(key);
  if (!stamps.has(key)) {
    stamp = rendered(object, { name, token: incarnation.token, storage: storage.kind, version });
    if (stamps.size > 20_000) stamps.clear();
    stamps.set(key, stamp);
  }
  return stamp;
}

/** Nothing when no pod can be made of it. */
function rendered(
  object: EtcdCluster,
  of: Omit<Parameters<typeof memberPod>[1], 'start'>,
): string | undefined {
  try {
    return memberPod(object, { ...of, start: { state: 'restart' } }).metadata.annotations?.[
      ANNOTATION_RENDERED
    ];
  } catch {
    return undefined;
  }
}

export function podOf(
  { object }: ClusterFacts,
  { spec: { versions } }: ClusterDraw,
  { member, name }: { readonly member: MemberDraw; readonly name: string },
): PodFacts[] {
  const { pod } = member;
  if (!pod.there) return [];
  const version = versionOf(versions, pod.runs);
  const then = pod.isOutdated
    ? { ...object, spec: { ...object.spec, pod: { labels: { team: 'before' } } } }
    : object;
  return [
    aPod({
      name,
      owned: pod.owned,
      token: TOKENS[pod.token],
      clusterId: IDS[pod.clusterId],
      phase: pod.phase,
      ready: pod.ready && pod.trouble === undefined,
      deleting: pod.deleting,
      ...(pod.goneBy !== undefined && { goneBy: now + pod.goneBy * 1_000 }),
      trouble: pod.trouble === undefined ? undefined : troubleOf(pod.trouble),
      firstStart: pod.firstStart,
      clients: pod.clients,
      createdAt: now - pod.age * 1_000,
      readyChangedAt: now - Math.min(pod.age, pod.readyFor) * 1_000,
      version,
      stamp: stampOf(then, name, version),
      madeFrom: Object.values(madeFrom(then))[0],
      ...(pod.settled && { settledIn: version.split('.').slice(0, 2).join('.') }),
    }),
  ];
}

function troubleOf(text: string): { readonly reason: string; readonly message: string } {
  const isReason = /^\w+$/.test(text);
  return isReason ? { reason: text, message: 'cannot start' } : { reason: 'CrashLoopBackOff', message: text };
}

function versionOf(
  versions: ClusterDraw['spec']['versions'],
  which: 'current' | 'target' | 'asked' | 'none' | 'odd',
): string {
  // A candidate for a release, which somebody has put there by hand.
  if (which === 'odd') return '3.7.0-rc.0';
  if (which === 'target' && versions.target !== '') return versions.target;
  const isRelease = /^\d+\.\d+\.\d+$/.test(versions.asked ?? '');
  return which === 'current' || !isRelease ? versions.current : (versions.asked ?? versions.current);
}

export function claimOf({ status, spec }: ClusterDraw, { claim }: MemberDraw, name: string): ClaimFacts[] {
  if (!claim.there || status.isEphemeral) return [];
  const uid = claim.uid === 'own' ? firstUid(name) : `another-${firstUid(name)}`;
  return [
    aClaim({
      name,
      // Made for this very cluster: that is what its token says.
      owned: claim.owned && (claim.token === 'own' || claim.token === 'before'),
      uid,
      stampedUid: { first: firstUid(name), none: undefined, 'its own': uid }[claim.stampedUid],
      token: TOKENS[claim.token],
      clusterId: IDS[claim.clusterId],
      phase: claim.phase,
      deleting: claim.deleting,
      ...(claim.keptByRestore && { keptByRestore: true }),
      keptUntil: claim.keptUntil === undefined ? undefined : now + claim.keptUntil * 1_000,
      ...(claim.home !== undefined && { home: { node: `node-${name}`, exists: claim.home } }),
      version: claim.runs === 'none' ? undefined : versionOf(spec.versions, claim.runs),
    }),
  ];
}

export function probeOf(
  { spec }: ClusterDraw,
  { probe, pod, isLearner }: MemberDraw,
  at: number,
): MemberProbe {
  if (!probe.answered || pod.trouble !== undefined)
    return { answered: false, message: 'Deadline exceeded', ...(probe.denied && { denied: true }) };
  const name = memberName(NAME, at);
  const leaders = { first: `${NAME}-0`, second: `${NAME}-1`, own: name };
  const index = 1_000_000 - probe.lag;
  const agreed = probe.agreed === 'none' ? undefined : minorOf(versionOf(spec.versions, probe.agreed));
  return aProbe({
    name,
    ...(probe.id === 'other' && { memberId: 'dead' }),
    clusterId: IDS[probe.clusterId],
    leaderId: probe.leader === 'nobody' ? undefined : idOf(leaders[probe.leader]),
    isLearner: probe.isLearner ?? isLearner,
    version: versionOf(spec.versions, pod.runs),
    raftIndex: String(index),
    raftAppliedIndex: String(index - probe.applied),
    dbSize: probe.dbSize,
    errors: probe.error === undefined ? [] : [probe.error],
    read: probe.reads ? { ok: true, revision: '10' } : { ok: false, message: 'etcdserver: no leader' },
    agreed: agreed === undefined ? undefined : saidOfVersions(spec, probe, { agreed, runs: pod.runs }),
  });
}

/** Members of 3.5 say neither what their data is of, nor whether a downgrade is enabled. */
function saidOfVersions(
  { versions }: ClusterDraw['spec'],
  { downgrade }: MemberDraw['probe'],
  { agreed, runs }: { readonly agreed: string; readonly runs: MemberDraw['pod']['runs'] },
) {
  const isOld = minorOf(versionOf(versions, runs)) === '3.5.0';
  const enabled = downgrade === 'none' ? '' : minorOf(versionOf(versions, downgrade));
  return { cluster: agreed, ...(!isOld && { storage: agreed, downgrade: enabled }) };
}

function minorOf(version: string): string {
  return `${version.split('.').slice(0, 2).join('.')}.0`;
}

export function membershipOf(draw: ClusterDraw, members: readonly MemberDraw[]): Membership {
  const rows = members.flatMap((member, at) => {
    if (!member.listed) return [];
    const name = memberName(NAME, at);
    const isUnstarted = member.name === 'none' || !member.started;
    return [
      {
        id: idOf(name),
        name: isUnstarted ? '' : member.name === 'stranger' ? 'stranger' : name,
        isLearner: member.isLearner,
        peerUrls: [urlOf(name, member.url)],
        started: !isUnstarted,
      },
    ];
  });
  return rows.length === 0 || draw.status.incarnation === 'none'
    ? UNKNOWN_MEMBERSHIP
    : { known: true, clusterId: CLUSTER_ID, members: rows };
}

export function hashesOf(
  members: readonly MemberDraw[],
  names: readonly string[],
): Readonly<Record<string, HashFact>> {
  const facts = members.map(({ hash }): HashFact => {
    if (hash === 'unknown') return { ok: false, message: 'Deadline exceeded' };
    return { ok: true, hash: hash === 'same' ? '1' : '2', compactRevision: '-1' };
  });
  return Object.fromEntries(facts.map((fact, at) => [names[at] ?? '', fact]));
}
