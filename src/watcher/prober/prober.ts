/**
 * The prober asks every member again and again how it is, and tells the workflow to look when the answer changes.
 * Kubernetes does not tell of a member that is cut off or frozen, nor for most of a minute of a node without power,
 * and a pass of a workflow every second would fill its history. Asking costs no history, and what is seen here decides
 * nothing: the pass that follows looks for itself.
 */
import type { KubeObject } from '../../kube/port.ts';
import type { StoreChange } from '../../kube/store.ts';
import { textAt } from '../model/json.ts';
import { type Backoff, backoffMs } from '../../api/values/backoff.ts';
import type { Clock, WatcherLogger } from '../model/ports.ts';

/** What a member says of itself, in a word or two; equal texts mean that nothing changed. `well` is the only good one. */
export type AskMember = (host: string, abort: AbortSignal) => Promise<string>;

/** A member that keeps changing its answer is told of ever more rarely: the time between two tellings of it. */
const DAMPING: Backoff = { firstMs: 1_000, maxMs: 60_000 };
/** A member that was told of nothing for so long starts again with no wait. */
const CALM_MS = 120_000;

export interface ProberOptions {
  /** From the end of one ask of a member to the next, in milliseconds. */
  readonly askEveryMs: number;
  /** The least time between two asks of any two members: many members are asked less often each. */
  readonly askSpacingMs: number;
}

export interface ProberDeps {
  readonly ask: AskMember;
  /** A member's answer is not what it was. */
  readonly onChange: (pod: KubeObject) => void;
  readonly clock: Clock;
  readonly options: ProberOptions;
  readonly logger: WatcherLogger;
}

interface Watched {
  pod: KubeObject;
  host: string;
  /** What was last told, or found first; undefined until then. */
  told: string | undefined;
  /** Answers in a row that were good, or that were not. */
  good: number;
  bad: number;
  /** How often it was told of lately, and when last; on the prober's clock. */
  tellings: number;
  toldAt: number;
  /** What it says was to be told, and is yet to be. */
  owed: boolean;
  cancel: () => void;
}

/** Bad news is told at once, good news when it is heard twice: a member that wavers is told of less often. */
const GOOD_ENOUGH = 2;
/** Trouble that lasts is told once more: the pass after the first telling may have met a better moment. */
const BAD_STILL = 4;
const WELL = 'well';
/** So many tellings follow each other as the answers do. */
const UNDAMPED = 4;

const UNASKED = {
  told: undefined,
  good: 0,
  bad: 0,
  tellings: 0,
  toldAt: Number.NEGATIVE_INFINITY,
  owed: false,
  cancel: () => {},
} as const;

export class Prober {
  readonly #deps: ProberDeps;
  /** By uid of the pod. */
  readonly #watched = new Map<string, Watched>();
  readonly #asking = new Set<Promise<void>>();
  readonly #abort = new AbortController();
  #paused = false;

  constructor(deps: ProberDeps) {
    this.#deps = deps;
  }

  /** A change of a (slim) Pod of a cluster. Pods without an address, and those that are going, are not asked. */
  note(change: StoreChange): void {
    const { uid, deletionTimestamp } = change.object.metadata;
    if (this.#abort.signal.aborted || uid === undefined) return;
    if (change.type === 'updated' && change.previous.metadata.uid !== uid)
      this.#forget(change.previous.metadata.uid ?? '');
    const host = textAt(change.object, 'podIP');
    if (change.type === 'deleted' || deletionTimestamp !== undefined || host === undefined) {
      this.#forget(uid);
      return;
    }
    const known = this.#watched.get(uid);
    if (known?.host === host) {
      known.pod = change.object;
      return;
    }
    this.#forget(uid);
    const watched: Watched = { ...UNASKED, pod: change.object, host };
    this.#watched.set(uid, watched);
    this.#schedule(uid, watched);
  }

  /** Nobody is asked until `resume`; pods are still followed. */
  pause(): void {
    this.#paused = true;
  }

  resume(): void {
    this.#paused = false;
  }

  /** Final. Resolves when no ask is under way any more. */
  async stop(): Promise<void> {
    this.#abort.abort();
    for (const uid of [...this.#watched.keys()]) this.#forget(uid);
    await Promise.all(this.#asking);
  }

  #forget(uid: string): void {
    this.#watched.get(uid)?.cancel();
    this.#watched.delete(uid);
  }

  #schedule(uid: string, watched: Watched): void {
    const { clock, options } = this.#deps;
    const interval = Math.max(options.askEveryMs, this.#watched.size * options.askSpacingMs);
    // Members that were found together are not asked in step for ever.
    const wait = interval * (0.9 + clock.random() * 0.2);
    watched.cancel = clock.after(wait, () => {
      if (this.#paused) return this.#schedule(uid, watched);
      const asking = this.#ask(uid, watched).finally(() => this.#asking.delete(asking));
      this.#asking.add(asking);
    });
  }

  async #ask(uid: string, watched: Watched): Promise<void> {
    const said = await this.#deps.ask(watched.host, this.#abort.signal);
    if (this.#watched.get(uid) !== watched) return;
    if (!this.#paused) this.#hear(watched, said);
    this.#schedule(uid, watched);
  }

  #hear(watched: Watched, said: string): void {
    const { told, pod } = watched;
    watched.good = said === WELL ? watched.good + 1 : 0;
    watched.bad = said === WELL ? 0 : watched.bad + 1;
    const isNews = said !== told && (told === undefined || said !== WELL || watched.good >= GOOD_ENOUGH);
    if (isNews) watched.told = said;
    // Whoever lists a pod first has its cluster looked at anyway.
    if (told === undefined) return;
    watched.owed ||= isNews || watched.bad === BAD_STILL;
    const { namespace, name } = pod.metadata;
    if (isNews)
      this.#deps.logger.info('member health changed', { namespace, pod: name, before: told, now: said });
    if (watched.owed) this.#tell(watched);
  }

  /** The first change is told at once; those of a member that goes on changing at ever longer intervals, the last one never lost. */
  #tell(watched: Watched): void {
    const now = this.#deps.clock.now();
    const calm = now - watched.toldAt;
    if (calm >= CALM_MS) watched.tellings = 0;
    // The two tellings of one trouble, and the one of its end, are not held up.
    const wait = watched.tellings < UNDAMPED ? 0 : backoffMs(DAMPING, watched.tellings - UNDAMPED + 1);
    if (calm < wait) return;
    watched.tellings += 1;
    watched.toldAt = now;
    watched.owed = false;
    this.#deps.onChange(watched.pod);
  }
}
