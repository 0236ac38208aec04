import type { Backoff } from '../api/values/backoff.ts';
import type { KindRef, KubeClient, KubeLogger, KubeObject, WatchEvent } from './port.ts';

/** Called for every change, one at a time and in order. What a handler throws is logged and goes no further. */
export interface ObjectHandler {
  readonly added?: (object: KubeObject) => void | Promise<void>;
  readonly updated?: (object: KubeObject, previous: KubeObject) => void | Promise<void>;
  readonly deleted?: (lastKnown: KubeObject) => void | Promise<void>;
}

/** What a reflector does, for metrics. */
export type ReflectorReport =
  | { readonly type: 'listed'; readonly because: string; readonly items: number; readonly durationMs: number }
  | { readonly type: 'watching' }
  | { readonly type: 'event'; readonly event: WatchEvent['type'] }
  | { readonly type: 'watchEnded'; readonly livedMs: number }
  | {
      readonly type: 'failed';
      readonly during: 'list' | 'watch';
      readonly reason: string;
      readonly delayMs: number;
    }
  | { readonly type: 'handlerFailed' };

export interface ReflectorTiming {
  /** Each watch asks the apiserver to end it after a random time within these seconds. */
  readonly watchSeconds: { readonly min: number; readonly max: number };
  /** Silence after which a watch is given up. Bookmarks come about once a minute. */
  readonly idleTimeoutMs: number;
  readonly listTimeoutMs: number;
  readonly backoff: Backoff;
  /** A watch that lived this long proves that all is well: the next failure starts with the shortest wait. */
  readonly healthyAfterMs: number;
  /** After this time the next watch is preceded by a list, whatever has been going on. */
  readonly relistAfterMs: number;
}

export const defaultReflectorTiming: ReflectorTiming = {
  watchSeconds: { min: 300, max: 600 },
  idleTimeoutMs: 75_000,
  listTimeoutMs: 60_000,
  backoff: { firstMs: 500, maxMs: 30_000 },
  healthyAfterMs: 5_000,
  relistAfterMs: 1_800_000,
};

export interface ReflectorOptions {
  readonly client: Pick<KubeClient, 'list' | 'watch'>;
  readonly kind: KindRef;
  /** One namespace; the whole cluster when left out. */
  readonly namespace?: string | undefined;
  readonly labelSelector?: string | undefined;
  /** Nothing but metadata is asked for. */
  readonly metadataOnly?: boolean | undefined;
  /** Keeps of an object what the reader needs; metadata must stay. managedFields are there only of what was just made, and are dropped afterwards. */
  readonly slim?: ((object: KubeObject) => KubeObject) | undefined;
  readonly logger?: KubeLogger | undefined;
  readonly report?: ((report: ReflectorReport) => void) | undefined;
  readonly timing?: Partial<ReflectorTiming> | undefined;
}
