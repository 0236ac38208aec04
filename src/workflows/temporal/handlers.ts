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
import { requestQuery } from '../messages/given.ts';
import { refusal } from '../messages/refusal.ts';
import { requestFrom } from '../messages/text.ts';
import { rememberedOf } from '../engine/given.ts';
import { carryOut, type GivenDriver } from './given.ts';

/** What a resource adds. */
interface Answers {
  /** What the signals do, for people. */
  readonly describe: { readonly resync: string; readonly pause: string; readonly abort: string };
  /** What is answered to a pause. */
  readonly paused: string;
  /** What is answered to an abort, right before it takes effect. */
  abort(): string;
  /** Why there is nothing to abort, or to resume; undefined: there is. */
  senseless(kind: 'abort' | 'resume'): string | undefined;
  /** Answers an update with this text, when it has taken effect. */
  confirm(answer: string): string | Promise<string>;
  status(): unknown;
  plan(): unknown;
}

interface Driver extends GivenDriver {
  dispatch(
    event: { readonly kind: 'changed' } | { readonly kind: 'message'; readonly message: CommonMessage },
  ): void;
}

export function handleCommonMessages(driver: Driver, answers: Answers): void {
  const { describe } = answers;
  const send = (message: CommonMessage) => driver.dispatch({ kind: 'message', message });
  const pause = (sent: unknown) => send({ kind: 'pause', request: requestFrom(sent) });
  const abort = (sent: unknown) => send({ kind: 'abort', request: requestFrom(sent) });
  const resume = () => send({ kind: 'resume' });
  const refuseSenseless = (kind: 'abort' | 'resume') => {
    const why = answers.senseless(kind);
    if (why !== undefined) throw refusal(why);
  };
  const changed = () => driver.dispatch({ kind: 'changed' });
  setHandler(changedSignal, changed, { description: 'look again (sent by the watcher)' });
  setHandler(resyncSignal, () => send({ kind: 'resync' }), { description: describe.resync });
  setHandler(pauseSignal, pause, { description: describe.pause });
  setHandler(resumeSignal, resume, { description: 'continue after a pause' });
  setHandler(abortSignal, abort, { description: describe.abort });
  setHandler(pauseUpdate, sent =>
    carryOut(driver, sent, () => (pause(sent), answers.confirm(answers.paused))),
  );
  setHandler(resumeUpdate, sent =>
    carryOut(driver, sent, isGiven => {
      if (isGiven) refuseSenseless('resume');
      resume();
      return answers.confirm('resumed');
    }),
  );
  setHandler(resyncUpdate, sent =>
    carryOut(driver, sent, () => (send({ kind: 'resync' }), answers.confirm('a pass looks again'))),
  );
  setHandler(abortUpdate, sent =>
    carryOut(driver, sent, isGiven => {
      if (isGiven) refuseSenseless('abort');
      const answer = answers.abort();
      abort(sent);
      return answers.confirm(answer);
    }),
  );
  setHandler(requestQuery, uid => rememberedOf(driver.entity.people, uid) ?? null, {
    description: 'what became of the EtcdRequest with this uid',
  });
  setHandler(statusQuery, () => answers.status(), { description: 'the state that the last pass observed' });
  setHandler(planQuery, () => answers.plan(), { description: 'the next steps and the reason for them' });
}
