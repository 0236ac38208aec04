/** The handlers of the messages that clusters and backups have in common. They change what the workflow remembers; its loop goes on from there. */
import { log, setDefaultSignalHandler, setHandler } from '@temporalio/workflow';
import { endedSignal } from '../messages/operation.ts';
import {
  abortSignal,
  abortUpdate,
  changedSignal,
  pauseSignal,
  pauseUpdate,
  planQuery,
  resumeSignal,
  resumeUpdate,
  resyncSignal,
  resyncUpdate,
  statusQuery,
} from '../messages/resource.ts';
import { type Received, requestFrom } from '../messages/text.ts';

/** What a resource does on them. */
interface Reactions {
  /** What the signals do, for users. */
  readonly describe: { readonly resync: string; readonly pause: string; readonly abort: string };
  changed(): void;
  pause(request: Received): void;
  resume(): void;
  resync(): void;
  abort(request: Received): void;
  /** What is answered to a pause. */
  readonly paused: string;
  /** What is answered to an abort, right before it takes effect. */
  aborted(): string;
  /** Resolves when what was asked for has reached the operation under way. */
  received(): Promise<void>;
  /** An operation that another run has started reports its end. */
  ended(sent: unknown): 'taken' | 'rejected';
  status(): unknown;
  plan(): unknown;
}

export function handleCommonMessages(to: Reactions): void {
  const { describe } = to;
  const confirmed = async (answer: string): Promise<string> => {
    await to.received();
    return answer;
  };
  setHandler(changedSignal, () => to.changed(), { description: 'reconcile (sent by the watcher)' });
  setHandler(resyncSignal, () => to.resync(), { description: describe.resync });
  setHandler(pauseSignal, sent => to.pause(received(sent)), { description: describe.pause });
  setHandler(resumeSignal, () => to.resume(), { description: 'continue after a pause' });
  setHandler(abortSignal, sent => to.abort(received(sent)), { description: describe.abort });
  setHandler(pauseUpdate, sent => (to.pause(received(sent)), confirmed(to.paused)));
  setHandler(resumeUpdate, () => (to.resume(), confirmed('resumed')));
  setHandler(resyncUpdate, () => (to.resync(), confirmed('a pass reconciles it')));
  setHandler(abortUpdate, sent => {
    const answer = to.aborted();
    to.abort(received(sent));
    return confirmed(answer);
  });
  setHandler(endedSignal, sent => {
    if (to.ended(sent) === 'rejected')
      log.warn('a signal was rejected: only operations may send it', { signal: 'ended' });
  });
  setHandler(statusQuery, () => to.status(), { description: 'the state that the last pass observed' });
  setHandler(planQuery, () => to.plan(), { description: 'the next steps and the reason for them' });
}

/** To be called after every other handler is set: signals that came before go to this one from then on. */
export function ignoreUnknownSignals(): void {
  setDefaultSignalHandler(signal => log.warn('unknown signal', { signal }));
}

/** Who asks and why, out of whatever was sent, and that it came now. */
export function received(sent: unknown): Received {
  return { ...requestFrom(sent), at: Date.now() };
}
