import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { KubeError } from '../../src/kube/errors.ts';
import type { KubeObject } from '../../src/kube/port.ts';
import { Reflector } from '../../src/kube/reflector.ts';
import type { StoreChange } from '../../src/kube/store.ts';
import type { ReflectorOptions, ReflectorReport, ReflectorTiming } from '../../src/kube/reflector.ts';
import { type Bench, errorLine, faults, memoryLogger, openBench, pod, podRef, pods } from './support.ts';

const timing: Partial<ReflectorTiming> = {
  idleTimeoutMs: 60_000,
  listTimeoutMs: 5_000,
  backoff: { firstMs: 20, maxMs: 100 },
  healthyAfterMs: 150,
};

/** What was reported, as "added a", "deleted a". */
function recorder(): { reported: string[]; onChange: (change: StoreChange) => void } {
  const reported: string[] = [];
  const onChange = ({ type, object }: StoreChange) => void reported.push(`${type} ${object.metadata.name}`);
  return { reported, onChange };
}

describe('the reflector, against an apiserver that', { timeout: 120_000 }, () => {
  let bench: Bench;
  let reflector: Reflector;
  let reported: string[];
  let reports: ReflectorReport[];
  let logger: ReturnType<typeof memoryLogger>;

  const follow = (options: Partial<ReflectorOptions> = {}): void => {
    const record = recorder();
    reported = record.reported;
    reports = [];
    logger = memoryLogger();
    reflector = new Reflector({
      client: bench.client,
      kind: pods,
      timing,
      logger,
      report: report => reports.push(report),
      ...options,
      onChange: change => {
        record.onChange(change);
        options.onChange?.(change);
      },
    });
    reflector.start();
  };
  const followedTo = async (...names: string[]): Promise<void> => {
    await until(() =>
      expect(
        reflector.store
          .list()
          .map(object => object.metadata.name)
          .sort(),
      ).toEqual(names),
    );
    await until(() => expect(bench.server.openWatches).toBe(1));
  };
  const until = (check: () => void) => vi.waitFor(check, { timeout: 20_000, interval: 5 });
  const failures = () => reports.filter(report => report.type === 'failed');
  const lists = () => reports.filter(report => report.type === 'listed');

  beforeEach(async () => {
    // One attempt a call: what the client repeats by itself is not what is tested here.
    bench = await openBench({ retry: { backoff: { firstMs: 1, maxMs: 1 }, attempts: 1 } });
    await bench.server.kube.create(pod('a'));
  });
  afterEach(async () => {
    await reflector.stop();
    await bench.close();
  });

  it('works: lists, watches, reports each change once, drops managedFields, slims', async () => {
    bench.server.kube.mutate(podRef('a'), object => {
      object.metadata.managedFields = [{ manager: 'x' }];
    });
    const slim = ({ apiVersion, kind, metadata }: KubeObject): KubeObject => ({ apiVersion, kind, metadata });
    follow({ slim });
    await followedTo('a');
    expect(reflector.hasSynced).toBe(true);
    await bench.server.kube.create(pod('b'));
    await bench.server.kube.patch(podRef('a'), { metadata: { labels: { x: 'y' } } }, { type: 'merge' });
    await bench.server.kube.delete(podRef('b'));
    await until(() => expect(reported).toEqual(['added a', 'added b', 'updated a', 'deleted b']));
    const stored = reflector.store.get('default', 'a');
    expect(Object.keys(stored ?? {})).toEqual(['apiVersion', 'kind', 'metadata']);
    expect(stored?.metadata.labels).toEqual({ app: 'etcd', x: 'y' });
    expect(stored?.metadata).not.toHaveProperty('managedFields');
    expect(bench.server.count('list')).toBe(1);
  });

  it('pages a list, and is asked for bookmarks and a random end of the watch', async () => {
    for (let i = 0; i < 1_201; i += 1) bench.server.kube.seed(pod(`p${i}`));
    follow();
    await until(() => expect(bench.server.openWatches).toBe(1));
    expect(reflector.store.size).toBe(1_202);
    expect(bench.server.requests.filter(r => r.verb === 'list').map(r => r.query.get('limit'))).toEqual([
      '500',
      '500',
      '500',
    ]);
    const watch = bench.server.requests.find(request => request.verb === 'watch');
    expect(watch?.query.get('allowWatchBookmarks')).toBe('true');
    const seconds = Number(watch?.query.get('timeoutSeconds'));
    expect(seconds).toBeGreaterThanOrEqual(300);
    expect(seconds).toBeLessThanOrEqual(600);
  });

  it('answers a watch with HTTP 410', async () => {
    bench.server.fail('watch', faults.status(410, 'Expired'));
    follow();
    await followedTo('a');
    expect(lists().map(report => report.because)).toEqual(['start', 'expired']);
    expect(reported).toEqual(['added a']);
  });

  it.each(['end', 'stayOpen'] as const)('sends an in-band 410 and lets the stream %s', async then => {
    bench.server.fail('watch', faults.body(errorLine(410, 'Expired'), then));
    // Not by way of the idle timer: that would be a minute.
    follow();
    await followedTo('a');
    expect(lists()).toHaveLength(2);
    await until(() => expect(bench.server.openConnections).toBeLessThanOrEqual(2));
  });

  it('lost the history in which an object was deleted', async () => {
    await bench.server.kube.create(pod('b'));
    follow();
    await followedTo('a', 'b');
    await bench.server.down();
    await bench.server.kube.delete(podRef('b'));
    bench.server.kube.compact();
    await bench.server.up();
    await followedTo('a');
    expect(reported).toEqual(['added a', 'added b', 'deleted b']);
  });

  it.each(['away', 'watching'] as const)(
    'has an object deleted and made again under its name (%s)',
    async how => {
      const seen: (string | undefined)[] = [];
      follow({ onChange: ({ object }) => void seen.push(object.metadata.uid) });
      await followedTo('a');
      const first = reflector.store.get('default', 'a')?.metadata.uid;
      if (how === 'away') await bench.server.down();
      await bench.server.kube.delete(podRef('a'));
      const second = (await bench.server.kube.create(pod('a'))).metadata.uid;
      if (how === 'away') {
        bench.server.kube.compact();
        await bench.server.up();
      }
      await until(() => expect(reported).toEqual(['added a', 'deleted a', 'added a']));
      expect(seen).toEqual([first, first, second]);
    },
  );

  it('sends bookmarks: the next watch starts from there', async () => {
    follow();
    await followedTo('a');
    bench.server.kube.seed({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'other', namespace: 'default' },
    });
    bench.server.bookmark('3');
    await until(() => expect(reports).toContainEqual({ type: 'event', event: 'BOOKMARK' }));
    bench.server.kube.compact();
    bench.server.endWatches();
    await until(() => expect(bench.server.count('watch')).toBe(2));
    await followedTo('a');
    expect(bench.server.requests.at(-1)?.query.get('resourceVersion')).toBe('3');
    expect(bench.server.count('list')).toBe(1);
  });

  it('was restored from a backup: a bookmark from before leads to a list', async () => {
    await bench.server.kube.create(pod('b'));
    follow();
    await followedTo('a', 'b');
    bench.server.bookmark('1');
    await until(() => expect(lists()).toHaveLength(2));
    await followedTo('a', 'b');
  });

  it('is gone without a word: the silent watch is given up and resumed without a list', async () => {
    follow({ timing: { ...timing, idleTimeoutMs: 300 } });
    await followedTo('a');
    bench.server.silenceWatches();
    await bench.server.kube.create(pod('b'));
    await until(() => expect(reported).toEqual(['added a', 'added b']));
    expect(bench.server.count('list')).toBe(1);
    expect(failures().every(report => report.reason === 'Timeout')).toBe(true);
  });

  it('accepts a watch and never answers it', async () => {
    bench.server.fail('watch', faults.hang);
    follow({ timing: { ...timing, idleTimeoutMs: 300 } });
    await followedTo('a');
    expect(failures()[0]).toMatchObject({ during: 'watch', reason: 'Timeout' });
  });

  it('closes every watch at once: requests stay few', async () => {
    bench.server.fail('watch', faults.body(''), 1_000);
    follow();
    await delay(1_000);
    // At most one per (half the greatest wait), and the lists that doubt makes.
    expect(bench.server.count('watch')).toBeLessThan(25);
    expect(bench.server.count('watch')).toBeGreaterThan(1);
    bench.server.heal();
    await bench.server.kube.create(pod('b'));
    await followedTo('a', 'b');
  });

  it('sends one event and closes, again and again: requests stay few', async () => {
    const event = `${JSON.stringify({ type: 'BOOKMARK', object: { ...pods, metadata: { resourceVersion: '9' } } })}\n`;
    bench.server.fail('watch', faults.body(event), 1_000);
    follow();
    await delay(1_000);
    expect(bench.server.count('watch')).toBeLessThan(25);
  });

  it.each([
    [500, 'InternalError'],
    [503, 'ServiceUnavailable'],
    [403, 'Forbidden'],
    [401, 'Unauthorized'],
  ])('answers lists with %i', async (code, reason) => {
    bench.server.fail('list', faults.status(code, reason), 3);
    follow();
    await until(() => expect(failures()).toHaveLength(3));
    expect(reflector.hasSynced).toBe(false);
    expect(reflector.isForbidden).toBe(code === 403);
    await followedTo('a');
    expect(reflector.isForbidden).toBe(false);
    expect(failures().every(report => report.during === 'list' && report.reason === reason)).toBe(true);
  });

  it.each([
    [401, 'Unauthorized'],
    [403, 'Forbidden'],
    [500, 'InternalError'],
    [503, 'ServiceUnavailable'],
  ])('answers watches with %i', async (code, reason) => {
    bench.server.fail('watch', faults.status(code, reason), 4);
    follow();
    await followedTo('a');
    expect(failures().map(report => report.reason)).toEqual([reason, reason, reason, reason]);
    expect(bench.server.count('list')).toBe(1);
  });

  it('asks for patience with Retry-After', async () => {
    bench.server.fail('watch', faults.status(429, 'TooManyRequests', { retryAfterSeconds: 1 }));
    follow();
    await followedTo('a');
    const [first, second] = bench.server.requests.filter(request => request.verb === 'watch');
    expect((second?.atMs ?? 0) - (first?.atMs ?? 0)).toBeGreaterThanOrEqual(1_000);
  });

  it('fails watches for long: their starting point is doubted', async () => {
    bench.server.fail('watch', faults.status(504, 'Timeout', { message: 'Too large resource version' }), 6);
    follow();
    await followedTo('a');
    expect(lists().map(report => report.because)).toEqual(['start', 'failures']);
  });

  it.each(['list', 'watch'])('resets connections (%s)', async verb => {
    bench.server.fail(verb, faults.reset, 3);
    follow();
    await followedTo('a');
    expect(failures().map(report => report.reason)).toEqual(['NetworkError', 'NetworkError', 'NetworkError']);
  });

  it('restarts', async () => {
    follow();
    await followedTo('a');
    await bench.server.down();
    await until(() => expect(failures().length).toBeGreaterThan(2));
    await bench.server.kube.create(pod('b'));
    await bench.server.up();
    await followedTo('a', 'b');
    expect(reported).toEqual(['added a', 'added b']);
  });

  it('sends an in-band 500: it is reported, and the watch resumed', async () => {
    bench.server.fail('watch', faults.body(errorLine(500, 'InternalError'), 'stayOpen'));
    follow();
    await followedTo('a');
    expect(failures()).toEqual([expect.objectContaining({ during: 'watch', reason: 'InternalError' })]);
    expect(logger.lines).toContainEqual(
      expect.objectContaining({ level: 'warn', fields: expect.objectContaining({ kind: 'Pod', code: 500 }) }),
    );
    expect(bench.server.count('list')).toBe(1);
  });

  it('cuts a line: the event comes with the next watch', async () => {
    const line = JSON.stringify({
      type: 'ADDED',
      object: {
        ...pod('cut'),
        metadata: { name: 'cut', namespace: 'default', uid: 'u', resourceVersion: '7' },
      },
    });
    bench.server.fail('watch', faults.body(line.slice(0, -20), 'reset'));
    bench.server.fail('watch', faults.body(line.slice(0, -20), 'end'));
    follow();
    await followedTo('a');
    expect(reported).toEqual(['added a']);
    expect(bench.server.count('list')).toBe(1);
  });

  it.each([
    'no json\n',
    '{"type":"ADDED","object":null}\n',
    '[]\n',
    '{"type":"NEW","object":{"metadata":{}}}\n',
  ])('sends the line %j', async line => {
    bench.server.fail('watch', faults.body(line, 'stayOpen'));
    follow();
    await followedTo('a');
    expect(failures().map(report => report.reason)).toEqual(['BadResponse']);
  });

  it('sends an event of 1.4 MB of UTF-8 in pieces that cut characters', async () => {
    follow();
    await followedTo('a');
    const text = 'Häßliches Ünicode 漢字 🙂 '.repeat(45_000);
    const object = {
      ...pod('big', { text }),
      metadata: { name: 'big', namespace: 'default', uid: 'big', resourceVersion: '99' },
    };
    const bytes = Buffer.from(`${JSON.stringify({ type: 'ADDED', object })}\n`);
    expect(bytes.length).toBeGreaterThan(1_400_000);
    for (let at = 0; at < bytes.length; at += 65_537) {
      bench.server.inject(bytes.subarray(at, at + 65_537));
      await delay(1);
    }
    await until(() => expect(reported).toContain('added big'));
    expect(reflector.store.get('default', 'big')?.['spec']).toEqual({ containers: [], text });
  });

  it.each(['once', 'twice'] as const)('answers 410 in the middle of a paged list, %s', async how => {
    for (let i = 0; i < 700; i += 1) bench.server.kube.seed(pod(`p${i}`));
    const expired = faults.status(410, 'Expired', { continueToken: 'inconsistent' });
    bench.server.fail('list', () => false);
    bench.server.fail('list', expired);
    if (how === 'twice') {
      bench.server.fail('list', () => false);
      bench.server.fail('list', expired);
    }
    follow();
    await until(() => expect(bench.server.openWatches).toBe(1));
    expect(reflector.store.size).toBe(701);
    expect(failures()).toEqual([]);
    expect(
      bench.server.requests
        .filter(r => r.verb === 'list')
        .at(-1)
        ?.query.has('limit'),
    ).toBe(how === 'once');
  });

  it('is listed once in a while, whatever the watches say', async () => {
    follow({ timing: { ...timing, relistAfterMs: 50 } });
    await followedTo('a');
    await delay(160);
    bench.server.endWatches();
    await until(() => expect(lists().map(report => report.because)).toEqual(['start', 'age']));
    expect(failures()).toEqual([]);
  });
});

