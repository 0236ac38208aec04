/** What follows from the state of an EtcdRequest. Pure. */
import { type ResourceRef, workflowId } from '../../api/names.ts';
import type { EtcdRequest } from '../../api/schemas/types.ts';
import { parseTimestamp } from '../../api/values/time.ts';
import { removalOf, targetOf } from './known-request.ts';
import { resourceMissing, resourceReplaced, type Saying } from './status.ts';

/** The resource of the name that a request gives, as it exists now. */
export interface Target {
  readonly ref: ResourceRef;
  /** Milliseconds since the epoch. */
  readonly createdAt: number | undefined;
}

export type Next =
  | { readonly kind: 'rest' }
  | { readonly kind: 'remove' }
  | { readonly kind: 'say'; readonly saying: Saying }
  /** Send it to the workflow of this resource. */
  | { readonly kind: 'deliver'; readonly target: ResourceRef }
  /** Ask this workflow, which has it, what became of it. */
  | { readonly kind: 'ask'; readonly target: ResourceRef };

/** A cluster that is created together with its request may be seen after it, and may be made after it. */
const SEEN_WITHIN_MS = 10_000;

/**
 * @param target what it is about, if that exists; `now` in milliseconds since the epoch. `bound`: the uid of the resource that had the
 * name when the request was first seen to
 */
export function nextOf(
  object: EtcdRequest,
  {
    target,
    bound,
    now,
  }: { readonly target: Target | undefined; readonly bound?: string | undefined; readonly now: number },
): Next {
  const removal = removalOf(object);
  if (removal !== undefined) return now >= removal ? { kind: 'remove' } : { kind: 'rest' };
  const delivered = object.status?.workflowID;
  if (delivered !== undefined) return nextOfDelivered(object, target, delivered);
  const created = parseTimestamp(object.metadata.creationTimestamp ?? undefined) ?? now;
  const what = whatOf(object);
  if (target === undefined) {
    const mayCome = bound === undefined && now - created < SEEN_WITHIN_MS;
    return mayCome ? { kind: 'rest' } : { kind: 'say', saying: resourceMissing(object, what) };
  }
  // It was meant for the one that had the name then.
  const isLater = target.createdAt !== undefined && target.createdAt > created + SEEN_WITHIN_MS;
  return isLater || (bound ?? target.ref.uid) !== target.ref.uid
    ? { kind: 'say', saying: resourceReplaced(object, what) }
    : { kind: 'deliver', target: target.ref };
}

function nextOfDelivered(object: EtcdRequest, target: Target | undefined, delivered: string): Next {
  return target !== undefined && delivered === workflowId(target.ref)
    ? { kind: 'ask', target: target.ref }
    : { kind: 'say', saying: resourceMissing(object, whatOf(object)) };
}

function whatOf({ spec }: EtcdRequest): string {
  const { kind, name } = targetOf(spec);
  return `${kind} ${name}`;
}
