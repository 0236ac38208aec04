/** The load of a drill: so many writes a second over two connections, with readers beside them, all recorded. */
import { setTimeout as delay } from 'node:timers/promises';
import { DrillConnection, type Endpoints } from './connection.ts';
import type { History, Read, Write } from './history.ts';
import { messageOf } from '../../../src/api/values/message-of.ts';

export interface LoadOptions {
  /** Where the members are, asked again all the time: `host:port` each. */
  readonly endpoints: () => Promise<readonly string[]>;
  /** All keys begin with it; two loads on one cluster need two. */
  readonly prefix: string;
  readonly writesPerSecond?: number;
  readonly readers?: number;
  /** How long a call may take, in milliseconds. */
  readonly callMs?: number;
}

export interface Load {
  readonly prefix: string;
  /** Writes that were acknowledged so far. */
  acknowledged(): number;
  /** Ends the load, waits for what is under way, and gives the history. */
  stop(): Promise<History>;
}

const CONNECTIONS = 2;
const KEYS_PER_CONNECTION = 8;
/**
 * A machine that is too busy for this process must not be answered with more of the same: what was missed is not made up
 * for beyond a few writes, and no more than a second's writes wait for their answers.
 */
const CATCH_UP = 10;
const WRITES_PER_SECOND = 200;
/** An application tries a write again for so long; as often as the connection may have changed by then. */
const TRY_AGAIN_FOR_MS = 1_000;
const TRY_AGAIN_EVERY_MS = 100;
const LOOK_EVERY_MS = 250;
const READ_EVERY_MS = 25;
/** A client that is so late with its own next write stood still itself. */
const STANDSTILL_MS = 30;

/** Begins to write and read. Rejects when there is no member to begin with. */
export async function startLoad(options: LoadOptions): Promise<Load> {
  const known = await options.endpoints();
  if (known.length === 0) throw new Error(`there is no member to write ${options.prefix} to`);
  const load = new RunningLoad(options, known);
  load.begin();
  return load;
}

class RunningLoad implements Load {
  readonly prefix: string;
  readonly #options: LoadOptions;
  readonly #writers: DrillConnection[];
  readonly #readers: DrillConnection[];
  readonly #writes: Write[] = [];
  readonly #reads: Read[] = [];
  readonly #underWay = new Set<Promise<void>>();
  readonly #begin = performance.now();
  #known: readonly string[];
  #next = 0;
  #tries = 0;
  #acknowledged = 0;
  readonly #standstills: { from: number; ms: number }[] = [];
  #stopping = false;

  constructor(options: LoadOptions, known: readonly string[]) {
    this.prefix = options.prefix;
    this.#options = options;
    this.#known = known;
    const callMs = options.callMs ?? 2_000;
    const endpoints: Endpoints = () => this.#known;
    const connections = (count: number): DrillConnection[] =>
      Array.from({ length: count }, (_, first) => new DrillConnection(endpoints, { first, callMs }));
    this.#writers = connections(CONNECTIONS);
    this.#readers = connections(options.readers ?? 2);
  }

  begin(): void {
    this.#track(this.#write());
    this.#track(this.#look());
    for (const [index, reader] of this.#readers.entries()) this.#track(this.#read(reader, index));
  }

  acknowledged(): number {
    return this.#acknowledged;
  }

  async stop(): Promise<History> {
    this.#stopping = true;
    const end = performance.now();
    while (this.#underWay.size > 0) await Promise.all(this.#underWay);
    for (const connection of [...this.#writers, ...this.#readers]) connection.close();
    return {
      writes: this.#writes,
      reads: this.#reads,
      begin: this.#begin,
      end,
      standstills: this.#standstills,
    };
  }

  #track(work: Promise<void>): void {
    this.#underWay.add(work);
    void work.finally(() => this.#underWay.delete(work));
  }

  /** The pace does not depend on answers: a cluster that stalls is written to all the same. */
  async #write(): Promise<void> {
    const { writesPerSecond = WRITES_PER_SECOND } = this.#options;
    const everyMs = 1000 / writesPerSecond;
    while (!this.#stopping) {
      const due = Math.floor((performance.now() - this.#begin) / everyMs);
      this.#next = Math.max(this.#next, due - CATCH_UP);
      for (; this.#next < due; this.#next += 1) {
        if (this.#underWay.size < writesPerSecond) this.#track(this.#put(this.#next));
      }
      const from = performance.now();
      await delay(everyMs);
      const ms = performance.now() - from - everyMs;
      if (ms >= STANDSTILL_MS) this.#standstills.push({ from, ms });
    }
  }

  /** Writes, and when that fails once more within a second: with a value of its own, as the first may have been stored. */
  async #put(slot: number): Promise<void> {
    const first = await this.#try(slot);
    const until = performance.now() + TRY_AGAIN_FOR_MS;
    for (let last = first; last.outcome !== 'ok'; ) {
      await delay(TRY_AGAIN_EVERY_MS);
      if (performance.now() > until) return;
      last = await this.#try(slot, first.id);
    }
  }

  async #try(slot: number, insteadOf?: number): Promise<Write> {
    const writer = this.#writers[slot % CONNECTIONS];
    if (writer === undefined) throw new Error('a load has no connection to write with');
    const id = this.#tries;
    this.#tries += 1;
    const key = this.#key(slot);
    const value = `${this.prefix}#${id}`;
    const start = performance.now();
    const put = { key: Buffer.from(key), value: Buffer.from(value) };
    const what = { id, key, value, start, ...(insteadOf === undefined ? {} : { insteadOf }) };
    const write = await writer
      .call((etcd, options) => etcd.kv.put(put, options))
      .then(
        ({ header }): Write => ({
          ...what,
          end: performance.now(),
          outcome: 'ok',
          revision: Number(header.revision),
        }),
        // Whatever it was, the write may have happened.
        (thrown: unknown): Write => ({
          ...what,
          end: performance.now(),
          outcome: 'unknown',
          revision: undefined,
          error: messageOf(thrown),
        }),
      );
    if (write.outcome === 'ok') this.#acknowledged += 1;
    this.#writes.push(write);
    return write;
  }

  async #read(reader: DrillConnection, index: number): Promise<void> {
    for (let turn = index; !this.#stopping; turn += 1) {
      const key = this.#key(turn);
      const start = performance.now();
      try {
        const { header, kvs } = await reader.call((etcd, options) =>
          etcd.kv.range({ key: Buffer.from(key), serializable: false }, options),
        );
        const value = kvs[0]?.value.toString();
        this.#reads.push({ key, start, end: performance.now(), revision: Number(header.revision), value });
      } catch {
        // A read without an answer says nothing.
      }
      await delay(READ_EVERY_MS);
    }
  }

  /** Keeps the addresses fresh; while nothing reports them, the last ones hold. */
  async #look(): Promise<void> {
    while (!this.#stopping) {
      await delay(LOOK_EVERY_MS);
      const now = await this.#options.endpoints().catch(() => this.#known);
      if (now.length > 0) this.#known = now;
    }
  }

  #key(id: number): string {
    return `${this.prefix}/${id % (CONNECTIONS * KEYS_PER_CONNECTION)}`;
  }
}
