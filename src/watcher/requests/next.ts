/** What follows from the state of an EtcdRequest. Pure. */
import { type ResourceRef, workflowId } from '../../api/names.ts';
import type { EtcdRequest } from '../../api/schemas/types.ts';
import { parseTimestamp } from '../../api/values/time.ts';
import { removalOf, targetOf } from './known-request.ts';
import { resourceMissing, type Saying } from './status.ts';

export type Next =
  | { readonly kind: 'rest' }
  | { readonly kind: 'remove' }
  | { readonly kind: 'say'; readonly saying: Saying }
  /** Send it to the workflow of this resource. */
  | { readonly kind: 'deliver'; readonly target: ResourceRef }
  /** Ask this workflow, which has it, what became of it. */
  | { readonly kind: 'ask'; readonly target: ResourceRef };

/** A cluster that is created together with its request may be seen after it. */
const SEEN_WITHIN_MS = 10_000;

/** @param target what it is about, if that exists; `now` in milliseconds since the epoch */
export function nextOf(object: EtcdRequest, target: ResourceRef | undefined, now: number): Next {
  const removal = removalOf(object);
  if (removal !== undefined) return now >= removal ? { kind: 'remove' } : { kind: 'rest' };
  const delivered = object.status?.workflowID;
  if (target === undefined || (delivered !== undefined && delivered !== workflowId(target))) {
    const created = parseTimestamp(object.metadata.creationTimestamp ?? undefined) ?? now;
    if (delivered === undefined && now - created < SEEN_WITHIN_MS) return { kind: 'rest' };
    const { kind, name } = targetOf(object.spec);
    return { kind: 'say', saying: resourceMissing(object, `${kind} ${name}`) };
  }
  return delivered === undefined ? { kind: 'deliver', target } : { kind: 'ask', target };
}
