/**
 * What users ask for while a cluster runs. A request is judged by every pass: refused with a reason, accepted (from then
 * on it names exact ids, and is planned like everything else), or done. Requests wait for each other.
 */
import { goesToSleep } from '../model/hibernation.ts';
import { isHealthy, type MemberView } from '../model/member-view.ts';
import type { PersonRequest } from '../model/actor.ts';
import type { Situation } from '../model/situation.ts';
import { restoreUnderWay } from '../model/restore-of-cluster.ts';

/** What became of a request. */
export type Verdict =
  | { readonly id: PersonRequest['id']; readonly outcome: 'refused' | 'done'; readonly message: string }
  | {
      readonly id: PersonRequest['id'];
      readonly outcome: 'accepted';
      readonly ids: readonly string[];
      readonly message: string;
    };

/** The request whose turn it is; undefined when nobody asked for anything. */
export function requestUnderWay({ actor }: Pick<Situation, 'actor'>): PersonRequest | undefined {
  return actor?.requests?.find(({ ids }) => ids !== undefined);
}

/** The ids that a request of this kind is about, when its turn has come. */
export function askedIds(observation: Situation, kind: PersonRequest['kind']): readonly string[] {
  const request = requestUnderWay(observation);
  return request?.kind === kind ? (request.ids ?? []) : [];
}

/** One verdict for each request, as things are now. */
export function judgeRequests(observation: Situation, requests: readonly PersonRequest[] = []): Verdict[] {
  return requests.map(request => {
    const { id, ids } = request;
    const judgement =
      ids === undefined ? judgeNew(observation, request) : judgeAccepted(observation, request, ids);
    if (Array.isArray(judgement))
      return { id, outcome: 'accepted', ids: judgement, message: accepted(request) };
    return { id, ...(judgement as { outcome: 'refused' | 'done'; message: string }) };
  });
}

type Judgement = readonly string[] | { readonly outcome: 'refused' | 'done'; readonly message: string };

/** Whether it can be taken on at all, and the ids of what it is about. */
function judgeNew(observation: Situation, request: PersonRequest): Judgement {
  const { cluster, membership } = observation;
  if (cluster.deleting) return refused('the cluster is being deleted');
  if (cluster.status.clusterID === undefined) return refused('the cluster is still being created');
  if (goesToSleep(observation))
    return refused('the cluster is hibernated: set spec.hibernated to false first');
  if (!membership.known)
    return refused(`no quorum answers, so the member list is not known: ${membership.message}`);
  const { members: views } = observation;
  const view = views.find(({ name, id }) => [name, id].includes(request.target));
  if (request.target !== '' && view === undefined) {
    const names = views.map(({ name }) => name).join(', ');
    return refused(`${request.target} is not a member; the members are ${names}`);
  }
  return request.kind === 'restart' ? judgeRestart(observation, view) : judgeForMember(request.kind, view);
}

function judgeForMember(kind: 'replaceMember' | 'moveLeader', view: MemberView | undefined): Judgement {
  if (view === undefined) return refused('the request names no member');
  const { name, id } = view;
  if (!view.ours) return refused(`${name} was added manually, and the operator does not change it`);
  if (view.isLearner)
    return refused(`${name} is a learner: the operator promotes it, or removes it when you send abort`);
  if (kind === 'replaceMember') return [id];
  if (view.leads) return { outcome: 'done', message: `${name} is already the leader` };
  return isHealthy(view)
    ? [id]
    : refused(`${name} is not known to be healthy, so it cannot become the leader`);
}

function judgeRestart({ cluster, pods }: Situation, view: MemberView | undefined): Judgement {
  if (cluster.status.storage?.kind === 'EmptyDir')
    return refused(
      'the members store their data in their pods: a restart would delete the data of the member',
    );
  const meant = pods.filter(pod => pod.owned && (view === undefined || pod.name === view.name));
  return meant.length === 0 ? refused('there is no pod to restart') : meant.map(({ uid }) => uid);
}

/** How far an accepted request has come. */
function judgeAccepted(observation: Situation, request: PersonRequest, ids: readonly string[]): Judgement {
  const { cluster, membership, pods } = observation;
  if (cluster.deleting) return refused('the cluster is being deleted');
  if (request.kind === 'restart') {
    const isBack = pods.every(pod => !pod.owned || (!ids.includes(pod.uid) && pod.ready));
    return isBack ? { outcome: 'done', message: 'restarted' } : ids;
  }
  if (restoreUnderWay(cluster) !== undefined)
    return refused(`a restore replaces the cluster, including ${request.target}`);
  if (!membership.known) return ids;
  const { members: views } = observation;
  const view = views.find(({ id }) => ids.includes(id));
  if (request.kind === 'moveLeader') {
    if (view === undefined) return refused(`${request.target} is no longer a member`);
    return view.leads ? { outcome: 'done', message: `${request.target} is the leader` } : ids;
  }
  const isWhole = views.length >= cluster.config.size && !views.some(({ isLearner }) => isLearner);
  return view === undefined && isWhole ? { outcome: 'done', message: `${request.target} was replaced` } : ids;
}

function refused(message: string): Judgement {
  return { outcome: 'refused', message };
}

function accepted({ kind, target }: PersonRequest): string {
  return `${kind} ${target === '' ? 'of all members' : target} is accepted: send the query plan to see its progress`;
}
