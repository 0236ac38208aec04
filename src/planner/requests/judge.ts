/** What becomes of the requests that operations of the cluster carry out: each is judged by the row of its operation. Pure. */
import { OPERATION_OF } from '../../api/actions.ts';
import { refused } from '../checks/user-requests.ts';
import { goesToSleep } from '../model/hibernation.ts';
import type { UserRequest } from '../model/workflow-state.ts';
import type { Judgement, RequestRow } from '../model/operation.ts';
import type { Situation } from '../model/situation.ts';
import { OPERATIONS } from '../operations/index.ts';

/** What became of a request. */
export type Verdict =
  | { readonly id: UserRequest['id']; readonly outcome: 'refused' | 'done'; readonly message: string }
  | {
      readonly id: UserRequest['id'];
      readonly outcome: 'accepted';
      readonly ids: readonly string[];
      readonly message: string;
    };

/** One verdict for each request, as things are now. */
export function judgeRequests(situation: Situation, requests: readonly UserRequest[] = []): Verdict[] {
  return requests.map(request => {
    const { id, ids } = request;
    const judgement =
      ids === undefined ? judgeNew(situation, request) : judgeAccepted(situation, request, ids);
    if ('outcome' in judgement) return { id, ...judgement };
    return { id, outcome: 'accepted', ids: judgement, message: accepted(request) };
  });
}

/** Those that are not done, with the ids that a verdict has fixed. */
export function stillOpen(requests: readonly UserRequest[], verdicts: readonly Verdict[]): UserRequest[] {
  return requests.flatMap(request => {
    const verdict = verdicts.find(({ id }) => id === request.id);
    return verdict?.outcome === 'accepted' ? [{ ids: verdict.ids, ...request }] : [];
  });
}

/** Whether it can be taken on at all, and the ids of what it is about. */
function judgeNew(situation: Situation, request: UserRequest): Judgement {
  const { cluster, membership } = situation;
  if (cluster.deleting) return refused('the cluster is being deleted');
  if (cluster.status.clusterID === undefined) return refused('the cluster is still being created');
  if (goesToSleep(situation)) return refused('the cluster is hibernated: set spec.hibernated to false first');
  if (!membership.known)
    return refused(`no quorum answers, so the member list is not known: ${membership.message}`);
  const { members: views } = situation;
  const view = views.find(({ name, id }) => [name, id].includes(request.target));
  if (request.target !== '' && view === undefined) {
    const names = views.map(({ name }) => name).join(', ');
    return refused(`${request.target} is not a member; the members are ${names}`);
  }
  return rowFor(request).begin(situation, view);
}

/** How far an accepted request has come. */
function judgeAccepted(situation: Situation, request: UserRequest, ids: readonly string[]): Judgement {
  if (situation.cluster.deleting) return refused('the cluster is being deleted');
  return rowFor(request).progress(situation, request, ids);
}

function rowFor({ kind }: UserRequest): RequestRow {
  return OPERATIONS[OPERATION_OF[kind]].request;
}

function accepted({ kind, target }: UserRequest): string {
  return `${kind} ${target === '' ? 'of all members' : target} is accepted; "kubectl etcd explain" and the query plan show its progress`;
}
