/**
 * Keys that wait to be signalled. However often a key is added, at most one delivery of it is under way and one
 * more waits; a key leaves only when it was delivered after it was last added. Nothing here gives up.
 *
 * When Temporal cannot be reached, the whole queue backs off (outages.ts).
 *
 * Groups (namespaces) take turns, and one has a further delivery under way only while it has fewer than places are free, as calls
 * to the API server do (src/kube/holdings.ts): a storm in one namespace, or one whose signals hang, slows that namespace. The place of a
 * delivery rests after it for as long as its answer says, so that receivers that share a database have time to do what they were told.
 *
 * What nobody has changed waits in the background, with places of its own: ten thousand members that fall silent at once, because the
 * network of this process was away, hold up no change. What is retracted before its turn is dropped.
 */
import type { AddOptions, Delivery, QueueDeps, QueueStats, Undelivered } from './delivery.ts';
import { jitteredBackoffMs } from '../../api/values/backoff.ts';
import { nextInterval } from './pace.ts';
import { CalmFirst } from './calm-first.ts';
import { type Entry, newEntry, noteAdd, UNADDED } from './entry.ts';
import { Lane } from './lane.ts';
import { Outages } from './outages.ts';

export class CoalescingQueue {
  readonly #deps: QueueDeps;
  readonly #entries = new Map<string, Entry>();
  readonly #flights = new Map<Entry, Promise<void>>();
  /** Those that somebody has changed, and those in the background. */
  readonly #changed: Lane;
  readonly #background: Lane;
  readonly #outages: Outages;
  readonly #abort = new AbortController();
  /** The lane of the last try in an outage. */
  #lastTaken: Lane | undefined;
  #lastDeliveredAt = Number.NEGATIVE_INFINITY;
  #added = 0;
  #delivered = 0;
  #failed = 0;
  #stopped = false;
  #paused = false;

  constructor(deps: QueueDeps) {
    this.#deps = deps;
    const { clock, options } = deps;
    const lane = { clock, groupOf: ({ key }: Entry) => deps.groupOf(key), onFree: () => this.#pump() };
    this.#changed = new Lane({ ...lane, count: options.concurrency, calmFirst: new CalmFirst() });
    this.#background = new Lane({ ...lane, count: Math.ceil(options.concurrency / 2) });
    const backoff = options.outageBackoff;
    this.#outages = new Outages({ clock, backoff, onDue: () => this.#pump() });
  }

  /** Asks for a delivery that begins after now. */
  add(key: string, how: AddOptions = {}): void {
    if (this.#stopped) return;
    this.#added += 1;
    const entry = this.#entry(key);
    const wasBackground = entry.isBackground;
    noteAdd(entry, how);
    const isBroughtForward = wasBackground && !entry.isBackground;
    entry.added += 1;
    entry.waitingSince ??= this.#deps.clock.now();
    const isSooner = how.urgent === true && !entry.urgent;
    entry.urgent ||= isSooner;
    if (entry.phase === 'delayed' && isSooner) {
      entry.cancelTimer();
      entry.phase = 'idle';
    }
    if (isBroughtForward) this.#bringForward(entry);
    if (entry.phase === 'idle') this.#schedule(entry);
    else if (entry.phase === 'inFlight') entry.againSince ??= this.#deps.clock.now();
    else if (isBroughtForward) this.#pump();
  }

  /** Whether a key is being delivered, or will be in any case. */
  isWaiting(key: string): boolean {
    const entry = this.#entries.get(key);
    if (entry?.waitingSince === undefined) return false;
    return entry.phase === 'inFlight' || !entry.isRetractable;
  }

  /** Whether Temporal takes anything at present, as far as the last tries tell. */
  get isReachable(): boolean {
    return this.#outages.code === undefined;
  }

  /** The keys that failed, or that an outage keeps from being tried. A key that only keeps its pace is not among them. */
  undelivered(): readonly Undelivered[] {
    const found: Undelivered[] = [];
    for (const entry of this.#entries.values()) {
      const code = entry.code ?? this.#outages.code;
      if (entry.waitingSince === undefined || code === undefined) continue;
      found.push({ key: entry.key, since: entry.waitingSince, code });
    }
    return found;
  }

  /** Whether the last try of a key was delivered: undefined when it was never tried, or forgotten since. */
  lastDelivered(key: string): boolean | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined || (entry.deliveredAt === undefined && entry.code === undefined))
      return undefined;
    return entry.code === undefined;
  }

