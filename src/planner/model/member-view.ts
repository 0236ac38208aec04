/** The members as a quorum lists them, each with what Kubernetes and the member itself say. */
import { domainFault, domainIn } from '../../api/derived/domain.ts';
import { bySerial, isNameOfMember, memberName, nextSerial } from '../../api/names.ts';
import { isNoSpace } from './alarms.ts';
import { lastSerialOf, peerUrlOf } from './identity.ts';
import { type AnsweredProbe, leads } from './member-probe.ts';
import type { ClaimFacts, Observation, PodFacts } from './observation.ts';

export interface MemberView {
  readonly id: string;
  /** etcd's name of it, or the one that its peer URL names while it has not started. */
  readonly name: string;
  /** Its name and peer URL are such as this operator gives. Others were added by hand: reported, never touched. */
  readonly ours: boolean;
  /** Of one that is not ours only because its URL ends in another domain: what to do. */
  readonly domainFault?: string | undefined;
  readonly isLearner: boolean;
  readonly started: boolean;
  readonly pod: PodFacts | undefined;
  readonly claim: ClaimFacts | undefined;
  readonly probe: AnsweredProbe | undefined;
  /** It says itself that it leads. */
  readonly leads: boolean;
}

/** What the members are read from. */
type OfMembers = Pick<Observation, 'cluster' | 'pods' | 'claims' | 'probes' | 'membership'>;

/** Every listed member, in the order of the serials; empty while no quorum says. */
export function memberViews(observation: OfMembers): MemberView[] {
  const { membership, pods, claims, probes } = observation;
  if (!membership.known) return [];
  const views = membership.members.map(member => {
    const ownName = nameFromUrls(observation, member.peerUrls);
    const name = member.name === '' ? (ownName ?? member.peerUrls.join()) : member.name;
    const answer = probes[name];
    const probe = answer?.answered === true && answer.memberId === member.id ? answer : undefined;
    return {
      id: member.id,
      name,
      ours: ownName === name,
      ...(ownName === name ? {} : otherDomain(observation, member.peerUrls)),
      isLearner: member.isLearner,
      started: member.started,
      pod: pods.find(pod => pod.owned && pod.name === name),
      claim: claims.find(claim => claim.owned && claim.name === name),
      probe,
      leads: leads(probe),
    };
  });
  return views.sort((a, b) => bySerial(a.name, b.name));
}

/** A member as it was last known, when no quorum lists the members now: what Kubernetes and the member itself say of it. */
export function lastKnownView({ cluster, pods, claims, probes }: Observation, name: string): MemberView {
  const known = cluster.status.members?.details?.find(detail => detail.name === name);
  const probe = probes[name];
  return {
    id: known?.id ?? '',
    name,
    ours: true,
    isLearner: known?.role === 'Learner',
    started: true,
    pod: pods.find(pod => pod.owned && pod.name === name),
    claim: claims.find(claim => claim.owned && claim.name === name),
    probe: probe?.answered === true ? probe : undefined,
    leads: leads(probe),
  };
}

/** The name for the next member: above every serial that was ever used. */
export function nextMember({
  cluster,
  pods,
  claims,
  members,
}: Pick<Observation, 'cluster' | 'pods' | 'claims'> & { readonly members: readonly MemberView[] }): string {
  const names = [...members, ...pods, ...claims].map(({ name }) => name);
  return memberName(cluster.name, nextSerial(lastSerialOf(cluster), names));
}

/** A voter that answers, has a leader and raises no alarm. */
export function isHealthy(view: MemberView): boolean {
  return view.probe !== undefined && view.probe.read.ok && view.probe.errors.length === 0;
}

/** The same, or one that has no space: it answers, reads, votes and may lead. */
export function isServing({ probe }: MemberView): boolean {
  return probe !== undefined && probe.read.ok && probe.errors.every(isNoSpace);
}

/** The same, or CORRUPT stands, which every member lists whosever it is: it votes. */
export function isVoting(view: MemberView): boolean {
  return isServing(withoutCorrupt(view));
}

/** The member as it would be without CORRUPT. */
export function withoutCorrupt(view: MemberView): MemberView {
  const { probe } = view;
  if (probe === undefined) return view;
  return { ...view, probe: { ...probe, errors: probe.errors.filter(error => !error.includes('CORRUPT')) } };
}

/** Its pod is there, and nobody is ending it. */
export function isStaying({ pod }: MemberView): boolean {
  return pod !== undefined && !pod.deleting;
}

/** What is wrong when a member is called as ours are, in another domain: it was changed under a living cluster. */
function otherDomain({ cluster }: OfMembers, peerUrls: readonly string[]): Pick<MemberView, 'domainFault'> {
  const { ClusterDomain: asked } = cluster.config.pod;
  const host = `.${cluster.name}.${cluster.namespace}.svc`;
  const [other] = peerUrls.filter(url => url.includes(host)).map(domainIn);
  return other === undefined || other === asked ? {} : { domainFault: domainFault(asked, other) };
}

function nameFromUrls(observation: OfMembers, peerUrls: readonly string[]): string | undefined {
  const candidates = peerUrls.map(url => /^https?:\/\/([^.]+)\./.exec(url)?.[1] ?? '');
  return candidates.find(
    name =>
      isNameOfMember(observation.cluster.name, name) &&
      peerUrls.includes(peerUrlOf(observation.cluster, name)),
  );
}
