/** Of the oracle: when a member that runs must not be stopped, and which version it must not be given. */
import type { Step } from '../../src/planner/model/decision.ts';
import { isRunning, isWell, type Look, nameOf, quorumOf, type Row } from './oracle-look.ts';

type Restart = Extract<Step, { kind: 'stopMember' | 'replaceImage' | 'defragmentMember' }>;

/** Entries of the log that a member may lack. */
const MOST_LAG = 1_000n;
/** Streams count as connected after five seconds (server.go, HealthInterval); twice that is waited for. */
const QUIET_MS = 9_000;

export function faultOfRestart(look: Look, step: Restart): string | undefined {
  const { config, deleting } = look.observation.cluster;
  const pod = look.pod(step.member);
  if (pod === undefined || pod.uid !== step.uid) return 'it is another pod than was seen';
  if (!pod.owned) return 'the pod is not of this cluster';
  const version = versionAfter(step);
  const besides =
    version === undefined
      ? undefined
      : faultOfVersion(look, { from: pod.version, member: step.member, version });
  if (besides !== undefined) return besides;
  if (step.kind === 'stopMember') {
    const claim = look.claim(step.member);
    const isKept =
      claim !== undefined && !claim.deleting && claim.phase !== 'Lost' && claim.uid === step.claimUid;
    if (!isKept && !deleting) return 'its volume would not outlast its pod';
    if (step.purpose === 'hibernation') return config.hibernated ? undefined : 'the cluster is not to sleep';
  }
  const row = look.voters.find(candidate => nameOf(candidate) === step.member);
  return row && isRunning(look, row) ? faultOfStop(look, row, step) : undefined;
}

/** What the member is to run next; undefined: what it runs. */
function versionAfter(step: Restart): string | undefined {
  if (step.kind === 'replaceImage') return step.version;
  return step.kind === 'stopMember' ? step.next?.version : undefined;
}

/** One member at a time, and only while all others are well, level and quiet (upgrades, "Upgrade requirements"; faq). */
function faultOfStop(look: Look, row: Row, step: Restart): string | undefined {
  const others = look.voters.filter(other => other.id !== row.id);
  const well = others.filter(other => isWell(look, other));
  const needed = quorumOf(look.voters.length);
  // One or two cannot be restarted otherwise.
  if (look.voters.length > 2 && others.filter(other => isRunning(look, other)).length < needed)
    return 'without it there would be no quorum';
  if (!isWell(look, row) || (step.kind === 'stopMember' && step.purpose === 'removal')) return undefined;
  const unwell = others.find(other => !isWell(look, other) && !isFull(look, other));
  if (unwell !== undefined) return `${nameOf(unwell)} is not seen well`;
  if (look.rows.some(({ isLearner }) => isLearner)) return 'somebody is joining';
  const said = [row, ...others].flatMap(other => {
    const probe = look.observation.probes[nameOf(other)];
    return probe?.answered === true ? [probe] : [];
  });
  if (new Set(said.map(({ leaderId }) => leaderId)).size > 1) return 'they do not agree on who leads';
  const newest = said.map(({ raftIndex }) => BigInt(raftIndex)).reduce((a, b) => (a > b ? a : b), 0n);
  const late = said.find(({ raftIndex }) => newest - BigInt(raftIndex) > MOST_LAG);
  if (late !== undefined) return `${late.memberId} lags`;
  const own = said.find(({ memberId }) => memberId === row.id);
  if (own?.leaderId === row.id && well.length > 0) return 'it leads, and has not handed over';
  const fresh = others.find(other => {
    const { readyChangedAt = 0 } = look.pod(nameOf(other)) ?? {};
    return look.observation.now - readyChangedAt < QUIET_MS;
  });
  if (fresh !== undefined) return `${nameOf(fresh)} has only just become ready`;
  return faultOfKeys(look, said);
}

/** Its only complaint is that its database is full, which a larger quota cures. */
export function isFull(look: Look, row: Row): boolean {
  const probe = look.observation.probes[nameOf(row)];
  if (probe?.answered !== true || probe.memberId !== row.id) return false;
  return probe.read.ok && probe.errors.every(error => error.includes('NOSPACE'));
}

