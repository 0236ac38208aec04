/** What an entity workflow knows that the world does not say, and the handlers of its messages. */
import { log, patched, setDefaultSignalHandler, setHandler } from '@temporalio/workflow';
import type { Actor, Assessment } from '../activities/index.ts';
import { planAnswer } from './answers.ts';
import { type Approval, handleApprovals, holding } from './approvals.ts';
import {
  abortSignal,
  abortUpdate,
  changedSignal,
  type Ending,
  pauseSignal,
  pauseUpdate,
  planQuery,
  progressSignal,
  type Request,
  resumeSignal,
  resumeUpdate,
  resyncSignal,
  type StatusAnswer,
  statusQuery,
} from './messages.ts';
import { handleRequests, type PersonRequest, takeBack } from './requests.ts';
import { requestFrom } from './words.ts';

/** Handlers only set fields; the entity's loop acts. That way nothing runs twice at once. */
export interface EntityState {
  /** Something changed since the last pass. */
  dirty: boolean;
  paused: Request | undefined;
  /** Asked for, not yet carried out. */
  abort: Request | undefined;
  aborted: Actor['aborted'];
  failed: Actor['failed'];
  /** Failures in a row, for the back-off. */
  failures: number;
  assessment: Assessment | undefined;
  /** How the operation ended, as it told; the only way to know it of one that another run of this entity started. */
  ending: Ending | undefined;
  /** The operation under way. */
  operation: string | undefined;
  /** Given and not used yet. */
  approvals: readonly Approval[];
  /** Asked for and not done yet. */
  requests: readonly PersonRequest[];
  /** What passes said of requests lately. */
  judged: NonNullable<Assessment['verdicts']>;
  /** Approvals are numbered, over all runs. */
  nextId: number;
  /** Passes that this run has seen. */
  passes: number;
  refused: string | undefined;
}

/** What survives into the next run. */
export type Carried = Pick<EntityState, 'paused' | 'aborted' | 'failed' | 'failures'> &
  // Runs of 0.1 did not know of these.
  Partial<Pick<EntityState, 'approvals' | 'requests' | 'nextId'>>;

/** What is handed to the next run. */
export function carriedOf(state: EntityState): Carried {
  const { paused, aborted, failed, failures, approvals, requests, nextId } = state;
  return { paused, aborted, failed, failures, approvals, requests, nextId };
}

/** The state of a new run. */
export function newState(carried: Carried | undefined): EntityState {
  return {
    dirty: true,
    paused: carried?.paused,
    abort: undefined,
    aborted: carried?.aborted,
    failed: carried?.failed,
    failures: carried?.failures ?? 0,
    assessment: undefined,
    ending: undefined,
    operation: undefined,
    approvals: carried?.approvals ?? [],
    requests: carried?.requests ?? [],
    judged: [],
    nextId: carried?.nextId ?? 1,
    passes: 0,
    refused: undefined,
  };
}

/** What handlers have done besides setting fields. */
export interface Reactions {
  /** Tells a running operation of a pause or an abort at once. Resolves when it has it, or is gone; never rejects. */
  forward(): Promise<void>;
  /** Shows people what a pass of the operation saw. */
  show(assessment: Assessment): void;
}

/** Registers every handler. */
export function handleMessages(state: EntityState, { forward, show }: Reactions): void {
  const pause = (request?: Request) => {
    state.paused = requestFrom(request);
    state.dirty = true;
    return forward();
  };
  const resume = () => {
    state.paused = undefined;
    state.dirty = true;
    return forward();
  };
  const abort = async (request?: Request) => {
    if (state.operation !== undefined) {
      state.abort = requestFrom(request);
      await forward();
    } else abortWhatWaits(state, requestFrom(request));
  };
  const resync = () => {
    Object.assign(state, { aborted: undefined, failed: undefined, failures: 0, dirty: true });
  };
  const describe = (description: string) => ({ description });
  setHandler(changedSignal, () => void (state.dirty = true), describe('look again (sent by the watcher)'));
  setHandler(pauseSignal, pause, describe('take no further step: {"by": "…", "reason": "…"}'));
  setHandler(resumeSignal, resume, describe('go on after pause'));
  setHandler(resyncSignal, resync, describe('look now; also takes back an abort'));
  setHandler(
    abortSignal,
    abort,
    describe('end the running operation at the next step: {"by": "…", "reason": "…"}'),
  );
  setHandler(pauseUpdate, async request => {
    await heard(pause(request));
    return 'paused: no further step is taken';
  });
  setHandler(resumeUpdate, async () => {
    await heard(resume());
    return 'resumed';
  });
  setHandler(abortUpdate, async request => {
    const { operation } = state;
    if (operation === undefined) return abortWhatWaits(state, requestFrom(request));
    await heard(abort(request));
    return `${operation} ends at its next step`;
  });
  handleApprovals(state, forward);
  handleRequests(state, forward);
  setHandler(progressSignal, ({ assessment, ending, used }) => {
    if (used !== undefined) state.approvals = state.approvals.filter(({ id }) => !used.includes(id));
    if (assessment !== undefined) show(assessment);
    if (ending !== undefined) state.ending = ending;
  });
  setDefaultSignalHandler(name => log.warn('unknown signal', { signal: name }));
  setHandler(statusQuery, () => statusAnswer(state), describe('what is, as the last pass saw it'));
  setHandler(planQuery, () => planAnswer(state.assessment), describe('what comes next, and why'));
}

/** With no operation running: takes back what was asked for, or keeps what waits for an approval from being done. */
function abortWhatWaits(state: EntityState, request: Request): string {
  const taken = takeBack(state);
  state.dirty = true;
  if (taken.length > 0) return `taken back: ${taken.join(', ')}`;
  const decision = state.assessment?.decision;
  const consent = decision?.kind === 'blocked' ? decision.consent : undefined;
  if (consent === undefined) return 'nothing to abort: no operation is running';
  const { operation } = consent;
  state.aborted = { operation, generation: state.assessment?.generation ?? 0, ...request };
  return `${operation} is not done until the specification changes or resync is sent`;
}

/** An update answers when the running operation has heard of it: until then a further step could begin. */
async function heard(delivery: Promise<void>): Promise<void> {
  if (patched('updates-answer-when-heard')) await delivery;
}

/** What people asked for, as the planner takes it. */
export function actorOf({ paused, aborted, failed, approvals, requests }: EntityState): Actor {
  return {
    ...(paused && { paused }),
    ...(aborted && { aborted }),
    ...(failed && { failed }),
    ...(approvals.length > 0 && { approvals }),
    ...(requests.length > 0 && { requests }),
  };
}

function statusAnswer(state: EntityState): StatusAnswer {
  const { paused, operation, assessment, refused, requests } = state;
  const approvals = holding(state.approvals, Date.now());
  return {
    ...(paused && { paused }),
    ...(operation && { operation }),
    ...(approvals.length > 0 && { approvals }),
    ...(requests.length > 0 && { requests }),
    ...(refused && { refused }),
    ...(assessment?.summary && { cluster: assessment.summary }),
  };
}
