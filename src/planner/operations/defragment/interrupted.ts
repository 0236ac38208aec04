/**
 * Defragmentations that their members did not outlive: a file that takes longer to copy than the kubelet waits, that needs more memory than the
 * member may use, or for which its volume has no room, ends etcd again and again. So the operator does not repeat it at once, and reports it. Pure.
 */
import { timestamp } from '../../../api/values/time.ts';
import type { Obstacle } from '../../model/decision.ts';
import type { MemberView } from '../../model/member-view.ts';
import { AGAIN_MS } from './due.ts';

/** What keeps these from being defragmented now: one of them ended while it was, within the hour. */
export function heldBack(now: number, views: readonly MemberView[]): Obstacle | undefined {
  const held = views.flatMap(view => {
    const begun = begunWithoutEnd(view);
    return begun === undefined || now - begun >= AGAIN_MS ? [] : [{ view, begun }];
  });
  if (held.length === 0) return undefined;
  const until = Math.max(...held.map(({ begun }) => begun)) + AGAIN_MS;
  const message =
    `${held.map(({ view, begun }) => endOf(view, begun)).join('; ')}. ` +
    'Look at the last exit of its pod, at its memory limit (spec.pod.resources.limits.memory), at the room on its volume for a second file, and at whether its disk copies that file ' +
    `within the two minutes after which its kubelet restarts it; it is not tried again before ${timestamp(until)}`;
  return { reason: 'DefragmentationInterrupted', message, waitMs: until - now };
}

/** When a defragmentation began in a container that runs no more, and did not come to its end (ms since the epoch). */
function begunWithoutEnd({ pod }: MemberView): number | undefined {
  const { defragmentationBegun: begun, container } = pod ?? {};
  if (begun === undefined || container === undefined || container === begun.container) return undefined;
  return begun.at;
}

function endOf({ name, pod }: MemberView, begun: number): string {
  const { message, at = 0 } = pod?.lastExit ?? {};
  const why = message === undefined || at < begun ? '' : `: ${message}`;
  return `${name} ended while it was defragmented, which had begun at ${timestamp(begun)}${why}`;
}