/** Members of one release that have compacted alike hold the same keys (op-guide/data_corruption). */
function faultOfKeys(
  { observation: { hashes = {} } }: Look,
  said: readonly { readonly memberId: string; readonly version: string }[],
): string | undefined {
  if (new Set(said.map(({ version }) => version)).size > 1) return undefined;
  const known = Object.values(hashes).flatMap(fact => (fact.ok ? [fact] : []));
  const digests = Map.groupBy(known, ({ compactRevision }) => compactRevision);
  return [...digests.values()].some(group => new Set(group.map(({ hash }) => hash)).size > 1)
    ? 'the members do not hold the same keys'
    : undefined;
}

function numbers(version = ''): readonly [number, number] {
  const [, minor = '0', patch = '0'] = version.split('.');
  return [Number(minor), Number(patch)];
}

/**
 * One minor at a time, from releases that leave nothing false behind (upgrades/upgrade_3_6: at least 3.5.26; upgrade_3_7: 3.6.11), and
 * not before the cluster and its data have arrived in the minor that is left; back only while nobody has agreed on the newer one.
 */
function faultOfVersion(
  look: Look,
  step: { readonly from: string | undefined; readonly member: string; readonly version: string },
): string | undefined {
  const { from } = step;
  const { config, status } = look.observation.cluster;
  const [was, patch] = numbers(from);
  const [will] = numbers(step.version);
  const wanted = [config.version, status.targetVersion, from, status.currentVersion].map(
    version => numbers(version)[0],
  );
  if (will > Math.max(...wanted)) return `nobody asked for ${step.version}`;
  if (will > was + 1) return `${from} is not brought to ${step.version} at once`;
  if (will === was + 1 && ((was === 5 && patch < 26) || (was === 6 && patch < 11)))
    return `${from} leaves behind what ${step.version} takes for the truth`;
  const probe = look.observation.probes[step.member];
  if (probe?.answered !== true || will === was) return undefined;
  const [agreed] = numbers(probe.agreed?.cluster);
  if (will > was && was >= 6 && agreed !== 0 && agreed < was)
    return 'the cluster has not arrived in the minor before';
  return will < was ? faultOfDescent(look, will) : undefined;
}

/** An older minor ends in a cluster, and on data, of a newer one (downgrades/downgrade_3_6: every member's storageVersion is the target). */
function faultOfDescent(look: Look, will: number): string | undefined {
  const newer = look.voters.find(row => {
    const probe = look.observation.probes[nameOf(row)];
    if (probe?.answered !== true) return false;
    const { cluster, storage } = probe.agreed ?? {};
    return numbers(cluster)[0] > will || numbers(storage)[0] > will;
  });
  return newer && `${nameOf(newer)} says that the cluster or its data are of a newer minor`;
}

/** etcd lowers nothing while a member is away, and a downgrade that is asked for is not taken back. */
export function faultOfDowngrade(
  look: Look,
  step: Extract<Step, { kind: 'enableDowngrade' | 'cancelDowngrade' }>,
): string | undefined {
  const { config, status } = look.observation.cluster;
  const [asked] = numbers(step.version);
  const [wanted] = numbers(config.version);
  if (step.kind === 'cancelDowngrade') {
    // What led to the minor that every member runs has ended, and keeps others from joining.
    const isOver = look.voters.every(row => {
      const probe = look.observation.probes[nameOf(row)];
      return probe?.answered === true && numbers(probe.version)[0] === asked;
    });
    if (isOver) return undefined;
    return asked === wanted && status.upgradeFailure === undefined ? 'the downgrade is asked for' : undefined;
  }
  if (wanted > asked && numbers(status.targetVersion)[0] !== asked) return 'nobody asks for an older minor';
  const away = look.voters.find(row => !isWell(look, row) && !isFull(look, row));
  return away && `${nameOf(away)} is not seen well`;
}
