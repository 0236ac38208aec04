/** For how long the resources of a namespace say that they are not looked after. */
import { setTimeout as delay } from 'node:timers/promises';
import { API_VERSION } from '../../../src/api/names.ts';
import type { World } from '../e2e.ts';

const KINDS = ['EtcdCluster', 'EtcdBackup', 'EtcdRestore'] as const;
/** Each is False or absent where passes end. */
const AILING = ['PassFailing', 'TemporalUnavailable', 'WorkflowStuck'] as const;
const EVERY_MS = 500;

interface Ailing {
  readonly what: string;
  readonly from: number;
  readonly until: number;
}

export interface ConditionWatch {
  /** Those that hold now, `EtcdCluster loaded PassFailing: ...` each. */
  readonly now: () => Promise<readonly string[]>;
  /** The longest time that each held, in milliseconds, without those that were never seen. */
  readonly longest: () => Readonly<Record<string, number>>;
  stop(): Promise<void>;
}

/** Looks twice a second, whenever the API server answers. */
export function watchConditions({ kube }: World, namespace: string): ConditionWatch {
  const seen: Ailing[] = [];
  let stopping = false;
  const look = async () =>
    (
      await Promise.all(
        KINDS.map(async kind =>
          (
            await kube.list({ apiVersion: API_VERSION, kind }, { namespace })
          ).items.flatMap(object => {
            const { conditions = [] } = (object['status'] ?? {}) as Status;
            return conditions
              .filter(({ type, status }) => status === 'True' && AILING.some(one => one === type))
              .map(({ type, message }) => ({ what: `${kind} ${object.metadata.name} ${type}`, message }));
          }),
        ),
      )
    ).flat();
  const running = (async () => {
    let before: readonly Ailing[] = [];
    while (!stopping) {
      const found = await look().catch(() => undefined);
      const now = Date.now();
      if (found !== undefined) {
        const held = found.map(({ what }) => ({
          what,
          from: before.find(one => one.what === what)?.from ?? now,
          until: now,
        }));
        seen.push(...held);
        before = held;
      }
      await delay(EVERY_MS);
    }
  })();
  return {
    now: async () => (await look()).map(({ what, message }) => `${what}: ${message}`),
    longest: () =>
      Object.fromEntries(
        [...Map.groupBy(seen, ({ what }) => what)].map(([what, all]) => [
          what,
          Math.max(...all.map(({ from, until }) => until - from)),
        ]),
      ),
    async stop() {
      stopping = true;
      await running;
    },
  };
}

interface Status {
  readonly conditions?: readonly {
    readonly type: string;
    readonly status: string;
    readonly message?: string;
  }[];
}
