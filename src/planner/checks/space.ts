/**
 * Why etcd has no space, with the numbers that a person decides by: quota, file, what of it is in use, and how much of that is history. The
 * quota of a member is the one that its pod was made with, whatever the specification says by now. Pure.
 */
import { withDefaults } from '../../api/defaults/etcd-cluster.ts';
import { inGibibytes, volumeForQuota } from '../../api/derived/volume-for-quota.ts';
import { parseBytes } from '../../api/values/quantity.ts';
import { bytes } from '../../api/values/sizes.ts';
import { clusterAtPodCreation } from '../../objects/made-from.ts';
import { compactDifferently, SAME_COMPACTION_SINCE, versionsOf } from './gates.ts';
import { podChanges } from './pod-changes.ts';
import { type Alarm, alarmsOf } from '../model/alarms.ts';
import type { MemberView } from '../model/member-view.ts';
import type { PodFacts } from '../model/observation.ts';
import type { Situation } from '../model/situation.ts';

/** Of the quota: with less in its file a member has room, and an alarm of it is disarmed. */
const ROOM = 0.9;
/** Of the versions: from here on a compaction is worth asking for. */
const WORTH_ASKING = 0.1;
/** Of its history: one revision is proposed for so much, so that it stays the same while a person decides. */
const STEP = 0.01;
/** Of a file: with less to free a defragmentation would stop the member for nothing. */
const WORTH_FREEING = 0.02;
/** Of a raised quota: so much is in use at most. */
const COMFORTABLE = 0.5;
const MIB = 1024 ** 2;
const GIB = 1024 ** 3;

/** How full a member is; sizes in bytes. */
export interface Filled {
  readonly view: MemberView;
  readonly size: number;
  readonly inUse: number;
  readonly quota: number;
}

/** Why etcd refuses writes, and what ends it. */
export type Cause = { readonly message: string } & (
  | { /** It cannot be judged now. */ readonly kind: 'unknown' }
  | { /** Every member has room again. */ readonly kind: 'room' }
  | {
      /** The specification asks for a larger quota, which members do not have yet. */ readonly kind: 'raised';
    }
  | {
      /** Giving back what is free in these files is enough. */ readonly kind: 'fragmented';
      readonly due: readonly Filled[];
    }
  | {
      readonly kind: 'full';
      /** History that can go: everything before this revision. Absent: there is hardly any. */
      readonly compaction?: { readonly revision: string; readonly loses: string };
      readonly advice: string;
    }
);

/** The alarms of space that stand. */
export function spaceAlarms({ probes }: Pick<Situation, 'probes'>): readonly Alarm[] {
  return alarmsOf(probes).filter(({ alarm }) => alarm === 'NOSPACE');
}

/** Why there is no space. To be asked while an alarm stands. */
export function causeOf(situation: Situation): Cause {
  const members = fillings(situation);
  if (typeof members === 'string') return { kind: 'unknown', message: members };
  const full = members.filter(member => !hasRoom(member));
  if (full.length === 0) return { kind: 'room', message: `every database has room: ${fullest(members)}` };
  const message = full.map(sizesOf).join('; ');
  if (isRaised(situation, full))
    return { kind: 'raised', message: `${message}; a quota of ${askedQuota(situation)} is on its way` };
  if (full.every(helps))
    return { kind: 'fragmented', due: full, message: `${message}: defragmentation makes room` };
  return fullOf(situation, full, message);
}

/** How full every member is, or why that is not known: then no alarm may be disarmed. */
function fillings(situation: Situation): readonly Filled[] | string {
  const { membership, members, probes } = situation;
  if (!membership.known) return `no quorum answers: ${membership.message}`;
  if (alarmsOf(probes).some(({ alarm }) => alarm === 'CORRUPT'))
    return 'CORRUPT stands as well, and nothing may be written to the members until a person has seen to it';
  const found = members.map(view => filling(situation, view));
  const unknown = found.find(each => typeof each === 'string');
  return unknown ?? found.filter(each => typeof each !== 'string');
}

function filling(situation: Situation, view: MemberView): Filled | string {
  const { name, probe, pod, ours } = view;
  if (!ours) return `${name} was added manually, and its quota is not known`;
  if (probe === undefined || pod === undefined)
    return `${name} does not answer, so it is not known whether it has room`;
  const quota = quotaOf(situation, pod);
  if (quota === undefined) return `it is not known with which quota ${name} runs`;
  return { view, size: probe.dbSize, inUse: probe.dbSizeInUse, quota };
}

/** The quota that the member runs with. */
function quotaOf(situation: Situation, pod: PodFacts): number | undefined {
  const { object, config } = situation.cluster;
  const before = clusterAtPodCreation(object, pod.madeFrom);
  if (before !== undefined) return withDefaults(before.spec).etcd.quotaBackendBytes;
  const { asked, rendered } = podChanges(situation, pod);
  const isOther = [...asked, ...rendered].some(change =>
    /quota-backend-bytes|QUOTA_BACKEND_BYTES/.test(change),
  );
  return isOther ? undefined : config.etcd.quotaBackendBytes;
}

/** Whether a database may grow before etcd refuses writes. */
export function hasRoom({ size, quota }: Pick<Filled, 'size' | 'quota'>): boolean {
  return size <= ROOM * quota;
}