describe('the reflector, whose user', { timeout: 120_000 }, () => {
  let bench: Bench;
  let reflector: Reflector;
  const until = (check: () => void) => vi.waitFor(check, { timeout: 20_000, interval: 5 });

  beforeEach(async () => {
    bench = await openBench({ retry: { backoff: { firstMs: 1, maxMs: 1 }, attempts: 1 } });
    await bench.server.kube.create(pod('a'));
  });
  afterEach(async () => {
    await reflector.stop();
    await bench.close();
  });

  it('throws in its handler, on the list and on an event: everything is reported, the watch goes on', async () => {
    const { reported, onChange } = recorder();
    const logger = memoryLogger();
    const failing = (change: StoreChange): never => {
      onChange(change);
      throw new Error('secret-of-the-handler');
    };
    reflector = new Reflector({ client: bench.client, kind: pods, timing, logger, onChange: failing });
    reflector.start();
    await until(() => expect(bench.server.openWatches).toBe(1));
    await bench.server.kube.create(pod('b'));
    await bench.server.kube.delete(podRef('b'));
    await until(() => expect(reported).toEqual(['added a', 'added b', 'deleted b']));
    expect(bench.server.count('watch')).toBe(1);
    expect(logger.lines.filter(line => line.message === 'a handler failed')).toHaveLength(3);
    expect(JSON.stringify(logger.lines)).not.toContain('secret-of-the-handler');
  });

  it('stops during a list: nothing is reported and no watch opens', async () => {
    const { reported, onChange } = recorder();
    let release = (): void => {};
    const held = new Promise<void>(resolve => (release = resolve));
    bench.server.fail('list', async () => {
      await held;
      return false;
    });
    reflector = new Reflector({ client: bench.client, kind: pods, timing, onChange });
    reflector.start();
    await until(() => expect(bench.server.count('list')).toBe(1));
    const stopped = reflector.stop();
    release();
    await stopped;
    await delay(100);
    expect(reported).toEqual([]);
    expect(bench.server.count('watch')).toBe(0);
  });

  it('stops during a list that answers nevertheless: it changes nothing any more', async () => {
    let answer = (): void => {};
    const held = new Promise<void>(resolve => {
      answer = resolve;
    });
    const { kube } = bench.server;
    const list: typeof kube.list = (kind, options) =>
      held.then(() => kube.list(kind, { ...options, signal: undefined }));
    reflector = new Reflector({ client: { list, watch: kube.watch }, kind: pods, timing });
    reflector.start();
    const stopped = reflector.stop();
    answer();
    await stopped;
    expect(reflector.hasSynced).toBe(false);
    expect(reflector.store.size).toBe(0);
    expect(kube.calls.filter(call => call.verb === 'watch')).toEqual([]);
  });

  it('stops in a handler: the rest of the list is not reported', async () => {
    bench.server.kube.seed(pod('b'), pod('c'));
    const reported: string[] = [];
    const onChange = ({ object }: StoreChange): void => {
      reported.push(object.metadata.name);
      void reflector.stop();
    };
    reflector = new Reflector({ client: bench.client, kind: pods, timing, onChange });
    reflector.start();
    await until(() => expect(reported).toEqual(['a']));
    await delay(100);
    expect(reported).toEqual(['a']);
    expect(bench.server.count('watch')).toBe(0);
  });

  it('stops during the wait before a retry: it ends at once and asks no more', async () => {
    bench.server.fail('watch', faults.status(503, 'ServiceUnavailable'), 100);
    reflector = new Reflector({
      client: bench.client,
      kind: pods,
      timing: { ...timing, backoff: { firstMs: 60_000, maxMs: 60_000 } },
    });
    reflector.start();
    await until(() => expect(bench.server.count('watch')).toBe(1));
    await delay(20);
    const started = performance.now();
    await reflector.stop();
    expect(performance.now() - started).toBeLessThan(5_000);
    await delay(100);
    expect(bench.server.count('watch')).toBe(1);
  });

  it('starts twice: there is one watch, and one of everything reported', async () => {
    const { reported, onChange } = recorder();
    reflector = new Reflector({ client: bench.client, kind: pods, timing, onChange });
    reflector.start();
    reflector.start();
    expect(await reflector.synced()).toBe(true);
    await until(() => expect(bench.server.openWatches).toBe(1));
    await bench.server.kube.create(pod('b'));
    await until(() => expect(reported).toEqual(['added a', 'added b']));
    expect(bench.server.count('list')).toBe(1);
    expect(bench.server.count('watch')).toBe(1);
  });

  it('stops and starts again: what changed meanwhile is reported', async () => {
    const { reported, onChange } = recorder();
    reflector = new Reflector({ client: bench.client, kind: pods, timing, onChange });
    reflector.start();
    await reflector.synced();
    await reflector.stop();
    await until(() => expect(bench.server.openWatches).toBe(0));
    await bench.server.kube.delete(podRef('a'));
    await bench.server.kube.create(pod('b'));
    await delay(50);
    expect(reported).toEqual(['added a']);
    reflector.start();
    expect(reflector.hasSynced).toBe(false);
    await until(() => expect(reported).toEqual(['added a', 'deleted a', 'added b']));
  });

  it('works on when a metrics callback throws', async () => {
    const report = (): never => {
      throw new KubeError({ code: 0, reason: 'x', message: 'x', retry: 'never' });
    };
    reflector = new Reflector({ client: bench.client, kind: pods, timing, report });
    reflector.start();
    await reflector.synced();
    await bench.server.kube.create(pod('b'));
    await until(() => expect(reflector.store.size).toBe(2));
  });

  it('waits for a first list that does not come, with a deadline', async () => {
    bench.server.fail('list', faults.hang, 100);
    reflector = new Reflector({ client: bench.client, kind: pods, timing });
    reflector.start();
    expect(await reflector.synced(AbortSignal.timeout(50))).toBe(false);
  });
});
