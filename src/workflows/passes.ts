/**
 * A pass is an activity that is tried for about a minute. One that has failed that long can write no status, and a status that nobody renews looks
 * as if all were well: so the workflow has the resource say so, and tries again later, after longer and longer.
 */
import { type Backoff, backoffMs } from '../api/values/backoff.ts';
import type { Host } from './host.ts';

/** The tries of a pass are used up: why the last one failed. */
export interface FailedPass {
  readonly failedPass: string;
}

/** Passes have failed: since when, how often in a row, and when the next one is made. Milliseconds since the epoch. */
interface PassFailing {
  readonly since: number;
  readonly times: number;
  readonly retryAt: number;
}

/** What is reported of it. */
export interface PassFailure {
  readonly message: string;
  /** Milliseconds since the epoch. */
  readonly since: number;
  /** How often in a row, from 1. */
  readonly times: number;
}

export interface PassState {
  passFailing: PassFailing | undefined;
}

export interface PassHost extends Pick<Host, 'now'> {
  /** Has the resource say that its passes fail. Never rejects. */
  reportFailing(failure: PassFailure): Promise<void>;
}

const BACKOFF: Backoff = { firstMs: 5_000, maxMs: 60_000 };

/** Makes a pass. Undefined: it failed, the resource says so, and `state.passFailing.retryAt` says when to try again. */
export async function answered<Answer extends object>(
  state: PassState,
  host: PassHost,
  pass: () => Promise<Answer | FailedPass>,
): Promise<Answer | undefined> {
  const began = host.now();
  const answer = await pass();
  if (!('failedPass' in answer)) {
    state.passFailing = undefined;
    return answer;
  }
  const { since = began, times: before = 0 } = state.passFailing ?? {};
  const times = before + 1;
  await host.reportFailing({ message: answer.failedPass, since, times });
  state.passFailing = { since, times, retryAt: host.now() + backoffMs(BACKOFF, times) };
  return undefined;
}
