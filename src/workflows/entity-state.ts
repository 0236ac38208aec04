/** What an entity workflow knows that the world does not say, and the handlers of its messages. */
import { log, setDefaultSignalHandler, setHandler } from '@temporalio/workflow';
import type { Actor, Assessment, Operation } from '../activities/index.ts';
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
import { isProgress } from './shapes.ts';
import { requestFrom } from './words.ts';

/** An operation under way, and what an abort of it holds for. */
export type Running = { readonly operation: Operation } & Pick<
  NonNullable<Actor['aborted']>,
  'generation' | 'subject'
>;

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
  running: Running | undefined;
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
  /** The resource is gone: no further pass is made. */
  gone: boolean;
  /** The search attributes as they were last written; see publish. */
  published: string;
}

/** What survives into the next run: everything that was said, and an operation that goes on meanwhile. */
export type Carried = Pick<
  EntityState,
  | 'paused'
  | 'abort'
  | 'aborted'
  | 'failed'
  | 'failures'
  | 'assessment'
  | 'running'
  | 'approvals'
  | 'requests'
  | 'nextId'
  | 'refused'
  | 'published'
>;

/** What is handed to the next run. */
export function carriedOf(state: EntityState): Carried {
  const { paused, abort, aborted, failed, failures, running } = state;
  const { approvals, requests, nextId, refused, published } = state;
  // A run that has nothing to wait for begins with a pass; one that follows an operation answers queries meanwhile.
  const assessment = running && state.assessment;
  return {
    paused,
    abort,
    aborted,
    failed,
    failures,
    assessment,
    running,
    approvals,
    requests,
    nextId,
    refused,
    published,
  };
}

/** The state of a new run. */
export function newState(carried: Carried | undefined): EntityState {
  const first: EntityState = {
    dirty: true,
    paused: undefined,
    abort: undefined,
    aborted: undefined,
    failed: undefined,
    failures: 0,
    assessment: undefined,
    ending: undefined,
    running: undefined,
    approvals: [],
    requests: [],
    judged: [],
    nextId: 1,
    passes: 0,
    refused: undefined,
    gone: false,
    published: '',
  };
  return { ...first, ...carried };
}

/** What handlers have done besides setting fields. */
export interface Reactions {
  /** Tells a running operation of a pause or an abort at once. Resolves when it has it, or is gone; never rejects. */
  forward(): Promise<unknown>;
  /** Shows people what a pass of the operation saw. */
  show(assessment: Assessment): void;
}

/** Registers every handler. */
export function handleMessages(state: EntityState, { forward, show }: Reactions): void {
  const pause = async (request?: Request) => {
    state.paused = requestFrom(request);
    state.dirty = true;
    await forward();
  };
  const resume = async () => {
    state.paused = undefined;
    state.dirty = true;
    await forward();
  };
  const abort = async (request?: Request) => {
    if (state.running !== undefined) {
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
  // An update answers when the running operation has heard of it: until then a further step could begin.
  setHandler(pauseUpdate, async request => {
    await pause(request);
    return 'paused: no further step is taken';
  });
  setHandler(resumeUpdate, async () => {
    await resume();
    return 'resumed';
  });
  setHandler(abortUpdate, async request => {
    const { running } = state;
    if (running === undefined) return abortWhatWaits(state, requestFrom(request));
    await abort(request);
    return `${running.operation} ends at its next step`;
  });
  handleApprovals(state, forward);
  handleRequests(state, forward);
  setHandler(progressSignal, sent => {
    if (!isProgress(sent))
      return log.warn('a signal was refused: only operations send it', { signal: 'progress' });
    const { assessment, ending, used } = sent;
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
  const { paused, running, assessment, refused, requests } = state;
  const approvals = holding(state.approvals, Date.now());
  return {
    ...(paused && { paused }),
    ...(running && { operation: running.operation }),
    ...(approvals.length > 0 && { approvals }),
    ...(requests.length > 0 && { requests }),
    ...(refused && { refused }),
    ...(assessment?.summary && { cluster: assessment.summary }),
  };
}
