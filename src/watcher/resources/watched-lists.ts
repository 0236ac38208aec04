/**
 * What is watched: every kind, of all namespaces or in each of those that are named. A named one that does not exist, or in which the
 * operator has no rights, is passed over until it can be listed; the others do not wait for it.
 */
import { REQUEST_KIND } from '../../api/names.ts';
import type { StoreChange } from '../../kube/store.ts';
import type { ReflectorFactory, WatchedReflector, WatcherLogger } from '../model/ports.ts';
import { WATCHED_KINDS } from './watched-kinds.ts';

export interface WatchedListsOptions {
  readonly reflector: ReflectorFactory;
  /** Undefined: all. */
  readonly namespaces: readonly string[] | undefined;
  /** @param isNews it happened now; else the object was found by the first list of its kind and namespace */
  readonly onChange: (change: StoreChange, isNews: boolean) => void;
  readonly logger: WatcherLogger;
}

const NOT_WATCHED =
  'a namespace of WATCH_NAMESPACE is not watched: it does not exist, or the operator has no rights there to the kinds of refusedKinds; create it, or grant the Role; it is tried again';

interface Place {
  /** Undefined: all namespaces. */
  readonly namespace: string | undefined;
  readonly reflectors: readonly { readonly kind: string; readonly reflector: WatchedReflector }[];
}

export class WatchedLists {
  readonly #places: readonly Place[];
  readonly #logger: WatcherLogger;
  /** Of namespaces that were said not to be watched: the kinds that were refused. */
  #reported: ReadonlyMap<string, string> = new Map();

  constructor({ reflector, namespaces, onChange, logger }: WatchedListsOptions) {
    this.#logger = logger;
    this.#places = (namespaces ?? [undefined]).map(namespace => ({
      namespace,
      reflectors: WATCHED_KINDS.map(watched => {
        const made = reflector({
          ...watched,
          namespace,
          onChange: change => onChange(change, made.hasSynced),
        });
        return { kind: watched.kind.kind, reflector: made };
      }),
    }));
  }

  start(): void {
    for (const { reflectors } of this.#places) for (const { reflector } of reflectors) reflector.start();
  }

  async stop(): Promise<void> {
    const all = this.#places.flatMap(({ reflectors }) => reflectors);
    await Promise.all(all.map(async ({ reflector }) => reflector.stop()));
  }

  /** Whether everything has been listed once, but for namespaces that cannot be listed. One at least can. */
  synced(): boolean {
    const missing = this.#places.filter(place => !isListed(place));
    return missing.length < this.#places.length && missing.every(place => refusedKinds(place) !== '');
  }

  /** Named namespaces that the API server does not let the operator list or watch at present. */
  unwatched(): readonly string[] {
    return [...this.#refused().keys()];
  }

  /** Says in the log which of them have changed since it was last called, or are refused other kinds. */
  report(): void {
    const [before, now] = [this.#reported, this.#refused()];
    this.#reported = now;
    for (const [watchedNamespace, kinds] of now)
      if (before.get(watchedNamespace) !== kinds)
        this.#logger.warn(NOT_WATCHED, { watchedNamespace, refusedKinds: kinds.split(',') });
    for (const watchedNamespace of before.keys())
      if (!now.has(watchedNamespace)) this.#logger.info('a namespace is watched now', { watchedNamespace });
  }

  /** The kinds that are refused, by namespace. */
  #refused(): ReadonlyMap<string, string> {
    return new Map(
      this.#places.flatMap(place => {
        const kinds = refusedKinds(place);
        return place.namespace === undefined || kinds === '' ? [] : [[place.namespace, kinds]];
      }),
    );
  }
}

/** Where EtcdRequests are not installed there are none, and nothing waits for them. */
const isNeeded = ({ kind }: Place['reflectors'][number]): boolean => kind !== REQUEST_KIND;

function isListed({ reflectors }: Place): boolean {
  return reflectors.filter(isNeeded).every(({ reflector }) => reflector.hasSynced);
}

/** In the order of the alphabet. */
function refusedKinds({ reflectors }: Place): string {
  return reflectors
    .filter(each => isNeeded(each) && each.reflector.isForbidden)
    .map(({ kind }) => kind)
    .toSorted()
    .join();
}
