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
import { type RoundOptions, Rounds, type Turn } from './rounds.ts';

/** Asks members how they are, over connections that are kept. */
export interface MemberHealth {
  /**
   * What the member at this address says of itself, in a word or two; equal texts mean that nothing changed. `well` is the only good
   * one; undefined: it could not be asked, for reasons of this process. Never rejects.
   */
  ask(host: string): Promise<string | undefined>;
  /** Nobody is asked there any more. */
  forget(host: string): void;
  /** Final. Asks under way end. */
  close(): void;
}

/** A member that keeps changing its answer is told of ever more rarely: the time between two tellings of it. */
const DAMPING: Backoff = { firstMs: 1_000, maxMs: 60_000 };
/** A member that was told of nothing for so long starts again with no wait. */
const CALM_MS = 120_000;

export interface ProberDeps {
  /** @param onEnded a member has ended the connection that it was asked over: perhaps it has ended itself */
  readonly health: (onEnded: (host: string) => void) => MemberHealth;
  /** A member's answer is not what it was. */
  readonly onChange: (pod: KubeObject) => void;
  readonly clock: Clock;
  readonly options: RoundOptions;
  readonly logger: WatcherLogger;
}

interface Watched extends Turn {
  pod: KubeObject;
  readonly host: string;
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
}

/** Bad news is told at once, good news when it is heard twice: a member that wavers is told of less often. */
const GOOD_ENOUGH = 2;
/** Trouble that lasts is told once more: the pass after the first telling may have met a better moment. */
const BAD_STILL = 4;
const WELL = 'well';
/** So many tellings follow each other as the answers do. */
const UNDAMPED = 4;

const UNASKED = {
  askedAt: Number.NEGATIVE_INFINITY,
  isAsked: false,
  told: undefined,
  good: 0,
  bad: 0,
  tellings: 0,
  toldAt: Number.NEGATIVE_INFINITY,
  owed: false,
} as const;

export class Prober {
  readonly #deps: ProberDeps;
  readonly #health: MemberHealth;
  /** By uid of the pod. */
  readonly #watched = new Map<string, Watched>();
  /** Who says that an address is its own: one pod, but for a moment in which the address of one that has gone is given to another. */
  readonly #byHost = new Map<string, Set<Watched>>();
  readonly #rounds: Rounds<Watched>;
  readonly #asking = new Set<Promise<void>>();
  #cancel: (() => void) | undefined;
  #paused = false;
  #stopped = false;

  constructor(deps: ProberDeps) {
    this.#deps = deps;
    this.#rounds = new Rounds(deps.options);
    this.#health = deps.health(host => this.#hasten(host));
  }

  /** A change of a (slim) Pod of a cluster. Pods without an address, and those that are going, are not asked. */
  note(change: StoreChange): void {
    const { uid, deletionTimestamp } = change.object.metadata;
    if (this.#stopped || uid === undefined) return;
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
    this.#claim(watched);
    this.#schedule();
  }

  /**
   * Whether a pod, by its uid, is well as far as its last answers tell; undefined: it has not answered yet. One whose address another pod has
   * as well is not asked, and so is not well.
   */
  isWell(uid: string): boolean | undefined {
    const watched = this.#watched.get(uid);
    if (watched === undefined) return undefined;
    if ((this.#byHost.get(watched.host)?.size ?? 0) > 1) return false;
    return watched.told === undefined ? undefined : watched.told === WELL;
  }

  /** Nobody is asked until `resume`; pods are still followed. */
  pause(): void {
    this.#paused = true;
    this.#unschedule();
  }

  resume(): void {
    this.#paused = false;
    this.#schedule();
  }

  /** Final. Resolves when no ask is under way any more. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#unschedule();
    this.#health.close();
    await Promise.all(this.#asking);
  }

  #claim(watched: Watched): void {
    const { clock, logger } = this.#deps;
    const claimants = this.#byHost.get(watched.host) ?? new Set();
    this.#byHost.set(watched.host, claimants.add(watched));
    if (claimants.size === 1) return this.#rounds.add(watched, clock.now());
    // An answer from there would be taken for both: their clusters look for themselves.
    for (const claimant of claimants) {
      const { namespace, name } = claimant.pod.metadata;
      logger.warn('pod has an address that another pod has as well and is not asked', {
        namespace,
        pod: name,
      });
      this.#rounds.delete(claimant);
      this.#owe(claimant);
    }
  }

  #forget(uid: string): void {
    const watched = this.#watched.get(uid);
    if (watched === undefined) return;
    this.#watched.delete(uid);
    this.#rounds.delete(watched);
    this.#health.forget(watched.host);
    const claimants = this.#byHost.get(watched.host);
    claimants?.delete(watched);
    const [other] = claimants ?? [];
    if (other === undefined) this.#byHost.delete(watched.host);
    else if (claimants?.size === 1) this.#rounds.add(other, this.#deps.clock.now());
  }

  /** Who lives there may not live any more. */
  #hasten(host: string): void {
    for (const watched of this.#byHost.get(host) ?? []) this.#rounds.hasten(watched);
    this.#unschedule();
    this.#schedule();
  }

  #unschedule(): void {
    this.#cancel?.();
    this.#cancel = undefined;
  }

  #schedule(): void {
    const { clock } = this.#deps;
    if (this.#paused || this.#stopped || this.#cancel !== undefined) return;
    const wait = this.#rounds.waitMs(clock.now());
    if (wait === undefined) return;
    this.#cancel = clock.after(wait, () => {
      this.#cancel = undefined;
      for (const watched of this.#rounds.take(clock.now())) {
        const asking = this.#ask(watched).finally(() => this.#asking.delete(asking));
        this.#asking.add(asking);
      }
      this.#schedule();
    });
  }

  async #ask(watched: Watched): Promise<void> {
    const said = await this.#health.ask(watched.host);
    watched.isAsked = false;
    const { uid = '' } = watched.pod.metadata;
    const isAlone = this.#byHost.get(watched.host)?.size === 1;
    if (said === undefined || this.#paused || this.#stopped) return;
    if (isAlone && this.#watched.get(uid) === watched) this.#hear(watched, said);
  }

  #hear(watched: Watched, said: string): void {
    const { told, pod } = watched;
    watched.good = said === WELL ? watched.good + 1 : 0;
    watched.bad = said === WELL ? 0 : watched.bad + 1;
    const isNews = said !== told && (told === undefined || said !== WELL || watched.good >= GOOD_ENOUGH);
    if (isNews) watched.told = said;
    // What one more answer confirms or refutes does not wait for the next round, however many members there are.
    if (said === WELL ? watched.told !== WELL : watched.bad < BAD_STILL)
      this.#rounds.askAgain(watched, this.#deps.clock.now());
    // Whoever lists a pod first has its cluster looked at anyway.
    if (told === undefined) return;
    watched.owed ||= watched.bad === BAD_STILL;
    const { namespace, name } = pod.metadata;
    if (isNews)
      this.#deps.logger.info('member health changed', { namespace, pod: name, before: told, now: said });
    if (isNews || watched.owed) this.#owe(watched);
  }

  /** The first change is told at once; those of a member that goes on changing at ever longer intervals, the last one never lost. */
  #owe(watched: Watched): void {
    watched.owed = true;
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
