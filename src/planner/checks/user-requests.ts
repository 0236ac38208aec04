/**
 * What users ask for while a cluster runs. A request is judged by every pass: refused with a reason, accepted (from then
 * on it names exact ids, and is planned like everything else), or done. Requests wait for each other. The operation that carries it out
 * judges it (`request` of its row); here is what such judgements share.
 */
import type { MemberView } from '../model/member-view.ts';
import type { UserRequest } from '../model/workflow-state.ts';
import type { Judgement, RequestRow } from '../model/operation.ts';
import type { Situation } from '../model/situation.ts';
import { restoreUnderWay } from '../model/restore-of-cluster.ts';

/** The request whose turn it is; undefined when nobody asked for anything. */
export function requestUnderWay({
  workflowState,
}: Pick<Situation, 'workflowState'>): UserRequest | undefined {
  return workflowState.requests?.find(({ ids }) => ids !== undefined);
}

/** The ids that a request of this kind is about, when its turn has come. */
export function askedIds(situation: Situation, kind: UserRequest['kind']): readonly string[] {
  const request = requestUnderWay(situation);
  return request?.kind === kind ? (request.ids ?? []) : [];
}

/** The judgement that it is not carried out, and why. */
export function refused(message: string): Judgement {
  return { outcome: 'refused', message };
}

/** The judgement that it is done. */
export function done(message: string): Judgement {
  return { outcome: 'done', message };
}

interface OfMember {
  /** What speaks against it, or that it is done already; undefined: it can be taken on. */
  readonly begin?: (view: MemberView, situation: Situation) => Judgement | undefined;
  /** `view`: the member, undefined when it is none any more. Undefined: it continues. */
  readonly progress: (
    situation: Situation,
    request: UserRequest,
    view: MemberView | undefined,
  ) => Judgement | undefined;
}

/** How requests about one voter are judged: while a quorum lists the members, and until a restore replaces them. */
export function aboutVoter({ begin, progress }: OfMember): RequestRow {
  return {
    begin(situation, view) {
      if (view === undefined) return refused('the request names no member');
      const { name, id } = view;
      if (!view.ours) return refused(`${name} was added manually, and the operator does not change it`);
      if (view.isLearner)
        return refused(`${name} is a learner: the operator promotes it, or removes it after an abort`);
      return begin?.(view, situation) ?? [id];
    },
    progress(situation, request, ids) {
      const { cluster, membership, members } = situation;
      if (restoreUnderWay(cluster) !== undefined)
        return refused(`a restore replaces the cluster, including ${request.target}`);
      if (!membership.known) return ids;
      const view = members.find(({ id }) => ids.includes(id));
      return progress(situation, request, view) ?? ids;
    },
  };
}
