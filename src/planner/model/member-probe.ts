/** What one member says of itself. */
import type { MemberStatus, MemberVersion } from '../../etcd/answers.ts';

/** What one member said when it was asked, or why it could not be asked. Unreachable never means dead. */
export type MemberProbe =
  | (MemberStatus & {
      readonly answered: true;
      /** Whether a linearizable read through this member went through, and if not, why. */
      readonly read:
        | { readonly ok: true /** The revision that was read. */; readonly revision?: string }
        | { readonly ok: false; readonly message: string; readonly denied?: boolean };
      /** Asked only while the version of the cluster is to change: what `/version` says, or why nothing. */
      readonly agreed?: Partial<Pick<MemberVersion, 'cluster' | 'storage' | 'downgrade'>> | undefined;
    })
  | {
      readonly answered: false;
      readonly message: string;
      /** It asks for a user that the operator is not. */
      readonly denied?: boolean;
    };

/** What a member said that answered. */
export type AnsweredProbe = Extract<MemberProbe, { answered: true }>;

/** Whether the member says itself that it leads: leaders are known by this, and by nothing else. */
export function leads(probe: MemberProbe | undefined): probe is AnsweredProbe {
  return probe?.answered === true && probe.leaderId === probe.memberId;
}

/** A member that says that it leads. */
export interface LeadingMember {
  readonly name: string;
  readonly probe: AnsweredProbe;
}

/** Who of the members that were asked says that it leads; undefined when none does. */
export function leaderAmong(probes: Readonly<Record<string, MemberProbe>>): LeadingMember | undefined {
  for (const [name, probe] of Object.entries(probes)) if (leads(probe)) return { name, probe };
  return undefined;
}

/**
 * In which words the member denies the operator what it asks, as it wants a user that the operator is not. Undefined when it
 * says, or fails for another reason.
 */
export function denialOf(probe: MemberProbe): string | undefined {
  const failure = probe.answered ? probe.read : probe;
  return 'denied' in failure && failure.denied === true ? failure.message : undefined;
}

/** The size of the largest file among those of the members that answer, in bytes; undefined when none does. */
export function largestDatabase(probes: Readonly<Record<string, MemberProbe>>): number | undefined {
  const sizes = Object.values(probes).flatMap(probe => (probe.answered ? [probe.dbSize] : []));
  return sizes.length === 0 ? undefined : Math.max(...sizes);
}
