/** Passes of a resource fail, for about a minute: a workflow has the resource say so. */
import { Context } from '@temporalio/activity';
import { conditionOf } from '../../api/conditions/advice.ts';
import type { Condition } from '../../api/conditions/catalogue.ts';
import { passFails, statusWith } from '../../api/derived/beside-passes.ts';
import { API_VERSION, type Kind, type ResourceId } from '../../api/names.ts';
import { timestamp } from '../../api/values/time.ts';
import type { Dependencies } from '../runtime/dependencies.ts';
import { readResource, retryOnConflict } from './custom-resource.ts';

export interface PassFailureReport {
  readonly kind: Kind;
  /** Of the last pass. */
  readonly message: string;
  /** Since when, in milliseconds since the epoch. */
  readonly since: number;
  /** How often the tries of a pass were used up, from 1. */
  readonly times: number;
}

/**
 * Writes the condition, and takes away what nobody observes any more; the first time an event and a line in the log say it too, whatever keeps
 * the status from being written. The next pass that succeeds takes it back.
 */
export async function reportPassFailure(
  deps: Dependencies,
  { namespace, name, uid }: ResourceId,
  { kind, message, since, times }: PassFailureReport,
): Promise<void> {
  const ref = { kind, namespace, name, uid };
  const found = passFails(kind, { message, since: new Date(since) });
  const report = () => {
    deps.logger.warn('no pass has succeeded', { ...ref, reason: found.reason, detail: message });
    deps.recordEvent(ref, { type: 'Warning', reason: found.reason, message: found.message });
  };
  try {
    await retryOnConflict(async () => {
      const object = await readResource(deps.kube, kind, ref);
      if (object === undefined) return;
      const status = (object['status'] ?? {}) as { readonly conditions?: readonly Condition[] };
      const before = conditionOf(status, found.type);
      if (before?.status === found.status && before.reason === found.reason) return;
      const { resourceVersion } = object.metadata;
      await deps.kube.patch(
        { apiVersion: API_VERSION, kind, namespace, name },
        {
          metadata: { uid, resourceVersion },
          status: statusWith({ ...object, status }, found, timestamp(deps.now())),
        },
        { type: 'merge', subresource: 'status' },
      );
      report();
    });
  } catch (error) {
    if (times === 1 && Context.current().info.attempt === 1) report();
    throw error;
  }
}
