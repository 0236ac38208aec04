/** Records what the status of a cluster claims while something happens to it, and judges the claims by what its clients saw. */
import { setTimeout as delay } from 'node:timers/promises';
import { readCluster, type World } from '../e2e.ts';
import { readyEndpoints } from './endpoints.ts';
import type { History } from './history.ts';

type Claim = 'True' | 'False' | 'Unknown' | 'absent';

/** What was read at one moment (performance.now()). */
export interface Observed {
  readonly at: number;
  readonly available: Claim;
  /** The reason that the status gives for `available`. */
  readonly reason: string;
  readonly healthy: Claim;
  /** Of the client Service. */
  readonly endpoints: number;
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
      const look = await Promise.all([
        readCluster(world, at.namespace, at.name),
        readyEndpoints(world, at.namespace, at.name),
      ]).catch(() => undefined);
      if (look !== undefined) {
        const [cluster, { length: endpoints }] = look;
        const condition = (type: string) => cluster?.status?.conditions?.find(one => one.type === type);
        const { status: available = 'absent', reason = '' } = condition('Available') ?? {};
        const { status: healthy = 'absent' } = condition('Healthy') ?? {};
        seen.push({ at: performance.now(), available, reason, healthy, endpoints });
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
 * through before or after, and False while all of them did and new clients were led to a member as well. The clients of a drill
 * keep their connections to members whose nodes Kubernetes holds to be lost, as it does when the API server was away for longer
 * than the grace of its nodes.
 */
export function dishonest(seen: readonly Observed[], history: History): string[] {
  const acknowledged = history.writes
    .flatMap(({ outcome, end }) => (outcome === 'ok' ? [end] : []))
    .sort((a, b) => a - b);
  return seen.flatMap(({ at, available, reason }) => {
    if (at < history.begin || at > history.end) return [];
    const from = Math.max(history.begin, at - LAG_MS);
    const until = Math.min(history.end, at + LAG_MS);
    const near = acknowledged.filter(moment => moment >= from && moment <= until);
    const seconds = ((at - history.begin) / 1000).toFixed(1);
    if (available === 'True' && near.length === 0)
      return [`at ${seconds} s Available=True, and no write went through`];
    const isLedNowhere = seen.some(one => one.at >= from && one.at <= until && one.endpoints === 0);
    if (available === 'False' && !isLedNowhere && longestGap([from, ...near, until]) < OUTAGE_MS) {
      return [`at ${seconds} s Available=False (${reason}), and every write went through`];
    }
    return [];
  });
}

function longestGap(moments: readonly number[]): number {
  return moments.reduce((gap, moment, index) => Math.max(gap, moment - (moments[index - 1] ?? moment)), 0);
}

/** The claims in the order in which they changed, for users: `Healthy True 0.0 s, Unknown 3.1 s`. */
export function storyOf(seen: readonly Observed[], begin: number): string {
  return (['available', 'healthy'] as const)
    .map(type => {
      const changes = seen.filter((one, index) => one[type] !== seen[index - 1]?.[type]);
      return `${type}: ${changes.map(one => `${one[type]} ${((one.at - begin) / 1000).toFixed(1)}`).join(', ')}`;
    })
    .join('; ');
}
