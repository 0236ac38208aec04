/** What the port promises when the store, the network or the credentials are bad; for adapters that have a front before them. */
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { inspect } from 'node:util';
import { afterEach, expect, test, vi } from 'vitest';
import type { OpenOptions } from '../../src/store/open.ts';
import type { Store, StoreError } from '../../src/store/port.ts';
import { poll } from '../stack/poll.ts';
import type { Fault, Front, Seen } from '../fakes/store-front.ts';
import { bytes, codeOf, collect, digest, failure, PART } from './contract.ts';

export interface FaultSubject {
  readonly front: Front;
  /** Opens the store as its resource and Secret would; `bucket` and `secret` other than the good ones on demand. */
  readonly open: (how?: {
    readonly bucket?: string;
    readonly secret?: Readonly<Record<string, string>> | undefined;
    readonly options?: OpenOptions;
  }) => Promise<Store>;
  /** Secrets that must be refused, with the name of what is wrong. */
  readonly wrongSecrets: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** Texts that no error may have. */
  readonly canaries: readonly string[];
  /** Which request makes the object of a small put, and which that of a large one. */
  readonly makesObject: (seen: Seen) => boolean;
  readonly leftovers: (prefix: string) => Promise<number>;
  /** Whether parts of a killed upload stay until someone takes them away. */
  readonly keepsParts: boolean;
}

const busy = (status: number): Fault => ({ kind: 'status', status, headers: { 'retry-after': '0' } });

