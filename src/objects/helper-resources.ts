/**
 * What a pod that works for a cluster requests, beside what it needs: whatever the cluster's own pods say. A quota on limits takes no pod
 * without limits, and a quota on CPU none without CPU. Pure.
 */
import type { RawObject } from '../api/schemas/types.ts';
import { parseQuantity } from '../api/values/quantity.ts';
import { optionalField } from './placement.ts';

type Amounts = Readonly<Record<string, string | number>>;

export interface Resources {
  readonly requests?: Amounts;
  readonly limits?: Amounts;
}

/**
 * What the container needs itself, and of the template (`spec.pod.resources`) what it does not speak of. A limit is never below
 * what the container requests.
 */
export function helperResources(own: Resources, template: RawObject | undefined): Resources {
  const { requests: theirs, limits: most } = (template ?? {}) as Resources;
  const requests: Amounts = { ...theirs, ...own.requests };
  const limits = Object.entries({ ...most, ...own.limits }).map(
    ([name, limit]) => [name, larger(limit, requests[name])] as const,
  );
  return { requests, ...optionalField('limits', Object.fromEntries(limits)) };
}

function larger(limit: string | number, request: string | number | undefined): string | number {
  if (request === undefined) return limit;
  return (parseQuantity(limit) ?? 0) < (parseQuantity(request) ?? 0) ? request : limit;
}
