/** One heavy operation a member at a time. */
import { afterEach, describe, expect, it, vi } from 'vitest';
import { withMemberSlot } from '../../../src/activities/runtime/member-slot.ts';
import { ANNOTATION_MAINTENANCE } from '../../../src/api/names.ts';
import type { WritableObject } from '../../../src/kube/port.ts';
import { FakeKube } from '../../fakes/kubernetes/kube.ts';
import { fault } from '../../fakes/kubernetes/storage.ts';

const POD = { namespace: 'shop', name: 'example-1', uid: '' };
const REF = { apiVersion: 'v1', kind: 'Pod', namespace: 'shop', name: 'example-1' };

/** A Kubernetes with the member's pod in it. */
function withPod(): FakeKube {
  const kube = new FakeKube({});
  const metadata = { namespace: POD.namespace, name: POD.name };
  const [pod] = kube.seed({ apiVersion: 'v1', kind: 'Pod', metadata, spec: {} } as WritableObject);
  POD.uid = pod?.metadata.uid ?? '';
  return kube;
}

/** Another holder takes it, from any holder. */
async function take(kube: FakeKube, holder: string): Promise<void> {
  const annotations = { [ANNOTATION_MAINTENANCE]: JSON.stringify({ holder, renewed: 'just now' }) };
  await kube.patch(REF, { metadata: { annotations } }, { type: 'merge' });
}

const NEVER = new AbortController().signal;

it('the second waits for the first, and a holder that died is not waited for long', async () => {
  const kube = withPod();
  let now = 0;
  const deps = { kube, now: () => now };
  const order: string[] = [];
  let release = (): void => {};
  const held = new Promise<void>(resolve => (release = resolve));
  const first = withMemberSlot(deps, { pod: POD, holder: 'first', signal: NEVER }, async () => {
    order.push('first begins');
    await held;
    order.push('first ends');
  });
  while (order.length === 0) await new Promise(resolve => setImmediate(resolve));
  const second = withMemberSlot(deps, { pod: POD, holder: 'second', signal: NEVER }, async () => {
    order.push('second begins');
  });
  release();
  await Promise.all([first, second]);
  expect(order).toEqual(['first begins', 'first ends', 'second begins']);

  expect(kube.peek(REF)?.metadata.annotations?.[ANNOTATION_MAINTENANCE]).toBeUndefined();
  await take(kube, 'somebody who died');
  const third = withMemberSlot(deps, { pod: POD, holder: 'third', signal: NEVER }, async () => {
    order.push('third begins');
  });
  const clock = setInterval(() => (now += 20_000), 100);
  await third;
  clearInterval(clock);
  expect(order.at(-1)).toBe('third begins');
});

it('an attempt that was taken for dead does not free the slot of the one that has replaced it', async () => {
  const kube = withPod();
  const deps = { kube, now: () => 0 };
  const holder = 'EtcdBackup/shop/nightly';
  const order: string[] = [];
  const attempt = (name: string, of: string) => {
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
    const done = withMemberSlot(deps, { pod: POD, holder: of, signal: NEVER }, async () => {
      order.push(`${name} begins`);
      begin();
      await ended;
      order.push(`${name} ends`);
    });
    return { begun, end, done };
  };
  const dead = attempt('dead', holder);
  await dead.begun;
  const living = attempt('living', holder);
  await living.begun;
  dead.end();
  await dead.done;
  const other = attempt('other', 'EtcdBackup/shop/hourly');
  other.end();
  // It asks once a second.
  await new Promise(resolve => setTimeout(resolve, 50));
  living.end();
  await Promise.all([living.done, other.done]);
  expect(order).toEqual([
    'dead begins',
    'living begins',
    'dead ends',
    'living ends',
    'other begins',
    'other ends',
  ]);
});

it('a slot that is never free is not waited for after the signal', async () => {
  const kube = withPod();
  const deps = { kube, now: () => 0 };
  const controller = new AbortController();
  await withMemberSlot(deps, { pod: POD, holder: 'first', signal: NEVER }, async () => {
    const waiting = withMemberSlot(
      deps,
      { pod: POD, holder: 'second', signal: controller.signal },
      async () => 'done',
    );
    controller.abort(new Error('no longer wanted'));
    await expect(waiting).rejects.toThrow(/abort|no longer wanted/);
  });
});

it('of two that come at once one goes first, and the slot of a pod that is gone is no slot', async () => {
  const kube = withPod();
  const deps = { kube, now: () => 0 };
  let inside = 0;
  const both = ['first', 'second'].map(holder =>
    withMemberSlot(deps, { pod: { ...POD }, holder, signal: NEVER }, async () => {
      inside += 1;
      await new Promise(resolve => setTimeout(resolve, 5));
      expect(inside).toBe(1);
      inside -= 1;
    }),
  );
  await Promise.all(both);
  const replaced = { ...POD, uid: 'the one before' };
  const late = withMemberSlot(deps, { pod: replaced, holder: 'third', signal: NEVER }, async () => 'done');
  await expect(late).rejects.toThrow('is gone');
});

describe('a slot whose renewal fails', () => {
  afterEach(() => vi.useRealTimers());

  /** Work that lasts until it is asked to end or its slot is lost; `lost` says when, in milliseconds since its begin. */
  async function working(kube: FakeKube) {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance', 'Date'] });
    const begun = performance.now();
    const state: { lost?: number; reason?: unknown } = {};
    let end = (): void => {};
    const ended = new Promise<void>(resolve => (end = resolve));
    let begin = (): void => {};
    const begins = new Promise<void>(resolve => (begin = resolve));
    const work = withMemberSlot(
      { kube, now: Date.now },
      { pod: POD, holder: 'me', signal: NEVER },
      signal => {
        signal.addEventListener('abort', () => {
          Object.assign(state, { lost: performance.now() - begun, reason: signal.reason });
        });
        begin();
        return ended;
      },
    );
    await begins;
    const pass = async (ms: number) => {
      for (let passed = 0; passed < ms; passed += 1_000) {
        await vi.advanceTimersByTimeAsync(1_000);
        await new Promise(resolve => setImmediate(resolve));
      }
    };
    const done = async () => {
      end();
      await work;
    };
    return { state, pass, done };
  }

  it('is kept as long as no one else can have it, and renewed as soon as that is possible again', async () => {
    const kube = withPod();
    const { state, pass, done } = await working(kube);
    for (let outage = 0; outage < 3; outage += 1) {
      const mend = kube.intercept(() => {
        throw fault(503, 'ServiceUnavailable');
      });
      await pass(14_000);
      mend();
      await pass(10_000);
    }
    expect(state).toEqual({});
    await done();
  });

  it.each([
    ['refused', async () => Promise.reject(fault(503, 'ServiceUnavailable'))],
    ['not answered', () => new Promise<never>(() => {})],
  ])('is given up before it runs out when renewals are %s', async (_, answer) => {
    const kube = withPod();
    const { state, pass, done } = await working(kube);
    const mend = kube.intercept(answer);
    await pass(22_000);
    expect(state).toEqual({});
    await pass(7_000);
    expect(state.lost).toBeLessThan(30_000);
    mend();
    await done();
  });

  it.each([
    ['another holder', 'another'],
    ['another attempt of the same holder', 'me'],
  ])('is given up at once when %s has it', async (_, holder) => {
    const kube = withPod();
    const { state, pass, done } = await working(kube);
    await take(kube, holder);
    await pass(9_000);
    expect(String(state.reason)).toContain('was taken by another holder');
    await done();
  });
});