export function faultContract(subject: () => FaultSubject): void {
  const fresh = () => `faults/${randomUUID()}/object`;
  const opened: Store[] = [];
  const open: FaultSubject['open'] = async how => {
    const store = await subject().open(how);
    opened.push(store);
    return store;
  };
  afterEach(async () => {
    vi.useRealTimers();
    subject().front.reset();
    await Promise.all(opened.splice(0).map(store => store.close()));
  });

  /** Each kind of call, as something that fails when the store does. */
  const everyCall = (store: Store, key: string): readonly (() => Promise<unknown>)[] => [
    () => store.put(key, bytes(100)),
    () => store.put(key, bytes(PART + 1)),
    () => store.get(key),
    () => store.head(key),
    () => collect(store.list(key)),
    () => store.delete(key),
  ];

  const assertNoCanary = (error: unknown): void => {
    const text = [inspect(error, { depth: 9 }), JSON.stringify(error), `${(error as Error).stack}`].join(
      '\n',
    );
    for (const canary of subject().canaries) expect(text).not.toContain(canary);
  };

  test('wrong credentials are reported as such by every call, without a secret in the words', async () => {
    for (const [what, secret] of Object.entries(subject().wrongSecrets)) {
      const store = await open({ secret });
      for (const error of await Promise.all(everyCall(store, fresh()).map(call => failure(call())))) {
        expect({ what, code: error.code, message: error.message }).toEqual({
          what,
          code: 'denied',
          message: expect.stringMatching(/credentials/),
        });
        assertNoCanary(error);
      }
    }
  });

  test('a bucket that is not there is distinguished from an object that is not', async () => {
    const store = await open({ bucket: 'no-such-bucket' });
    const key = fresh();
    expect(await codeOf(store.put(key, bytes(100)))).toBe('no-bucket');
    expect(await codeOf(store.put(key, bytes(PART + 1)))).toBe('no-bucket');
    expect(await codeOf(collect(store.list(key)))).toBe('no-bucket');
    expect(await codeOf(store.get(key))).toBe('no-bucket');
    expect(await codeOf(store.head(key))).toBe('no-bucket');
  });

  test('a store that takes requests and never answers is given up', async () => {
    const store = await open({ options: { silenceMs: 300, attempts: 2 } });
    subject().front.fault = () => ({ kind: 'hang' });
    const started = performance.now();
    const errors = await Promise.all(everyCall(store, fresh()).map(call => failure(call())));
    expect(performance.now() - started).toBeLessThan(8000);
    for (const error of errors) {
      expect(error).toMatchObject({ code: 'timeout', retry: true });
      assertNoCanary(error);
    }
  });

  test('a deadline ends a call to a store that never answers', async () => {
    const store = await open();
    subject().front.fault = () => ({ kind: 'hang' });
    const started = performance.now();
    const key = fresh();
    const deadlineMs = 300;
    const calls = [
      store.put(key, bytes(100), { deadlineMs }),
      store.get(key, { deadlineMs }),
      store.head(key, { deadlineMs }),
      collect(store.list(key, { deadlineMs })),
      store.delete(key, { deadlineMs }),
    ];
    expect(await Promise.all(calls.map(codeOf))).toEqual(calls.map(() => 'timeout'));
    expect(performance.now() - started).toBeLessThan(5000);
  });

  test.each([429, 503])('HTTP %d twice is nothing that a caller sees', async status => {
    const store = await open();
    const key = fresh();
    const throttle = () => {
      let left = 2;
      subject().front.fault = () => (left-- > 0 ? busy(status) : undefined);
    };
    throttle();
    await store.put(key, bytes(PART + 100));
    throttle();
    expect(await store.head(key)).toMatchObject({ size: PART + 100 });
    throttle();
    expect(await collect(store.list(key))).toHaveLength(1);
    throttle();
    expect((await digest((await store.get(key)).body)).size).toBe(PART + 100);
    throttle();
    await store.delete(key);
    expect(await store.head(key)).toBeUndefined();
  });

  test('a store that stays busy is unavailable, to be tried again later', async () => {
    const store = await open({ options: { attempts: 2 } });
    subject().front.fault = () => busy(503);
    const error = await failure(store.put(fresh(), bytes(100)));
    expect(error).toMatchObject({ code: 'unavailable', retry: true });
    assertNoCanary(error);
  });

  test('an upload whose parts fail is taken back', async () => {
    const store = await open({ options: { attempts: 2 } });
    const key = fresh();
    subject().front.fault = ({ method, headers }) =>
      method === 'PUT' && Number(headers['content-length']) > 1_000_000 ? busy(500) : undefined;
    expect(await codeOf(store.put(key, bytes(3 * PART)))).toBe('unavailable');
    subject().front.reset();
    expect(await store.head(key)).toBeUndefined();
    expect(await subject().leftovers(key)).toBe(0);
  });

  test.each([
    ['as long as a part may take', 500],
    ['longer', 3500],
  ])(
    'an upload that is given up while the store keeps its last part back %s leaves nothing',
    async (_, heldMs) => {
      const { front, leftovers } = subject();
      const store = await open();
      const key = fresh();
      const aborted = new AbortController();
      const held = { begun: false, passed: false };
      front.fault = ({ method, headers }) => {
        if (method !== 'PUT' || Number(headers['content-length']) < 1_000_000 || held.begun) return undefined;
        held.begun = true;
        const until = async () => {
          aborted.abort();
          await delay(heldMs);
          held.passed = true;
        };
        return { kind: 'hold', until };
      };
      const source = async function* () {
        yield* bytes(PART + 5);
        await new Promise(() => {});
      };
      expect(await codeOf(store.put(key, source(), { signal: aborted.signal }))).toBe('aborted');
      await poll(async () => held.passed);
      await poll(async () => (await leftovers(key)) === 0, { timeoutMs: 3_000 });
      expect(await store.head(key)).toBeUndefined();
    },
  );

  test('an upload that is given up while it begins leaves nothing', async () => {
    const { front, leftovers } = subject();
    const store = await open();
    const key = fresh();
    const aborted = new AbortController();
    const until = async () => {
      aborted.abort();
      await delay(500);
    };
    front.fault = ({ method, path }) =>
      method === 'POST' && /[?&]uploads/.test(path) ? { kind: 'hold', until } : undefined;
    const source = async function* () {
      yield* bytes(PART + 5);
      aborted.abort();
      await new Promise(() => {});
    };
    expect(await codeOf(store.put(key, source(), { signal: aborted.signal }))).toBe('aborted');
    // Longer than the request was held back.
    await delay(600);
    expect(await leftovers(key)).toBe(0);
    expect(await store.head(key)).toBeUndefined();
  });

  test('a store that is down is unavailable', async () => {
    const { front } = subject();
    const store = await open({ options: { attempts: 2, silenceMs: 1000 } });
    front.fault = () => ({ kind: 'lose answer' });
    const error = await failure(store.head(fresh()));
    expect(error).toMatchObject({ code: 'unavailable', retry: true });
    assertNoCanary(error);
  });

  test.each([100, PART + 100])(
    'when the answer to the request that makes an object of %d bytes is lost, the put still knows its own',
    async size => {
      const store = await open();
      const key = fresh();
      let lost = 0;
      subject().front.fault = seen =>
        subject().makesObject(seen) && lost++ === 0 ? { kind: 'lose answer' } : undefined;
      expect(await store.put(key, bytes(size))).toEqual({ size });
      expect(lost).toBeGreaterThan(0);
      expect(await digest((await store.get(key)).body)).toEqual(await digest(bytes(size)));
      expect(await subject().leftovers(key)).toBe(0);
      expect(await codeOf(store.put(key, bytes(1)))).toBe('exists');
    },
  );

  test('a download that breaks off says so, and continues from there', async () => {
    const store = await open();
    const key = fresh();
    const size = 2_000_000;
    await store.put(key, bytes(size));
    subject().front.fault = () => ({ kind: 'cut', afterBytes: 700_000 });
    const have: Uint8Array[] = [];
    const reading = async () => {
      for await (const chunk of (await store.get(key)).body) have.push(Uint8Array.from(chunk));
    };
    expect(await codeOf(reading())).toBe('unavailable');
    subject().front.reset();
    const offset = have.reduce((sum, chunk) => sum + chunk.length, 0);
    expect(offset).toBeGreaterThan(100_000);
    const rest = await store.get(key, { offset });
    expect(await digest(rest.body, have)).toEqual(await digest(bytes(size)));
  });

  test('a network that is slow but alive is waited for, longer than a silent one', async () => {
    const silenceMs = 3000;
    const store = await open({ options: { silenceMs, attempts: 1 } });
    const key = fresh();
    const size = PART + 1_000_000;
    subject().front.fault = ({ method }) => ({
      kind: 'slow',
      // What is sent is soon in the kernel's buffers; of what is received every byte is waited for.
      bytesPerSecond: method === 'GET' ? 2_500_000 : 10_000_000,
    });
    await store.put(key, bytes(size));
    const started = performance.now();
    expect((await digest((await store.get(key)).body)).size).toBe(size);
    expect(performance.now() - started).toBeGreaterThan(silenceMs);
  });

  test('a clock that is twenty minutes off is corrected by the store', async () => {
    for (const minutes of [20, -20]) {
      vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + minutes * 60_000 });
      const store = await open();
      const key = fresh();
      await store.put(key, bytes(1000));
      expect(await store.head(key)).toMatchObject({ size: 1000 });
      vi.useRealTimers();
    }
  });

  test('an upload that is taken away under its writer is to be tried again, or done', async () => {
    const store = await open();
    const key = fresh();
    // VersityGW may leave one of two requests for the same upload unanswered: none is waited for longer than that.
    const isTakenAway = async () =>
      (await store.removeUnfinished(key, { olderThanMs: 0, deadlineMs: 3_000 }).catch(() => 1)) > 0;
    const source = async function* () {
      yield* bytes(2 * PART);
      if (subject().keepsParts) await poll(isTakenAway);
      yield* bytes(10);
    };
    const outcome = await store.put(key, source(), { deadlineMs: 20_000 }).then(
      () => 'stored',
      (error: StoreError) => error.code,
    );
    // VersityGW makes the upload again for a part that was on its way: then the object is there, and whole.
    expect(['stored', 'unavailable', 'timeout']).toContain(outcome);
    expect((await store.head(key))?.size ?? 0).toBe(outcome === 'stored' ? 2 * PART + 10 : 0);
    expect(await subject().leftovers(key)).toBe(0);
  });

  test('what a killed writer left is taken away when it is old', async () => {
    const { front, leftovers, keepsParts } = subject();
    const store = await open({ options: { attempts: 1 } });
    const key = fresh();
    front.fault = ({ method }) => (method === 'DELETE' ? busy(500) : undefined);
    const aborted = new AbortController();
    const source = async function* () {
      yield* bytes(PART + 5);
      aborted.abort();
      await new Promise(() => {});
    };
    expect(await codeOf(store.put(key, source(), { signal: aborted.signal }))).toBe('aborted');
    front.reset();
    const left = keepsParts ? 1 : 0;
    expect(await leftovers(key)).toBe(left);
    expect(await store.removeUnfinished(key, { olderThanMs: 3_600_000 })).toBe(0);
    expect(await store.removeUnfinished(`${key}-other`, { olderThanMs: 0 })).toBe(0);
    expect(await store.removeUnfinished(key, { olderThanMs: 0, matching: /-other$/ })).toBe(0);
    expect(await store.removeUnfinished(key, { olderThanMs: 0, matching: /object$/ })).toBe(left);
    expect(await leftovers(key)).toBe(0);
    expect(await store.head(key)).toBeUndefined();
  });
}
