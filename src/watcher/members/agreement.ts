/** Whether the members of a cluster still say what its status says of them. Pure. */
import type { ReportedCluster, ReportedMember } from '../resources/reported-cluster.ts';

/** What one member says of itself, or that it does not answer. */
export type Answer =
  | {
      readonly answered: true;
      readonly memberId: string;
      readonly leaderId: string | undefined;
      readonly isLearner: boolean;
      readonly version: string;
      /** Bytes. */
      readonly dbSize: number;
      /** Alarms and "no leader", in etcd's words. */
      readonly errors: readonly string[];
      /** A linearizable read. */
      readonly read: { readonly ok: boolean };
    }
  | { readonly answered: false };

/** What the members of a cluster say, asked outside of a pass. */
export interface Survey {
  /** By name of the pod. */
  readonly probes: Readonly<Record<string, Answer>>;
  /** As a quorum lists them. */
  readonly membership:
    | {
        readonly known: true;
        readonly members: readonly {
          readonly id: string;
          /** Empty while it has never started. */
          readonly name: string;
          readonly peerUrls: readonly string[];
        }[];
      }
    | { readonly known: false; readonly message: string };
}

/**
 * What is not as the status says, in words for the log; undefined when everything is. A pass finds out what it means: here it is enough
 * that something differs.
 */
export function differenceFrom(
  reported: ReportedCluster,
  { probes, membership }: Survey,
): string | undefined {
  if (!membership.known) return `the member list is not known: ${membership.message}`;
  const { members: listed } = membership;
  if (listed.length !== reported.listed) return `${listed.length} members are listed`;
  const unknown = listed.find(
    ({ id, name }) => name !== '' && !reported.members.some(member => member.id === id),
  );
  if (unknown !== undefined) return `member ${unknown.id} is not in the status`;
  for (const member of reported.members) {
    const difference = differenceOf(member, probes[member.name]);
    if (difference !== undefined) return `${member.name} ${difference}`;
  }
  return undefined;
}

function differenceOf(member: ReportedMember, answer: Answer | undefined): string | undefined {
  if (answer === undefined || !answer.answered)
    return member.health === 'Healthy' ? 'does not answer' : undefined;
  if (answer.memberId !== member.id) return `is member ${answer.memberId}`;
  if (answer.version !== member.version) return `runs ${answer.version}`;
  const role = roleOf(answer);
  if (role !== member.role) return `is ${role}`;
  const health = answer.read.ok && answer.errors.length === 0 ? 'Healthy' : 'Unhealthy';
  return health === member.health ? undefined : `is ${health}`;
}

function roleOf({ isLearner, leaderId, memberId }: Answer & { readonly answered: true }): string {
  if (isLearner) return 'Learner';
  return leaderId === memberId ? 'Leader' : 'Follower';
}
