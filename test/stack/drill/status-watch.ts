/** Records what the status of a cluster claims while something happens to it, and judges the claims by what its clients saw. */
import { setTimeout as delay } from 'node:timers/promises';
import { readCluster, type World } from '../e2e.ts';
import type { History } from './history.ts';

type Claim = 'True' | 'False' | 'Unknown' | 'absent';

/** What was read at one moment (performance.now()). */
export interface Observed {
  readonly at: number;
  readonly available: Claim;
  readonly healthy: Claim;
}

export interface StatusWatch {
  readonly seen: readonly Observed[];
  /** What was claimed last; undefined before the first look. */
  last(): Observed | undefined;
  stop(): Promise<void>;
}

const EVERY_MS = 100;

/** Looks ten times a second, whenever the API server answers. */
export function watchStatus(
  world: World,
  at: { readonly namespace: string; readonly name: string },
): StatusWatch {
  const seen: Observed[] = [];
  let stopping = false;
  const running = (async () => {
    while (!stopping) {
      const conditions = await readCluster(world, at.namespace, at.name).then(
        cluster => cluster?.status?.conditions ?? [],
        () => undefined,
      );
      const claim = (type: string): Claim =>
        conditions?.find(condition => condition.type === type)?.status ?? 'absent';
      if (conditions !== undefined) {
        seen.push({ at: performance.now(), available: claim('Available'), healthy: claim('Healthy') });
      }
      await delay(EVERY_MS);
    }
  })();
  return {
    seen,
    last: () => seen.at(-1),
    async stop() {
      stopping = true;
      await running;
    },
  };
}

/**
 * How long a claim may lag behind the truth: passes are made when something is seen to change, and every ten seconds while
 * something stands in the way.
 */
const LAG_MS = 12_000;
/** A gap between writes that says that the cluster was not available: longer than this machine's own noise. */
const OUTAGE_MS = 400;

/**
 * Claims that nothing the clients saw bears out, one sentence each: Available=True while for the whole of a lag no write went
 * through before or after, and False while all of them did.
 */
export function dishonest(seen: readonly Observed[], history: History): string[] {
  const acknowledged = history.writes
    .flatMap(({ outcome, end }) => (outcome === 'ok' ? [end] : []))
    .sort((a, b) => a - b);
  return seen.flatMap(({ at, available }) => {
    if (at < history.begin || at > history.end) return [];
    const from = Math.max(history.begin, at - LAG_MS);
    const until = Math.min(history.end, at + LAG_MS);
    const near = acknowledged.filter(moment => moment >= from && moment <= until);
    const seconds = ((at - history.begin) / 1000).toFixed(1);
    if (available === 'True' && near.length === 0)
      return [`at ${seconds} s Available=True, and no write went through`];
    if (available === 'False' && longestGap([from, ...near, until]) < OUTAGE_MS) {
      return [`at ${seconds} s Available=False, and every write went through`];
    }
    return [];
  });
}

function longestGap(moments: readonly number[]): number {
  return moments.reduce((gap, moment, index) => Math.max(gap, moment - (moments[index - 1] ?? moment)), 0);
}

/** The claims in the order in which they changed, for people: `Healthy True 0.0 s, Unknown 3.1 s`. */
export function storyOf(seen: readonly Observed[], begin: number): string {
  return (['available', 'healthy'] as const)
    .map(type => {
      const changes = seen.filter((one, index) => one[type] !== seen[index - 1]?.[type]);
      return `${type}: ${changes.map(one => `${one[type]} ${((one.at - begin) / 1000).toFixed(1)}`).join(', ')}`;
    })
    .join('; ');
}
