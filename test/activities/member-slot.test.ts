/** One heavy operation a member at a time. */
import { expect, it } from 'vitest';
import { withMemberSlot } from '../../src/activities/member-slot.ts';
import { FakeKube } from '../support/fake-kube.ts';

const POD = { namespace: 'shop', name: 'example-1', uid: 'pod-1' };
const NEVER = new AbortController().signal;

it('the second waits for the first, and a holder that died is not waited for long', async () => {
  const kube = new FakeKube({});
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

  const [lease] = kube.all('Lease', 'shop');
  expect(lease).toMatchObject({
    metadata: { name: 'example-1-maintenance', ownerReferences: [{ kind: 'Pod', uid: 'pod-1' }] },
    spec: { holderIdentity: '' },
  });
  await kube.patch(
    { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', namespace: 'shop', name: 'example-1-maintenance' },
    { spec: { holderIdentity: 'somebody who died' } },
    { type: 'merge' },
  );
  const third = withMemberSlot(deps, { pod: POD, holder: 'third', signal: NEVER }, async () => {
    order.push('third begins');
  });
  const clock = setInterval(() => (now += 20_000), 100);
  await third;
  clearInterval(clock);
  expect(order.at(-1)).toBe('third begins');
});

it('a slot that is never free is not waited for after the signal', async () => {
  const kube = new FakeKube({});
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
