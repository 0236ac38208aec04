/** A pause of a cluster by an EtcdRequest, and its end. Pure. */
import type { EtcdRequest } from '../../api/schemas/types.ts';
import { PAUSED } from '../../api/values/request-answers.ts';
import { pause, resume, type HeldRequests } from './common.ts';
import { type Draft, type DuringStep, revoke, withChange } from './draft.ts';

export function pauseBy<Seen extends DuringStep>(draft: Draft<Seen>, request: EtcdRequest): Draft<Seen> {
  const { situation, sent, holds } = draft;
  const context = { spent: sent.spent ?? [], now: situation.now, answer: PAUSED };
  const paused = pause({ pause: holds.pause, message: sent.paused }, request, context);
  return withPause(withChange(draft, paused.change), paused.pause);
}

export function resumeBy<Seen extends DuringStep>(draft: Draft<Seen>, request: EtcdRequest): Draft<Seen> {
  const { sent, holds } = draft;
  const { change, revoked, pause: left } = resume({ pause: holds.pause, message: sent.paused }, request);
  const after = withPause(withChange(draft, change), left);
  return revoked === undefined ? after : revoke(after, { paused: revoked });
}

function withPause<Seen extends DuringStep>(draft: Draft<Seen>, held: HeldRequests['pause']): Draft<Seen> {
  const { pause: _, ...others } = draft.holds;
  return { ...draft, holds: { ...others, ...(held && { pause: held }) } };
}
