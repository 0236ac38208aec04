/**
 * Whether a cluster can go back to an incarnation that is kept: a quorum of its voters must have their claims, and the release of etcd that
 * last ran on them must be one that spec.version can follow. Nothing of what runs is touched before that is so. Pure.
 */
import { ANNOTATION_DATA_VERSION } from '../../api/names.ts';
import { checkVersion, compareVersions, isOlderMinor, minorOf } from '../../api/versions/compare.ts';
import {
  type KeptClaim,
  type KeptIncarnation,
  keptIncarnations,
  type KeptMember,
  keptNote,
} from '../model/kept-incarnations.ts';
import type { RefusalReason } from '../model/restore-acceptance.ts';
import type { Situation } from '../model/situation.ts';
import { hopsBetween } from '../operations/upgrade/path.ts';
import { quorum } from './quorum.ts';

/** An incarnation that can be gone back to. */
interface Return {
  readonly token: string;
  readonly clusterId: string;
  /** When it was recorded first. */
  readonly since?: string;
  readonly leftAt?: string;
  /** What its members had reached at least. */
  readonly revision?: number;
  /** All members, those included whose claims are lost. */
  readonly members: readonly KeptMember[];
  /** The claims of members that are there. */
  readonly claims: readonly KeptClaim[];
  /** The oldest release that last ran on one of them. */
  readonly version: string;
}

interface Fault {
  readonly reason: RefusalReason;
  readonly message: string;
}

/** What is looked at. */
interface Seen {
  readonly cluster: Pick<Situation['cluster'], 'name' | 'uid' | 'object' | 'status'> & {
    readonly config: { readonly version: string };
  };
  readonly claims: readonly KeptClaim[];
}

export type ReturnJudgement = { readonly found: Return } | { readonly fault: Fault };

/** What a cluster would be when it went back to this incarnation, or why it cannot. */
export function returnTo(situation: Seen, token: string): ReturnJudgement {
  const { cluster, claims } = situation;
  if (cluster.status.incarnation?.token === token)
    return notKept(`the cluster ${cluster.name} runs incarnation ${token} already`);
  const all = keptIncarnations(cluster, claims);
  const kept = all.find(each => each.token === token);
  if (kept === undefined) {
    const others = all.length === 0 ? 'none is kept' : `kept are ${all.map(each => each.token).join(', ')}`;
    return notKept(`no claim of incarnation ${token} of ${cluster.name} is kept; ${others}`);
  }
  return judge(situation, kept);
}

function judge(situation: Seen, { token, note, claims }: KeptIncarnation): ReturnJudgement {
  const clusterId = note?.clusterID ?? claims.map(claim => claim.clusterId).find(id => id !== undefined);
  if (note === undefined)
    return notKept(
      `nothing shows which members incarnation ${token} had: a release of the operator that did not note it put it aside, and another restore followed`,
    );
  if (clusterId === undefined) return notKept(`incarnation ${token} never formed a cluster`);
  const { members, since, leftAt, revision } = note;
  const voters = members.filter(({ learner }) => learner !== true);
  const faults = members.map(member => ({ member, fault: faultOf(claims, member, clusterId) }));
  const usable = faults.filter(({ fault }) => fault === undefined).map(({ member }) => member.name);
  const left = voters.filter(({ name }) => usable.includes(name));
  if (!canElect(left.length, voters.length)) {
    const what = faults.flatMap(({ member, fault }) =>
      fault === undefined ? [] : [`${member.name}: ${fault}`],
    );
    return notKept(
      `of the ${voters.length} voters of incarnation ${token} ${left.length} have their claims, and ${quorum(voters.length)} are a quorum (${what.join('; ')})`,
    );
  }
  const there = claims.filter(({ name }) => usable.includes(name));
  const version = versionOf(situation, token, there);
  if (typeof version !== 'string') return version;
  return {
    found: {
      token,
      clusterId,
      ...(since !== undefined && { since }),
      ...(leftAt !== undefined && { leftAt }),
      ...(revision !== undefined && { revision }),
      members,
      claims: there,
      version,
    },
  };
}

/** Whether so many of all voters can elect a leader. */
export function canElect(left: number, voters: number): boolean {
  return left >= quorum(voters);
}

/** What is wrong with the claim of a member; undefined: nothing that is known. */
function faultOf(claims: readonly KeptClaim[], { name }: KeptMember, clusterId: string): string | undefined {
  const claim = claims.find(each => each.name === name);
  if (claim === undefined) return 'its claim is gone';
  if (claim.deleting) return 'its claim is being deleted';
  if (claim.phase === 'Lost') return 'its claim has lost its volume';
  if (claim.stampedUid !== undefined && claim.stampedUid !== claim.uid)
    return `its claim (uid ${claim.stampedUid}) is gone, and a different claim (uid ${claim.uid}) has the same name`;
  if (claim.clusterId !== undefined && claim.clusterId !== clusterId)
    return `its claim is stamped with cluster id ${claim.clusterId}, and not ${clusterId}`;
  return claim.home?.exists === false ? `its volume is on node ${claim.home.node}, which is gone` : undefined;
}

/** The release that the members start with, or why there is none: members start with what ran on their data, and follow spec.version then. */
function versionOf(
  { cluster }: Seen,
  token: string,
  claims: readonly KeptClaim[],
): string | { readonly fault: Fault } {
  const unknown = claims.filter(({ version }) => version === undefined || minorOf(version) === undefined);
  if (unknown.length > 0)
    return notKept(
      `nothing shows which version of etcd last ran on claim ${unknown.map(({ name }) => name).join(', ')}: add the annotation ${ANNOTATION_DATA_VERSION} with the version, such as 3.5.35`,
    );
  const versions = claims.map(({ version = '' }) => version).toSorted(compareVersions);
  const [oldest = '', newest = oldest] = [versions[0], versions.at(-1)];
  const { version: asked } = cluster.config;
  const data = `the data of incarnation ${token} was last run by etcd ${newest}`;
  const tooOld = (message: string): { readonly fault: Fault } => ({
    fault: { reason: 'VersionTooOld', message },
  });
  if (isOlderMinor(asked, newest))
    return tooOld(
      `${data}, and spec.version is ${asked}: an earlier minor does not start on it; set spec.version to a release of ${minorOf(newest)} first`,
    );
  if (!checkVersion(oldest).supported || hopsBetween(oldest, asked) === undefined)
    return tooOld(`${data}, which cannot be brought to spec.version ${asked}`);
  return oldest;
}

function notKept(message: string): { readonly fault: Fault } {
  return { fault: { reason: 'IncarnationNotKept', message } };
}

/** What is given up by going back, in words: the cluster that runs, as it was observed last. */
export function givenUpWords(situation: Situation): string {
  const { name, status } = situation.cluster;
  const { clusterID = '', incarnation } = status;
  const { revision, since } = keptNote(situation) ?? {};
  const from = since === undefined ? '' : ` since ${since}`;
  const upTo = revision === undefined ? '' : ` (revision ${revision} when it was last looked at)`;
  return `what was written to cluster ${clusterID} of ${name}, incarnation ${incarnation?.token},${from}${upTo} and until clients are kept out is given up; its claims are kept, and can be gone back to in turn`;
}
