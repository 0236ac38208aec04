/**
 * What is watched: every kind, of all namespaces or in each of those that are named. A named one that does not exist, or in which the
 * operator has no rights, is passed over until it can be listed; the others do not wait for it.
 */
import type { StoreChange } from '../../kube/store.ts';
import type { ReflectorFactory, ReflectorHandle, WatcherLogger } from '../model/ports.ts';
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

interface Watched {
  readonly kind: string;
  readonly handle: ReflectorHandle;
}

interface Place {
  /** Undefined: all namespaces. */
  readonly namespace: string | undefined;
  readonly watched: readonly Watched[];
}

export class WatchedLists {
  readonly #places: readonly Place[];
  readonly #logger: WatcherLogger;
  /** Of namespaces that were said not to be watched: the kinds that were refused. */
  #reported: ReadonlyMap<string, readonly string[]> = new Map();

  constructor({ reflector, namespaces, onChange, logger }: WatchedListsOptions) {
    this.#logger = logger;
    this.#places = (namespaces ?? [undefined]).map(namespace => ({
      namespace,
      watched: WATCHED_KINDS.map(kind => {
        const note = (change: StoreChange): void => onChange(change, handle.synced());
        const handle = reflector({ ...kind, namespace, onChange: note });
        return { kind: kind.kind, handle };
      }),
    }));
  }

  start(): void {
    for (const { handle } of this.#all()) handle.start();
  }

  async stop(): Promise<void> {
    await Promise.all(this.#all().map(async ({ handle }) => handle.stop()));
  }

  /** Whether everything has been listed once, but for namespaces that cannot be listed. One at least can. */
  synced(): boolean {
    const missing = this.#places.filter(place => !isListed(place));
    return missing.length < this.#places.length && missing.every(isForbidden);
  }

  /** Whether everything of this namespace has been listed once. */
  has(namespace: string): boolean {
    const place = this.#places.find(each => each.namespace === undefined || each.namespace === namespace);
    return place !== undefined && isListed(place);
  }

  /** Named namespaces that the API server does not let the operator list or watch at present. */
  unwatched(): readonly string[] {
    return this.#places.filter(isForbidden).flatMap(({ namespace }) => namespace ?? []);
  }

  /** Says in the log which of them have changed since it was last called, or are refused other kinds. */
  report(): void {
    const before = this.#reported;
    const refused = this.#places.filter(isForbidden);
    const now = new Map(
      refused.flatMap(place =>
        place.namespace === undefined ? [] : [[place.namespace, refusedKinds(place)] as const],
      ),
    );
    this.#reported = now;
    for (const [namespace, kinds] of now)
      if (before.get(namespace)?.join() !== kinds.join())
        this.#logger.warn(NOT_WATCHED, { watchedNamespace: namespace, refusedKinds: kinds });
    for (const namespace of before.keys())
      if (!now.has(namespace))
        this.#logger.info('a namespace is watched now', { watchedNamespace: namespace });
  }

  #all(): readonly Watched[] {
    return this.#places.flatMap(({ watched }) => watched);
  }
}

function isListed({ watched }: Place): boolean {
  return watched.every(({ handle }) => handle.synced());
}

function isForbidden(place: Place): boolean {
  return refusedKinds(place).length > 0;
}

/** In the order of the alphabet. */
function refusedKinds({ watched }: Place): readonly string[] {
  return watched
    .filter(({ handle }) => handle.isForbidden())
    .map(({ kind }) => kind)
    .toSorted();
}
