/** Whose turn it is to be asked: each member once a round, at an even pace. Time is an argument. */

export interface RoundOptions {
  /** From one ask of a member to the next, at least, in milliseconds. */
  readonly askEveryMs: number;
  /** A round of n members takes so many milliseconds times the square root of n, where that is longer. */
  readonly roundRootMs: number;
}

/** One that is asked, as far as its turns go. */
export interface Turn {
  /** When it was last asked. */
  askedAt: number;
  isAsked: boolean;
}

/** Turns are taken together within so many milliseconds: a thousand timers a second would cost more than what they do. */
const TICK_MS = 20;

/**
 * A round grows as the square root of the number of members, and so does the number of asks a second: with a hundred times as many
 * members trouble is noticed ten times as late at ten times the cost. Members are asked one after the other whatever the others
 * answer; one that has not answered yet only misses its own turns.
 */
export class Rounds<Member extends Turn> {
  readonly #options: RoundOptions;
  readonly #members = new Set<Member>();
  /** Those that are asked as soon as may be. */
  readonly #first = new Set<Member>();
  /** Those that are asked a second time soon, by when that was wanted: the same time before each. */
  readonly #again = new Map<Member, number>();
  /** Goes on where it was, also when members come and go. */
  #around: Iterator<Member> = this.#members.values();
  #nextAt = 0;

  constructor(options: RoundOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#members.size;
  }

  /** A new one is asked before the others have their next turn: after a start all are, in half a round. */
  add(member: Member, now: number): void {
    if (this.#members.size === 0) this.#nextAt = now + this.#options.askEveryMs;
    this.#members.add(member);
    this.#first.add(member);
  }

  delete(member: Member): void {
    this.#members.delete(member);
    this.#first.delete(member);
    this.#again.delete(member);
  }

  /** Has a member asked at once. */
  hasten(member: Member): void {
    if (this.#members.has(member)) this.#first.add(member);
  }

  /** Has a member asked `askEveryMs` from now, if that is before its turn. */
  askAgain(member: Member, now: number): void {
    if (this.#members.has(member)) this.#again.set(member, now);
  }

  /** Milliseconds until it is somebody's turn; undefined without members. */
  waitMs(now: number): number | undefined {
    if (this.#members.size === 0) return undefined;
    const [wantedAt = Number.POSITIVE_INFINITY] = this.#again.values();
    const next = Math.min(this.#nextAt, wantedAt + this.#options.askEveryMs);
    return Math.max(TICK_MS, this.#first.size > 0 ? 0 : next - now);
  }

  /** Those whose turn it is now; each is to be asked, with `askedAt` and `isAsked` set. */
  take(now: number): readonly Member[] {
    const spacing = this.roundMs() / Math.max(1, this.#members.size);
    // Turns that a busy process has missed are not made up for at once.
    const missed = Math.floor((now - this.#nextAt) / spacing) + 1;
    const count = Math.max(0, Math.min(missed, this.#members.size, Math.ceil((5 * TICK_MS) / spacing)));
    this.#nextAt = count < missed ? now + spacing : this.#nextAt + count * spacing;
    const taken = this.#takeEarly(now, Math.max(1, Math.ceil(TICK_MS / spacing)));
    for (let turn = 0; turn < count; turn += 1) {
      const member = this.#next();
      // One that was asked early is not asked twice for it.
      if (member !== undefined && !member.isAsked && now - member.askedAt >= this.#options.askEveryMs / 2)
        taken.push(member);
    }
    for (const member of taken) Object.assign(member, { askedAt: now, isAsked: true });
    return taken;
  }

  /** How long it takes to ask every member once, in milliseconds. */
  roundMs(): number {
    const { askEveryMs, roundRootMs } = this.#options;
    return Math.max(askEveryMs, roundRootMs * Math.sqrt(this.#members.size));
  }

  /** Twice as many as have their turn: however many fall silent or are found together, the others keep their pace. */
  #takeEarly(now: number, most: number): Member[] {
    const taken: Member[] = [];
    for (const member of this.#first) {
      if (taken.length >= 2 * most) return taken;
      this.#first.delete(member);
      if (!member.isAsked) taken.push(member);
    }
    for (const [member, wantedAt] of this.#again) {
      if (taken.length >= most || now < wantedAt + this.#options.askEveryMs) return taken;
      this.#again.delete(member);
      if (!member.isAsked && member.askedAt <= wantedAt) taken.push(member);
    }
    return taken;
  }

  #next(): Member | undefined {
    const { value, done } = this.#around.next();
    if (done !== true) return value;
    this.#around = this.#members.values();
    return this.#around.next().value;
  }
}
