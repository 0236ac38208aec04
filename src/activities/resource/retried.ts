/**
 * What users are shown of an activity that fails and is tried again: the condition `Retrying`, and an event. The activity that fails
 * writes it itself, since nothing else knows why. Passes write the conditions of a resource again, without it; so does the try that succeeds.
 */
import { ApplicationFailure, CancelledFailure, Context } from '@temporalio/activity';
import { conditionEvent } from '../../api/condition-event.ts';
import { type Condition, finding } from '../../api/conditions/catalogue.ts';
import { stamped, withCondition } from '../../api/conditions/stamped.ts';
import type { FailureType } from '../../api/failures.ts';
import type { Kind } from '../../api/names.ts';
import { messageOf } from '../../api/values/message-of.ts';
import { timestamp } from '../../api/values/time.ts';
import type { KubeObject } from '../../kube/port.ts';
import { withTimeLimit } from '../../kube/time-limit.ts';
import type { ClusterRef } from '../runtime/cluster-reference.ts';
import type { Dependencies } from '../runtime/dependencies.ts';
import { type ReadResource, replaceStatus } from './status-writing.ts';
import { readResource } from './custom-resource.ts';

const TYPE = 'Retrying';
/** Errors are long; what matters of one stands at its beginning. */
const LONGEST_MESSAGE = 1_024;
/** For all calls together: shorter than the time after which an activity without a heartbeat is given to another worker. */
const REPORT_MS = 3_000;

type Activity = (ref: ClusterRef, ...args: never[]) => Promise<unknown>;

/** The same activities; from its second failure on, each reports to users why it is tried again. */
export function reportingRetries<Activities extends Readonly<Record<string, Activity>>>(
  deps: Dependencies,
  kind: Kind,
  activities: Activities,
): Activities {
  const wrapped = Object.entries<Activity>(activities).map(
    ([name, activity]) => [name, reportingRetriesOf(deps, { kind, name }, activity)] as const,
  );
  return Object.fromEntries(wrapped) as unknown as Activities;
}

function reportingRetriesOf(
  deps: Dependencies,
  { kind, name }: { readonly kind: Kind; readonly name: string },
  activity: Activity,
): Activity {
  return async (ref, ...args) => {
    const { attempt } = Context.current().info;
    try {
      const result = await activity(ref, ...args);
      // The second failure is the first that is reported.
      if (attempt > 2) await note(deps, { kind, ref }, undefined);
      return result;
    } catch (failure) {
      if (attempt > 1 && isTriedAgain(failure)) {
        const message = `${name} fails and is tried again: ${messageOf(failure)}`.slice(0, LONGEST_MESSAGE);
        await note(deps, { kind, ref }, message);
      }
      throw failure;
    }
  };
}

function isTriedAgain(failure: unknown): boolean {
  if (failure instanceof CancelledFailure || Context.current().cancellationSignal.aborted) return false;
  if (!(failure instanceof ApplicationFailure)) return true;
  // One that waits for its turn has not failed.
  return failure.nonRetryable !== true && failure.type !== ('WaitsForTurn' satisfies FailureType);
}

/** Writes the condition, or takes it away. This is best effort: the activity's own outcome matters more. */
async function note(
  deps: Dependencies,
  { kind, ref }: { readonly kind: Kind; readonly ref: ClusterRef },
  message: string | undefined,
): Promise<void> {
  const end = deps.time.now() + REPORT_MS;
  const kube = withTimeLimit(deps.kube, () => end - deps.time.now());
  const { namespace, name } = ref;
  try {
    const resource = await readResource(kube, kind, ref);
    if (resource === undefined) return;
    const { generation } = resource.metadata;
    const status = statusOf(resource);
    const before = status.conditions?.find(({ type }) => type === TYPE);
    if (message === undefined) {
      if (before !== undefined)
        await replaceStatus(kube, asRead(resource, kind), { status: without(status) });
      return;
    }
    const said = finding(TYPE, 'ActivityFails', message);
    if (before !== undefined && isSame(before.message, said.message)) return;
    const stamp = { now: timestamp(deps.now()), generation };
    const condition = stamped(said, status.conditions, stamp);
    await replaceStatus(kube, asRead(resource, kind), { status: withTrouble(kind, status, condition) });
    deps.recordEvent({ kind, ...ref }, conditionEvent(condition));
    deps.logger.info('resource changed', {
      kind,
      namespace,
      name,
      reason: condition.reason,
      detail: message,
    });
  } catch (error) {
    deps.logger.info('failure not reported', { kind, namespace, name, error: messageOf(error) });
  }
}

/** Times, sizes and ports differ from one try to the next where the cause is the same. */
function isSame(one: string, other: string): boolean {
  const text = (message: string): string => message.replaceAll(/\d+/g, '#');
  return text(one) === text(other);
}

interface Status {
  readonly conditions?: readonly Condition[];
  readonly phase?: string;
  readonly progress?: { readonly message?: string; readonly waiting?: boolean };
}

function statusOf(resource: KubeObject): Status {
  return (resource['status'] ?? {}) as Status;
}

function asRead(resource: KubeObject, kind: Kind): ReadResource {
  return { ...resource, kind } as unknown as ReadResource;
}

/** A run of an EtcdBackup says besides why it does not get on. */
function withTrouble(kind: Kind, status: Status, condition: Condition): Status {
  const conditions = withCondition(status.conditions, condition);
  const { progress } = status;
  if (kind !== 'EtcdBackup' || progress === undefined || progress.waiting === true)
    return { ...status, conditions };
  return { ...status, conditions, phase: 'Retrying', progress: { ...progress, message: condition.message } };
}

function without({ conditions = [], ...status }: Status): Status {
  const others = conditions.filter(({ type }) => type !== TYPE);
  const { phase, progress } = status;
  if (phase !== 'Retrying' || progress === undefined) return { ...status, conditions: others };
  const { message: _, ...kept } = progress;
  return { ...status, conditions: others, phase: 'Running', progress: kept };
}
