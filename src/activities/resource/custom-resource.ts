/** Reading and reporting a custom resource: the same for all kinds, always guarded by its uid and resource version. */
import { isDeepStrictEqual } from 'node:util';
import type { ResourceEvent } from '../../api/events.ts';
import { API_VERSION, type Kind } from '../../api/names.ts';
import { isConflict } from '../../kube/errors.ts';
import type { KubeClient, KubeObject } from '../../kube/port.ts';
import type { ClusterRef } from '../runtime/cluster-reference.ts';
import type { Dependencies } from '../runtime/dependencies.ts';
import { type ReadResource, replaceStatus, withoutWatchers } from './status-writing.ts';

/** How often an attempt starts again because the resource changed under it. */
const ATTEMPTS = 5;

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
 * Repeats `attempt` when it fails with a Conflict, because the resource changed since it was read. Each attempt reads the resource
 * anew.
 */
export async function retryOnConflict<T>(attempt: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await attempt();
    } catch (error) {
      if (!isConflict(error) || tries >= ATTEMPTS) throw error;
    }
  }
}

/** What is told to people when the status of a resource changes: events, each logged as well. */
export interface StatusChange<Status> {
  readonly before: Status;
  readonly after: Status;
}

/**
 * Replaces the status that the operator owns when it differs from what was read, and records the events that follow from the change.
 * Fails with a Conflict when the resource changed since it was read.
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
  if (isDeepStrictEqual(change.before, status)) return undefined;
  await replaceStatus(deps.kube, resource, status);
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
