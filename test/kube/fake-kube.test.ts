import { describe, expect, it } from 'vitest';
import { isAlreadyExists, isConflict, isGone, isNotFound } from '../../src/kube/errors.ts';
import type { WatchEvent } from '../../src/kube/port.ts';
import { FakeKube, fault } from '../fakes/kubernetes/kube.ts';

const pod = (name: string, extra: object = {}) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'default', labels: { app: 'etcd' } },
  spec: { containers: [{ name: 'etcd', image: 'etcd:v3.5.3' }] },
  ...extra,
});
const ref = (name: string) => ({ apiVersion: 'v1', kind: 'Pod', namespace: 'default', name });

describe('the fake apiserver', () => {
  it('gives uid, generation and revisions, and takes a name once', async () => {
    const kube = new FakeKube();
    const made = await kube.create(pod('a', { status: { phase: 'Running' } }));
    expect(made.metadata).toMatchObject({ generation: 1, uid: expect.any(String), resourceVersion: '2' });
    expect(made['status']).toBeUndefined();
    await expect(kube.create(pod('a'))).rejects.toSatisfy(isAlreadyExists);
    const again = await kube.apply({ ...pod('a'), metadata: { ...pod('a').metadata, labels: { app: 'x' } } });
    expect(again.metadata.generation).toBe(1);
    const changed = await kube.patch(ref('a'), { spec: { nodeName: 'n1' } }, { type: 'merge' });
    expect(changed.metadata.generation).toBe(2);
    expect((await kube.patch(ref('a'), {}, { type: 'merge' })).metadata.resourceVersion).toBe(
      changed.metadata.resourceVersion,
    );
  });

  it('removes what a manager no longer applies, and only what it alone owned', async () => {
    const kube = new FakeKube();
    const two = pod('a', {
      spec: {
        containers: [
          { name: 'etcd', image: 'v1' },
          { image: 'v1', name: 'sidecar' },
        ],
        nodeName: 'n1',
      },
    });
    await kube.apply(two);
    await kube.as('kubectl').apply(pod('a', { spec: { nodeName: 'n1' } }));
    await kube.patch(ref('a'), { metadata: { annotations: { by: 'someone' } } }, { type: 'merge' });
    const after = await kube.apply(pod('a', { spec: { containers: [{ name: 'etcd', image: 'v2' }] } }));
    expect(after['spec']).toEqual({ containers: [{ name: 'etcd', image: 'v2' }], nodeName: 'n1' });
    expect(after.metadata.annotations).toEqual({ by: 'someone' });
  });

  it('refuses an unforced apply of a field of another manager', async () => {
    const kube = new FakeKube();
    await kube.apply(pod('a'));
    const other = pod('a', { spec: { containers: [{ name: 'etcd', image: 'other' }] } });
    await expect(kube.as('kubectl').apply(other, { force: false })).rejects.toSatisfy(isConflict);
    await kube.as('kubectl').apply(other);
    expect(kube.peek(ref('a'))).toMatchObject(other);
  });

  it('keeps status and spec apart', async () => {
    const kube = new FakeKube();
    await expect(kube.apply(pod('a', { status: {} }), { subresource: 'status' })).rejects.toSatisfy(
      isNotFound,
    );
    await kube.apply(pod('a'));
    await kube.apply(pod('a', { spec: { nodeName: 'ignored' }, status: { phase: 'Running' } }), {
      subresource: 'status',
    });
    await kube.apply(pod('a', { status: { phase: 'ignored' } }));
    expect(kube.peek(ref('a'))).toMatchObject({ spec: pod('a').spec, status: { phase: 'Running' } });
    expect(kube.peek(ref('a'))?.['spec']).not.toHaveProperty('nodeName');
  });

  it('guards by uid and resourceVersion', async () => {
    const kube = new FakeKube();
    const made = await kube.create(pod('a'));
    await kube.patch(ref('a'), { spec: { x: 1 } }, { type: 'merge' });
    await expect(kube.replace(made)).rejects.toSatisfy(isConflict);
    await expect(kube.delete(ref('a'), { uid: 'other' })).rejects.toSatisfy(isConflict);
    await expect(
      kube.apply({ ...pod('b'), metadata: { ...pod('b').metadata, uid: 'gone' } }),
    ).rejects.toSatisfy(isConflict);
    await kube.delete(ref('a'), { uid: made.metadata.uid });
    await kube.delete(ref('a'));
    expect(await kube.get(ref('a'))).toBeUndefined();
  });

  it('holds deletion for finalizers and grace periods, and collects children', async () => {
    const kube = new FakeKube({ gracefulKinds: ['Pod'] });
    const owner = await kube.create({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'o', namespace: 'default', finalizers: ['a/b'] },
    });
    const reference = { apiVersion: 'v1', kind: 'ConfigMap', name: 'o', uid: owner.metadata.uid ?? '' };
    await kube.create({
      ...pod('a'),
      metadata: { name: 'a', namespace: 'default', ownerReferences: [reference] },
    });
    const at = { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'default', name: 'o' };
    await kube.delete(at);
    expect(kube.peek(at)?.metadata.deletionTimestamp).toBeDefined();
    await kube.patch(at, [{ op: 'remove', path: '/metadata/finalizers/0' }], { type: 'json' });
    expect(kube.peek(at)).toBeUndefined();
    expect(kube.peek(ref('a'))?.metadata.deletionTimestamp).toBeDefined();
    kube.finishDeletion(ref('a'));
    expect(kube.all('Pod')).toEqual([]);
  });

  it('selects, watches through selectors, and forgets old revisions', async () => {
    const kube = new FakeKube();
    await kube.create(pod('a'));
    const list = await kube.list(
      { apiVersion: 'v1', kind: 'Pod' },
      { labelSelector: 'app in (etcd,x),!gone', fieldSelector: 'metadata.name=a' },
    );
    expect(list.items).toHaveLength(1);
    const stop = new AbortController();
    const seen: WatchEvent[] = [];
    const watching = (async () => {
      const options = {
        labelSelector: 'app=etcd',
        resourceVersion: list.resourceVersion,
        timeoutSeconds: 60,
        idleTimeoutMs: 1000,
        signal: stop.signal,
      };
      for await (const event of kube.watch({ apiVersion: 'v1', kind: 'Pod' }, options)) {
        seen.push(event);
        if (seen.length === 3) stop.abort();
      }
    })().catch(() => {});
    await kube.create(pod('b'));
    await kube.patch(ref('b'), { metadata: { labels: { app: 'other' } } }, { type: 'merge' });
    await kube.delete(ref('a'));
    await watching;
    expect(seen.map(event => `${event.type} ${event.object.metadata.name}`)).toEqual([
      'ADDED b',
      'DELETED b',
      'DELETED a',
    ]);
    kube.compact();
    const late = kube.watch(
      { apiVersion: 'v1', kind: 'Pod' },
      { resourceVersion: '1', timeoutSeconds: 1, idleTimeoutMs: 1 },
    );
    await expect(late[Symbol.asyncIterator]().next()).rejects.toSatisfy(isGone);
  });

  it('answers what a rule throws', async () => {
    const kube = new FakeKube();
    const remove = kube.intercept(call => {
      if (call.verb === 'create' && call.kind === 'Pod') throw fault(503, 'ServiceUnavailable');
    });
    await expect(kube.create(pod('a'))).rejects.toMatchObject({ code: 503, retry: 'later' });
    remove();
    await kube.create(pod('a'));
    expect(kube.calls.map(call => call.verb)).toEqual(['create', 'create']);
  });
});
