/** How an EtcdRequest reaches the workflow of its resource, and how what became of it is asked for. */
import {
  type Client,
  QueryNotRegisteredError,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
} from '@temporalio/client';
import { type ResourceRef, workflowId } from '../../api/names.ts';
import type { GivenRequest } from '../../api/values/requests.ts';
import type { RequestUpdate } from '../requests/message.ts';
import { callsOf } from './calls.ts';

/** What became of a request in its workflow; `unknown`: the workflow does not know it. */
export type Became = Pick<GivenRequest, 'state' | 'message' | 'verdict'> | 'unknown' | 'notRunning';

/** `noHandler`: the worker that had it is of a release that does not know such requests, and nothing has happened. */
export type Delivered = Became | 'noHandler';

/** Every call rejects when it takes longer than its deadline, or soon after `abort` is raised: then it is not known whether it arrived. */
export interface RequestPort {
  /** Sends the update; the same once more is answered as the first. `runId`: of the run that took it. */
  deliver(
    ref: ResourceRef,
    update: RequestUpdate,
    abort: AbortSignal,
  ): Promise<{ readonly became: Delivered; readonly runId?: string | undefined }>;
  /** What became of the request with this uid. */
  became(ref: ResourceRef, uid: string, abort: AbortSignal): Promise<Became>;
}

const DEADLINE_MS = 10_000;
/** An approval waits up to 30 s for the pass that shows whether it is needed. */
const APPROVAL_DEADLINE_MS = 35_000;

/** The port on a real client. @param current asked anew for each call */
export function requestPort(current: () => Client): RequestPort {
  const call = callsOf(current, DEADLINE_MS);
  const approve = callsOf(current, APPROVAL_DEADLINE_MS);
  return {
    deliver: (ref, update, abort) =>
      (update.name === 'approve' ? approve : call)(abort, client => deliver(client, ref, update)),
    became: (ref, uid, abort) => call(abort, client => became(client, ref, { uid })),
  };
}

async function deliver(client: Client, ref: ResourceRef, { name, argument }: RequestUpdate) {
  const { uid } = argument.request;
  try {
    const handle = await client.workflow
      .getHandle(workflowId(ref))
      .startUpdate<string, [unknown]>(name, { args: [argument], updateId: uid, waitForStage: 'ACCEPTED' });
    const answer = await handle.result();
    return { became: await became(client, ref, { uid, answer }), runId: handle.workflowRunId };
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return { became: 'notRunning' as const };
    if (!(error instanceof WorkflowUpdateFailedError)) throw error;
    const message = error.cause?.message ?? 'no reason was given';
    if (message.startsWith('No registered handler for update'))
      return { became: await becameBefore(client, ref, uid) };
    return { became: { state: 'refused' as const, message } };
  }
}

/** Of one that no handler was found for: another worker may have had it before, and its answer been lost. */
async function becameBefore(client: Client, ref: ResourceRef, uid: string): Promise<Delivered> {
  try {
    const known = await became(client, ref, { uid });
    return known === 'unknown' ? 'noHandler' : known;
  } catch (error) {
    if (error instanceof QueryNotRegisteredError) return 'noHandler';
    throw error;
  }
}

/** `answer`: of the update, when it has been answered. */
async function became(
  client: Client,
  ref: ResourceRef,
  { uid, answer }: { readonly uid: string; readonly answer?: string },
): Promise<Became> {
  try {
    const handle = client.workflow.getHandle(workflowId(ref));
    return (await handle.query<GivenRequest | null, [string]>('request', uid)) ?? 'unknown';
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return 'notRunning';
    // A worker of the former release: it has done what the update says, and remembers nothing.
    const isUnknownQuery = error instanceof QueryNotRegisteredError;
    if (isUnknownQuery && answer !== undefined) return { state: 'done', message: answer };
    throw error;
  }
}
