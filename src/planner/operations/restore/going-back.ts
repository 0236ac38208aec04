/**
 * An incarnation that is kept is gone back to: it is recorded again as it was, its members start on their own claims as repair starts any,
 * and what ran until then is kept in its place. No volume is written to, and none is deleted, whichever way it ends. Pure.
 */
import type { Incarnation } from '../../../api/schemas/types.ts';
import { returnTo } from '../../checks/kept-incarnation.ts';
import { memberOf } from '../../model/identity.ts';
import type { ClaimFacts } from '../../model/observation.ts';
import type { RestoreOfCluster } from '../../model/restore-of-cluster.ts';
import { restoreUnderWay } from '../../model/restore-of-cluster.ts';
import type { Situation } from '../../model/situation.ts';
import type { StepOf } from '../../model/step-catalogue.ts';
import { identify } from '../../model/steps/row.ts';

/** What is recorded, and what follows. */
interface GoneBackTo {
  readonly incarnation: Incarnation;
  /** That was started on all of its claims last, or before the upgrade that was under way. */
  readonly version: string;
  readonly back: NonNullable<StepOf<'switchIncarnation'>['back']>;
  readonly starts: readonly StepOf<'restartMember'>[];
}

/** What is gone back to for this restore; undefined: it brings a backup, or the data of a survivor. */
export function goneBackTo(
  situation: Situation,
  { name, uid, source, incarnation: token }: RestoreOfCluster,
): GoneBackTo | undefined {
  if (token === undefined) return undefined;
  const judged = returnTo(situation, token);
  // v8 ignore next -- an EtcdRestore begins only after this check
  if ('fault' in judged) return undefined;
  const { clusterId, since, revision, members, claims, version } = judged.found;
  return {
    incarnation: {
      token,
      members: members.map(member => memberOf(situation.cluster, member.name)),
      ...(since !== undefined && { createdAt: since }),
      restore: {
        name,
        uid,
        location: source?.location ?? '',
        ...(revision !== undefined && { revision }),
        returned: true,
      },
    },
    version,
    back: { clusterId, members, claims: identify(claims) },
    starts: claims.map(claim => ({
      kind: 'restartMember',
      token,
      member: claim.name,
      claimUid: claim.uid,
      ...(claim.version !== version && { version: claim.version }),
    })),
  };
}

/** Whether the restore under way has gone back to an incarnation that was kept. */
export function isReturn({ cluster }: Pick<Situation, 'cluster'>): boolean {
  return restoreUnderWay(cluster)?.returned === true;
}

/** The incarnation that the restore under way took the place of. */
export function tokenBefore({ cluster }: Pick<Situation, 'cluster'>): string | undefined {
  return cluster.status.previousIncarnation?.incarnation?.token;
}

/** Claims of members, which still say what they were when they were left. */
export function released(situation: Situation): Pick<StepOf<'concludeRestore'>, 'release'> {
  if (!isReturn(situation)) return {};
  return { release: identify(situation.members.flatMap(({ claim }) => claim ?? [])) };
}

/** The claims of the members that ran before, whether they say already that they are in use again or not. */
export function claimsBefore(situation: Situation): readonly ClaimFacts[] {
  const { members = [] } = situation.cluster.status.previousIncarnation ?? {};
  const former = tokenBefore(situation);
  return situation.claims.filter(({ token, name }) => token === former && members.includes(name));
}

/** What is kept again when it is left again. */
export function keptAgain({ claims }: Situation): NonNullable<StepOf<'revertRestore'>['again']> {
  return { keep: identify(claims.filter(claim => claim.owned)) };
}
