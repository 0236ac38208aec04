/** Looks whether the apiserver answers, as seen from beside the operator: on a machine that stands still nobody is answered. */
import { setTimeout as delay } from 'node:timers/promises';
import type { World } from '../e2e.ts';

const EVERY_MS = 500;
/** Half of what an operator that is not answered waits before it lets its lease go. */
const SLOW_MS = 4_500;

export interface ApiserverWatch {
  /** Whether every question from `from` to `until` (milliseconds since the epoch) was asked and answered without delay. */
  answered(from: number, until: number): boolean;
  stop(): Promise<void>;
}

export function watchApiserver({ kube }: World): ApiserverWatch {
  const slow: { readonly from: number; readonly until: number }[] = [];
  let isEnding = false;
  const watching = (async () => {
    for (let from = Date.now(); !isEnding; ) {
      await delay(EVERY_MS);
      await kube.get({ apiVersion: 'v1', kind: 'Namespace', name: 'default' }).catch(() => delay(SLOW_MS));
      const until = Date.now();
      if (until - from > SLOW_MS) slow.push({ from, until });
      from = until;
    }
  })();
  return {
    answered: (from, until) => !slow.some(one => one.from < until && one.until > from),
    async stop() {
      isEnding = true;
      await watching;
    },
  };
}
