/** Reading and writing the EtcdRequests of a resource, always guarded by uid and resource version. */
import { isKnownAction, isOpen, removalOf } from '../../api/derived/requests.ts';
import {
  API_VERSION,
  REQUEST_BACKUP_FIELD,
  REQUEST_CLUSTER_FIELD,
  REQUEST_KIND,
  workflowId,
} from '../../api/names.ts';
import type { EtcdRequest } from '../../api/schemas/types.ts';
import { parseTimestamp } from '../../api/values/time.ts';
import { isConflict, isNotFound, KubeError } from '../../kube/errors.ts';
import type { KubeClient } from '../../kube/port.ts';
import { isAbout, isAccepted, orphaned, type Target } from '../../planner/requests/common.ts';
import {
  type Judge,
  type Outcome,
  type RequestChange,
  requestEvent,
  requestStatus,
} from '../../planner/requests/status.ts';
import type { Dependencies } from '../runtime/dependencies.ts';
import type { ClusterRef } from '../runtime/cluster-reference.ts';
import { listSelected } from './selected.ts';

type Ports = Pick<Dependencies, 'kube' | 'recordEvent' | 'onRequest' | 'logger' | 'now'>;
type Named = Pick<Target, 'kind' | 'namespace' | 'name'>;

/** All of this resource, finished ones included; none where the kind is not installed. */
export async function requestsAbout(kube: KubeClient, about: Named): Promise<readonly EtcdRequest[]> {
  const { kind, namespace, name } = about;
  const field = kind === 'EtcdBackup' ? REQUEST_BACKUP_FIELD : REQUEST_CLUSTER_FIELD;
  try {
    const objects = await listSelected(kube, REQUEST_KIND, { namespace, field, values: [name] });
    return (objects as unknown as EtcdRequest[]).filter(
      request => isAbout(request, about) && request.metadata.deletionTimestamp === undefined,
    );
  } catch (error) {
    if (isNotFound(error)) return [];
    throw error;
  }
}

/**
 * Records what is accepted, before anything comes of it. Fails with a Conflict when a request changed since it was read, or is gone.
 * @returns the changes, of the requests as they are now
 */
export async function recordAccepted(
  deps: Ports,
  changes: readonly RequestChange[],
  judge: Judge,
): Promise<readonly RequestChange[]> {
  const after: RequestChange[] = [];
  for (const change of changes) {
    const { request, accepted } = change;
    const isNew = accepted !== undefined && !isAccepted(request);
    after.push(
      isNew ? { ...change, request: await record(deps, { request, outcome: accepted }, judge) } : change,
    );
  }
  return after;
}

/** Records what became of the others, and deletes those that have been finished for long. What changed meanwhile is left to the next pass. */
export async function recordOutcomes(
  deps: Ports,
  {
    changes,
    requests,
  }: { readonly changes: readonly RequestChange[]; readonly requests: readonly EtcdRequest[] },
  judge: Judge,
): Promise<void> {
  for (const { request, outcome } of changes)
    if (outcome !== undefined) await unlessChanged(() => record(deps, { request, outcome }, judge));
  for (const request of requests) {
    const { namespace, name, uid } = request.metadata;
    const ref = { apiVersion: API_VERSION, kind: REQUEST_KIND, namespace, name };
    if ((removalOf(request) ?? Number.POSITIVE_INFINITY) <= judge.now)
      await unlessChanged(() => deps.kube.delete(ref, { uid }));
  }
}

/** Of a resource that is gone, or never was: nothing comes of its requests any more. */
export async function recordOrphans(
  deps: Ports,
  { kind, ...ref }: ClusterRef & { readonly kind: Target['kind'] },
): Promise<void> {
  const { namespace, name } = ref;
  const requests = await requestsAbout(deps.kube, { kind, namespace, name });
  if (requests.length === 0) return;
  const present = await deps.kube.get({ apiVersion: API_VERSION, kind, namespace, name });
  const now = deps.now();
  const target = { kind, namespace, name, workflowId: workflowId({ kind, ...ref }) };
  const other = parseTimestamp(present?.metadata.creationTimestamp);
  const changes = orphaned(requests, target, { now, other });
  await recordOutcomes(deps, { changes, requests }, { workflowId: target.workflowId, now });
}

/**
 * The first step of what they asked for accepts them, before it begins.
 * @returns whether it is still wanted: none of them has ended otherwise, or one at least is open
 */
export async function acceptRequests(
  deps: Ports,
  { kind, ...ref }: ClusterRef & { readonly kind: Target['kind'] },
  { uids, outcome }: { readonly uids: readonly string[]; readonly outcome: Outcome },
): Promise<boolean> {
  const requests = await requestsAbout(deps.kube, { kind, ...ref });
  const open = requests.filter(request => uids.includes(request.metadata.uid) && isOpen(request));
  for (const request of open) {
    // A pass has said for whom it is.
    const { workflowID = workflowId({ kind, ...ref }), runID } = request.status ?? {};
    const judge = { workflowId: workflowID, runId: runID, now: deps.now() };
    await record(deps, { request, outcome }, judge);
  }
  const hasEnded = requests.some(request => uids.includes(request.metadata.uid) && !isOpen(request));
  return open.length > 0 || !hasEnded;
}

async function record(
  deps: Ports,
  { request, outcome }: { readonly request: EtcdRequest; readonly outcome: Outcome },
  judge: Judge,
): Promise<EtcdRequest> {
  const status = requestStatus(request, outcome, judge);
  if (status === undefined) return request;
  const { namespace, name, uid, resourceVersion } = request.metadata;
  const stored = await deps.kube
    .patch(
      { apiVersion: API_VERSION, kind: REQUEST_KIND, namespace, name },
      { metadata: { uid, resourceVersion }, status },
      { type: 'merge', subresource: 'status' },
    )
    .catch((error: unknown) => {
      throw isNotFound(error) ? gone(namespace, name) : error;
    });
  const { phase = 'Pending' } = status;
  const { action } = request.spec;
  if (request.status?.phase === phase) return stored as unknown as EtcdRequest;
  deps.logger.info('EtcdRequest', { namespace, name, action, phase });
  deps.recordEvent({ kind: REQUEST_KIND, namespace, name, uid }, requestEvent(status));
  if (status.completedAt !== undefined)
    deps.onRequest?.(isKnownAction(request.spec) ? action : 'Other', phase);
  return stored as unknown as EtcdRequest;
}

/** Who has deleted it has taken it back: the pass looks again. */
function gone(namespace: string, name: string): KubeError {
  return new KubeError({
    code: 409,
    reason: 'Conflict',
    retry: 'now',
    message: `EtcdRequest ${namespace}/${name} is gone`,
  });
}

async function unlessChanged(write: () => Promise<unknown>): Promise<void> {
  try {
    await write();
  } catch (error) {
    if (!isConflict(error) && !isNotFound(error)) throw error;
  }
}
