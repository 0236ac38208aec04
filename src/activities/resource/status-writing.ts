/**
 * How status is written, of all three kinds: as a whole, by an update of the status subresource under the resource
 * version that it was read with (docs/decisions/0035-status-is-updated-as-a-whole.md).
 */
import { type Condition, WATCHER_CONDITIONS } from '../../api/conditions/catalogue.ts';
import { passSucceeded } from '../../api/derived/beside-passes.ts';
import type { Kind } from '../../api/names.ts';
import type { KubeClient, KubeObject } from '../../kube/port.ts';

/** A resource as it was read. */
export interface ReadResource {
  readonly apiVersion: string;
  readonly kind: Kind;
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly uid: string;
    readonly resourceVersion?: string | undefined;
  };
  readonly status?: Reported | undefined;
}

/** A status, as far as it is read here. */
interface Reported {
  readonly conditions?: readonly Condition[];
}

/**
 * Makes the status of a resource exactly `status`, whatever else wrote the resource before; only the conditions that the
 * watcher writes stay as they were read, but that a pass which succeeds takes back what was said of those that failed. Fails with a Conflict when the resource changed since it was read: status is
 * computed from the whole of it, so a stale one would undo what another pass recorded.
 * @param written `passedAt`: when this pass succeeded; left out: no pass has
 */
export function replaceStatus<Status extends Reported>(
  kube: KubeClient,
  resource: ReadResource,
  { status, passedAt }: { readonly status: Status; readonly passedAt?: string },
): Promise<KubeObject> {
  const { apiVersion, kind } = resource;
  const { name, namespace, uid, resourceVersion = '' } = resource.metadata;
  // Without one an update is unconditional.
  if (resourceVersion === '')
    throw new RangeError(`${kind} ${namespace}/${name} was not read from the apiserver`);
  const kept = (resource.status?.conditions ?? []).filter(isWatchers);
  const conditions = [
    ...(status.conditions ?? []).filter(condition => !isWatchers(condition)),
    ...(passedAt === undefined ? kept : passSucceeded(kept, passedAt)),
  ];
  return kube.replace(
    {
      apiVersion,
      kind,
      metadata: { name, namespace, uid, resourceVersion },
      status: {
        ...status,
        ...((status.conditions !== undefined || conditions.length > 0) && { conditions }),
      },
    },
    { subresource: 'status' },
  );
}

/** Whether the status says that passes fail, or that nobody knows whether they do. */
export function saysFailing({ conditions = [] }: Reported): boolean {
  return conditions.some(({ type, status }) => type === 'PassFailing' && status !== 'False');
}

/** The status without what the watcher writes. */
export function withoutWatchers<Status extends Reported>(status: Status): Status {
  if (status.conditions === undefined) return status;
  return { ...status, conditions: status.conditions.filter(condition => !isWatchers(condition)) };
}

function isWatchers({ type }: Condition): boolean {
  return WATCHER_CONDITIONS.includes(type);
}
