/** Reading and reporting a custom resource: the same for all kinds, always guarded by its uid and resource version. */
import { isDeepStrictEqual } from 'node:util';
import type { ResourceEvent } from '../../api/events.ts';
import { API_VERSION, type Kind } from '../../api/names.ts';
import { isConflict } from '../../kube/errors.ts';
import type { KubeClient, KubeObject } from '../../kube/port.ts';
import type { ClusterRef } from '../runtime/cluster-reference.ts';
import type { Dependencies } from '../runtime/dependencies.ts';
import { timestamp } from '../../api/values/time.ts';
import { type ReadResource, replaceStatus, saysFailing, withoutWatchers } from './status-writing.ts';

/** How often an attempt is made, of which each begins again because the resource changed under it: an observation is expensive. */
const ATTEMPTS = 2;
/** How often the same status is written, each time under the resource version that the resource has by then. */
const WRITES = 3;

/** The custom resource of this uid; undefined when it is gone, also when another one stands under its name. */
export async function readResource(
  kube: KubeClient,
  kind: Kind,
  { namespace, name, uid }: ClusterRef,
): Promise<KubeObject | undefined> {
  const object = await kube.get({ apiVersion: API_VERSION, kind, namespace, name });
  return object?.metadata.uid === uid ? object : undefined;
}

/**
 * Repeats `attempt` once when it fails with a Conflict, because the resource changed since it was read. Each attempt reads the resource
 * again.
 * @param otherwise what is answered when both attempts failed so; left out: the Conflict is thrown
 */
export async function retryOnConflict<T>(
  attempt: () => Promise<T>,
  otherwise?: () => Promise<T>,
): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await attempt();
    } catch (error) {
      if (!isConflict(error)) throw error;
      if (tries < ATTEMPTS) continue;
      if (otherwise === undefined) throw error;
      return otherwise();
    }
  }
}

/** What is reported to users when the status of a resource changes: events, each logged as well. */
export interface StatusChange<Status> {
  readonly before: Status;
  readonly after: Status;
}

/**
 * Replaces the status that the operator owns when it differs from what was read, or passes failed before, and records the events that follow from the change.
 * Fails with a Conflict when the status changed since it was read, or the resource changes all the time.
 * @returns what changed; undefined when nothing did and nothing was written
 */
export async function reportStatus<Status extends NonNullable<ReadResource['status']>>(
  deps: Dependencies,
  resource: ReadResource & { readonly status?: Status | undefined },
  {
    status,
    events,
  }: { readonly status: Status; readonly events: (change: StatusChange<Status>) => readonly ResourceEvent[] },
): Promise<StatusChange<Status> | undefined> {
  const change = { before: withoutWatchers(resource.status ?? ({} as Status)), after: status };
  if (isDeepStrictEqual(change.before, status) && !saysFailing(resource.status ?? {})) return undefined;
  await writeStatus(deps, resource, change);
  const { kind } = resource;
  const { namespace, name, uid } = resource.metadata;
  for (const event of events(change)) {
    deps.recordEvent({ kind, namespace, name, uid }, event);
    deps.logger.info('resource changed', {
      kind,
      namespace,
      name,
      reason: event.reason,
      detail: event.message,
    });
  }
  return change;
}

/**
 * Writes a status that was computed from what was read. A resource that changed meanwhile is read again, and nothing else is: as long
 * as its status is still the one that the new one follows from, nothing that anybody recorded is lost, and a specification that was
 * edited in this moment might as well have been edited in the next: `observedGeneration` says which one the status is about.
 */
async function writeStatus<Status extends NonNullable<ReadResource['status']>>(
  deps: Pick<Dependencies, 'kube' | 'now'>,
  resource: ReadResource,
  { before, after }: StatusChange<Status>,
): Promise<void> {
  let current = resource;
  for (let written = 1; ; written += 1) {
    try {
      await replaceStatus(deps.kube, current, { status: after, passedAt: timestamp(deps.now()) });
      return;
    } catch (error) {
      if (!isConflict(error) || written >= WRITES) throw error;
      const found = await readResource(deps.kube, resource.kind, resource.metadata);
      const status = (found?.['status'] ?? {}) as Status;
      if (found === undefined || !isDeepStrictEqual(withoutWatchers(status), before)) throw error;
      current = { ...resource, metadata: { ...resource.metadata, ...found.metadata }, status };
    }
  }
}
