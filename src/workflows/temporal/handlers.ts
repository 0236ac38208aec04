/** The handlers of the messages that clusters and backups have in common. They dispatch events; the engine decides what follows. */
import { setHandler } from '@temporalio/workflow';
import {
  abortSignal,
  abortUpdate,
  changedSignal,
  type CommonMessage,
  pauseSignal,
  pauseUpdate,
  planQuery,
  resumeSignal,
  resumeUpdate,
  resyncSignal,
  resyncUpdate,
  statusQuery,
} from '../messages/resource.ts';
import { requestFrom } from '../messages/text.ts';

/** What a resource adds. */
interface Answers {
  /** What the signals do, for people. */
  readonly describe: { readonly resync: string; readonly pause: string; readonly abort: string };
  /** What is answered to a pause. */
  readonly paused: string;
  /** What is answered to an abort, right before it takes effect. */
  abort(): string;
  /** Answers an update with this text, when it has taken effect. */
  confirm(answer: string): string | Promise<string>;
  status(): unknown;
  plan(): unknown;
}

interface Driver {
  dispatch(
    event: { readonly kind: 'changed' } | { readonly kind: 'message'; readonly message: CommonMessage },
  ): void;
}

export function handleCommonMessages(driver: Driver, answers: Answers): void {
  const { describe } = answers;
  const send = (message: CommonMessage) => driver.dispatch({ kind: 'message', message });
  const pause = (sent: unknown) => send({ kind: 'pause', request: received(sent) });
  const abort = (sent: unknown) => send({ kind: 'abort', request: received(sent) });
  const resume = () => send({ kind: 'resume' });
  const changed = () => driver.dispatch({ kind: 'changed' });
  setHandler(changedSignal, changed, { description: 'look again (sent by the watcher)' });
  setHandler(resyncSignal, () => send({ kind: 'resync' }), { description: describe.resync });
  setHandler(pauseSignal, pause, { description: describe.pause });
  setHandler(resumeSignal, resume, { description: 'continue after a pause' });
  setHandler(abortSignal, abort, { description: describe.abort });
  setHandler(pauseUpdate, sent => (pause(sent), answers.confirm(answers.paused)));
  setHandler(resumeUpdate, () => (resume(), answers.confirm('resumed')));
  setHandler(resyncUpdate, () => (send({ kind: 'resync' }), answers.confirm('a pass looks again')));
  setHandler(abortUpdate, sent => {
    const answer = answers.abort();
    abort(sent);
    return answers.confirm(answer);
  });
  setHandler(statusQuery, () => answers.status(), { description: 'the state that the last pass observed' });
  setHandler(planQuery, () => answers.plan(), { description: 'the next steps and the reason for them' });
}

/** When it came tells it from a later one of the same. */
function received(sent: unknown) {
  return { ...requestFrom(sent), at: Date.now() };
}