/** Members get it with new pods, which those that store their data in them cannot have. */
function isRaised({ cluster: { config, status } }: Situation, full: readonly Filled[]): boolean {
  if (status.storage?.kind !== 'PersistentVolumeClaim') return false;
  return full.some(({ quota }) => quota < config.etcd.quotaBackendBytes);
}

/** Whether so much of a file is free that it is given back; sizes in bytes. */
export function hasMuchFree({ size, inUse }: Pick<Filled, 'size' | 'inUse'>): boolean {
  const free = size - inUse;
  return free >= MIB && free >= WORTH_FREEING * size;
}

function helps({ view, size, inUse, quota }: Filled): boolean {
  return !view.isLearner && view.started && hasRoom({ size: inUse, quota }) && hasMuchFree({ size, inUse });
}

/** Nothing that may be done without being asked is enough. */
function fullOf(situation: Situation, full: readonly Filled[], message: string): Cause {
  const { history } = situation;
  const advice = quotaAdvice(situation, full);
  if (history?.ok !== true) {
    const why = history?.message ?? 'nobody was asked';
    return { kind: 'full', message: `${message}; its history is not known: ${why}`, advice };
  }
  const { keys, versions, revision, compacted } = history;
  const old = Math.max(0, versions - keys);
  const share = old / Math.max(1, versions);
  const counted = `${keys} keys in about ${versions} versions since revision ${compacted}`;
  if (share < WORTH_ASKING)
    return { kind: 'full', message: `${message}; ${counted}: live data fills the quota`, advice };
  const said = `${message}; ${counted}: about ${Math.round(share * 100)} % is history, and ${compactionOf(situation)}`;
  const releases = versionsOf(situation.members);
  if (compactDifferently(releases)) {
    const why = `it is not compacted while members run ${releases.join(', ')}, for releases before ${SAME_COMPACTION_SINCE} compact otherwise, which etcd would take for CORRUPT`;
    return { kind: 'full', message: `${said}; ${why}`, advice };
  }
  const left = Math.max(...full.map(({ inUse }) => inUse * (1 - share)));
  const isEnough = full.every(({ inUse, quota }) => hasRoom({ size: inUse * (1 - share), quota }));
  const proposed = proposedRevision({ revision, compacted });
  const loses =
    `compacting to revision ${proposed} loses the history before it, about ${old} of ${versions} versions, of which about ${bytes(left)} would remain: ` +
    `watches and reads of an older revision fail afterwards${isEnough ? '' : '; that is not enough alone'}`;
  return { kind: 'full', message: said, compaction: { revision: proposed, loses }, advice };
}

/** A round one, so that it is the same for as long as little is added. */
function proposedRevision({
  revision,
  compacted,
}: {
  readonly revision: string;
  readonly compacted: string;
}): string {
  const [newest, oldest] = [Number(revision), Number(compacted)];
  const step = 10 ** Math.max(0, Math.floor(Math.log10(Math.max(1, (newest - oldest) * STEP))));
  return String(Math.max(oldest + 1, Math.floor(newest / step) * step));
}

function compactionOf({ cluster }: Situation): string {
  const { mode, retention } = cluster.config.etcd.autoCompaction;
  if (mode === 'off') return 'nobody has compacted it (spec.etcd.autoCompaction is off)';
  return mode === 'periodic' ? `etcd keeps the last ${retention}` : `etcd keeps ${retention} revisions`;
}

function quotaAdvice({ cluster, claims }: Situation, full: readonly Filled[]): string {
  const { storage } = cluster.status;
  if (storage?.kind !== 'PersistentVolumeClaim')
    return 'delete keys and compact: the members store their data in their pods, so they cannot be given another quota';
  let quota = Math.max(...full.map(member => member.quota));
  const inUse = Math.max(...full.map(member => member.inUse));
  while (inUse > COMFORTABLE * quota) quota *= 2;
  const names = full.map(({ view }) => view.name);
  const sizes = claims.flatMap(({ owned, name, capacity }) =>
    owned && names.includes(name) ? [capacity ?? ''] : [],
  );
  const [smallest] = sizes.toSorted((a, b) => (parseBytes(a) ?? 0) - (parseBytes(b) ?? 0));
  return `raise spec.etcd.quotaBackendBytes to ${quantity(quota)}${volumeFor(quota, smallest)}, or delete keys`;
}

function volumeFor(quota: number, capacity = ''): string {
  const has = parseBytes(capacity);
  if (has === undefined) return '';
  const needed = volumeForQuota(quota);
  return has >= needed
    ? ` (the volumes of ${capacity} have room for it)`
    : ` (the volumes of ${capacity} have not enough room for it: first enlarge them to ${inGibibytes(needed)})`;
}

function askedQuota({ cluster }: Situation): string {
  return bytes(cluster.config.etcd.quotaBackendBytes);
}

function quantity(size: number): string {
  return size % GIB === 0 ? `${size / GIB}Gi` : `${Math.ceil(size / MIB)}Mi`;
}

function fullest(members: readonly Filled[]): string {
  const ordered = members.toSorted((a, b) => b.size / b.quota - a.size / a.quota);
  return ordered.slice(0, 1).map(sizesOf).join('');
}

function sizesOf({ view, size, inUse, quota }: Filled): string {
  return `${view.name} has a file of ${bytes(size)} with ${bytes(inUse)} in use, quota ${bytes(quota)}`;
}