  /**
   * Whether the last delivery of a key may not have been seen to yet: it began less than so many milliseconds ago and nothing was
   * heard from its receiver since, or the next is held back.
   * @param heardAt when its receiver was last heard of, on the clock of the queue
   */
  awaitsAnswer(key: string, withinMs: number, heardAt = Number.NEGATIVE_INFINITY): boolean {
    const entry = this.#entries.get(key);
    if (entry?.deliveredAt === undefined) return false;
    const isRecent = this.#deps.clock.now() - entry.deliveredAt < withinMs;
    return entry.held > 0 || (isRecent && heardAt < entry.deliveredAt);
  }

  /** Since when the key waits that has waited longest, on the clock of the queue; undefined: none does. */
  waitingSince(): number | undefined {
    let oldest: number | undefined;
    for (const { waitingSince } of this.#entries.values())
      if (waitingSince !== undefined && waitingSince < (oldest ?? Number.POSITIVE_INFINITY))
        oldest = waitingSince;
    return oldest;
  }

  /** No delivery begins until `resume`; what is added waits. */
  pause(): void {
    this.#paused = true;
  }

  resume(): void {
    this.#paused = false;
    this.#pump();
  }

  /** Drops what is remembered of the pace of keys that have long been quiet. */
  sweep(quietMs: number): void {
    const limit = this.#deps.clock.now() - quietMs;
    for (const [key, entry] of this.#entries) {
      if (entry.phase === 'idle' && entry.startedAt < limit) this.#entries.delete(key);
    }
  }

  stats(): QueueStats {
    const waiting = [...this.#entries.values()].filter(entry => entry.waitingSince !== undefined).length;
    return {
      keys: this.#entries.size,
      waiting,
      inFlight: this.#flights.size,
      added: this.#added,
      delivered: this.#delivered,
      failed: this.#failed,
      reachable: this.isReachable,
    };
  }

  /**
   * Final: no delivery begins after this call. Resolves when those under way have ended; after `graceMs` they
   * are aborted.
   */
  async stop(graceMs: number): Promise<void> {
    this.#stopped = true;
    for (const entry of this.#entries.values()) entry.cancelTimer();
    this.#outages.stop();
    this.#changed.stop();
    this.#background.stop();
    const { clock } = this.#deps;
    const cancelAbort = clock.after(graceMs, () => this.#abort.abort());
    await Promise.all(this.#flights.values());
    cancelAbort();
    this.#outages.stop();
  }

  #entry(key: string): Entry {
    const known = this.#entries.get(key);
    if (known !== undefined) return known;
    const entry = newEntry(key, this.#deps.options);
    this.#entries.set(key, entry);
    return entry;
  }

  #schedule(entry: Entry): void {
    const { clock, options } = this.#deps;
    // A key that was refused keeps its distance whatever the news, and not all news can be urgent.
    const isRare = clock.now() - entry.urgentStarts[0] >= 2 * options.maxIntervalMs;
    const isHurried = entry.urgent && isRare && entry.failures === 0 && entry.held === 0;
    const notBefore = isHurried
      ? Math.min(entry.notBefore, entry.startedAt + options.urgentIntervalMs)
      : entry.notBefore;
    const wait = notBefore - clock.now();
    if (wait <= 0) return this.#makeReady(entry);
    entry.phase = 'delayed';
    entry.cancelTimer = clock.after(wait, () => this.#makeReady(entry));
  }

  #makeReady(entry: Entry): void {
    entry.phase = 'ready';
    this.#laneOf(entry).add(entry);
    this.#pump();
  }

  #laneOf({ isBackground }: Entry): Lane {
    return isBackground ? this.#background : this.#changed;
  }

  /** A key has changed that was in the background. */
  #bringForward(entry: Entry): void {
    if (entry.phase !== 'ready') return;
    this.#background.delete(entry);
    this.#changed.add(entry);
  }

  #pump(): void {
    const { isRetracted } = this.#deps;
    for (let entry = this.#next(); entry !== undefined; entry = this.#next()) {
      if (entry.isRetractable && isRetracted?.(entry.key) === true) this.#drop(entry);
      else this.#start(entry);
    }
  }

  #drop(entry: Entry): void {
    entry.phase = 'idle';
    entry.waitingSince = undefined;
    entry.added = 0;
    Object.assign(entry, UNADDED);
  }

