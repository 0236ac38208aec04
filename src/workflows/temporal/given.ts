/** Carries out an update that may have been given as an EtcdRequest, and that once. */
import { patched } from '@temporalio/workflow';
import type { Given } from '../../api/values/requests.ts';
import { givenFrom } from '../messages/given.ts';
import { type Remembering, rememberedOf } from '../engine/given.ts';
import { refusal } from '../messages/refusal.ts';
import type { CommonMessage } from '../messages/resource.ts';

export interface GivenDriver {
  readonly entity: { readonly people: Remembering };
  dispatch(event: { readonly kind: 'message'; readonly message: CommonMessage }): void;
}

/** Refuses what was given too late, and has not come before. For validators: changes nothing. */
export function refuseExpired({ entity }: GivenDriver, sent: unknown): 'new' | 'known' {
  const given = givenFrom(sent);
  if (given === undefined) return 'new';
  if (rememberedOf(entity.people, given.uid) !== undefined) return 'known';
  if (Date.now() > given.expiresAt)
    throw refusal(`the request expired at ${new Date(given.expiresAt).toISOString()}`);
  return 'new';
}

/**
 * What `act` answers, which is told whether an EtcdRequest is to be carried out once; it refuses by throwing, before it does anything. An EtcdRequest that has come before is answered as it was then,
 * and nothing is done.
 */
export function carryOut(
  driver: GivenDriver,
  sent: unknown,
  act: (isGiven: boolean) => string | Promise<string>,
): string | Promise<string> {
  const given = givenFrom(sent);
  // A worker of 0.2.0 does not know EtcdRequests: what it has recorded of one is what it does with any update. Not awaited here, since an
  // answer that came a microtask later than there would stand after other commands in the history.
  if (given === undefined || !patched('given-once')) return act(false);
  return carryOutOnce(driver, { sent, given }, act);
}

async function carryOutOnce(
  driver: GivenDriver,
  { sent, given }: { readonly sent: unknown; readonly given: Given },
  act: (isGiven: boolean) => string | Promise<string>,
): Promise<string> {
  const earlier = rememberedOf(driver.entity.people, given.uid);
  if (earlier !== undefined) return earlier.message;
  refuseExpired(driver, sent);
  const answer = await act(true);
  driver.dispatch({ kind: 'message', message: { kind: 'given', given, answer } });
  return answer;
}
