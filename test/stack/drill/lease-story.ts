/** Who watched when, as the Lease of the operator's election says. */
import { setTimeout as delay } from 'node:timers/promises';
import { OPERATOR_NAMESPACE } from '../../../local/operator.ts';
import type { World } from '../e2e.ts';

/** From when until when, in milliseconds since the epoch, a replica was seen to hold the Lease. */
export interface Term {
  readonly holder: string;
  readonly from: number;
  readonly until: number;
}

export interface LeaseStory {
  readonly terms: () => readonly Term[];
  /** Who holds it now; undefined: nobody. */
  readonly holder: () => Promise<string | undefined>;
  stop(): Promise<void>;
}

const EVERY_MS = 100;

/** Looks ten times a second, whenever the API server answers. */
export function watchLease({ kube }: World): LeaseStory {
  const terms: Term[] = [];
  let stopping = false;
  const look = async (): Promise<string | undefined> => {
    const lease = await kube.get({
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      namespace: OPERATOR_NAMESPACE,
      name: 'etcd-operator-watcher',
    });
    return (lease?.['spec'] as { holderIdentity?: string } | undefined)?.holderIdentity || undefined;
  };
  const running = (async () => {
    while (!stopping) {
      const holder = await look().catch(() => undefined);
      const now = Date.now();
      const last = terms.at(-1);
      if (holder !== undefined && last?.holder === holder) terms.splice(-1, 1, { ...last, until: now });
      else if (holder !== undefined) terms.push({ holder, from: now, until: now });
      await delay(EVERY_MS);
    }
  })();
  return {
    terms: () => terms,
    holder: look,
    async stop() {
      stopping = true;
      await running;
    },
  };
}

/** Milliseconds from the end of each term until the next one began. */
export const gapsOf = (terms: readonly Term[]): number[] =>
  terms.slice(1).map(({ from }, index) => from - (terms[index]?.until ?? from));