  /** Takes out the next key to be tried now. */
  #next(): Entry | undefined {
    if (this.#stopped || this.#paused) return undefined;
    if (this.isReachable) return this.#changed.next() ?? this.#background.next();
    return this.#outages.next([...this.#flights.keys()], matches => this.#takeReady(matches));
  }

  /** Of both lanes by turns: one key that hangs does not keep the other lane from finding that Temporal is back. */
  #takeReady(matches: (entry: Entry) => boolean): Entry | undefined {
    const [first, second] =
      this.#lastTaken === this.#changed
        ? [this.#background, this.#changed]
        : [this.#changed, this.#background];
    for (const lane of [first, second]) {
      const entry = lane.take(matches);
      if (entry !== undefined) {
        this.#lastTaken = lane;
        return entry;
      }
    }
    return undefined;
  }

  #start(entry: Entry): void {
    entry.phase = 'inFlight';
    entry.againSince = undefined;
    entry.startedAt = this.#deps.clock.now();
    if (entry.urgent) entry.urgentStarts = [entry.urgentStarts[1], entry.startedAt];
    entry.urgent = false;
    const { isPaced, isBackground } = entry;
    const leave = this.#laneOf(entry).enter(entry);
    Object.assign(entry, UNADDED);
    const flight = this.#deps.deliver(entry.key, this.#abort.signal).then(delivery => {
      this.#flights.delete(entry);
      if (delivery.outcome !== 'delivered') {
        // A key that failed or is held keeps its lane, and is tried again in any case.
        entry.isBackground &&= isBackground;
        entry.isRetractable = false;
      }
      leave(delivery.outcome === 'delivered' && !isPaced ? delivery.restMs : undefined);
      this.#settle(entry, delivery);
    });
    this.#flights.set(entry, flight);
  }

  #settle(entry: Entry, delivery: Delivery): void {
    const now = this.#deps.clock.now();
    if (delivery.outcome === 'delivered') {
      this.#settleDelivered(entry, now);
    } else if (delivery.outcome === 'held') {
      this.#settleHeld(entry, now);
    } else {
      this.#failed += 1;
      entry.code = delivery.code;
      entry.notBefore = now;
      // Others got through meanwhile: the fault is with this key, not with Temporal.
      const alone = this.#lastDeliveredAt >= entry.startedAt;
      if (delivery.outcome === 'unavailable' && !alone) this.#outages.note(entry, delivery.code);
      else this.#delayKey(entry, now);
    }
    entry.phase = 'idle';
    if (!this.#stopped && entry.waitingSince !== undefined) this.#schedule(entry);
    this.#pump();
  }

  #settleDelivered(entry: Entry, now: number): void {
    this.#delivered += 1;
    this.#lastDeliveredAt = now;
    // Until it changed again, not until its turn came: waiting for a slow Temporal is not being quiet.
    const changedAt = entry.waitingSince ?? entry.startedAt;
    const stillMs = changedAt - (entry.deliveredAt ?? Number.NEGATIVE_INFINITY);
    entry.interval = nextInterval(this.#deps.options, { interval: entry.interval, stillMs });
    entry.notBefore = entry.startedAt + entry.interval;
    entry.deliveredAt = entry.startedAt;
    entry.added = entry.againSince === undefined ? 0 : 1;
    entry.held = 0;
    entry.waitingSince = entry.againSince;
    this.#settleReached(entry);
  }

  #settleHeld(entry: Entry, now: number): void {
    const { clock, options } = this.#deps;
    this.#lastDeliveredAt = now;
    entry.held += 1;
    entry.notBefore = now + jitteredBackoffMs(options.heldBackoff, entry.held, clock.random());
    this.#settleReached(entry);
  }

  /** Temporal has answered as it should. */
  #settleReached(entry: Entry): void {
    entry.failures = 0;
    entry.code = undefined;
    this.#outages.end();
  }

  #delayKey(entry: Entry, now: number): void {
    const { clock, options } = this.#deps;
    entry.failures += 1;
    entry.notBefore = now + jitteredBackoffMs(options.keyBackoff, entry.failures, clock.random());
  }
}
