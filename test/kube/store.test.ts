import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../src/kube/port.ts';
import { ObjectStore } from '../../src/kube/store.ts';

const object = (name: string, uid: string, resourceVersion: string, namespace = 'default'): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace, uid, resourceVersion },
});

describe('the store', () => {
  it('knows what is new, changed and gone', () => {
    const store = new ObjectStore();
    const [first, second] = [object('a', 'u', '1'), object('a', 'u', '2')];
    expect(store.apply({ type: 'ADDED', object: first })).toEqual([{ type: 'added', object: first }]);
    expect(store.apply({ type: 'MODIFIED', object: second })).toEqual([
      { type: 'updated', object: second, previous: first },
    ]);
    expect(store.apply({ type: 'MODIFIED', object: second })).toEqual([]);
    expect(store.apply({ type: 'BOOKMARK', object: second })).toEqual([]);
    expect(store.get('default', 'a')).toBe(second);
    expect(store.apply({ type: 'DELETED', object: object('a', 'u', '3') })).toHaveLength(1);
    expect(store.apply({ type: 'DELETED', object: object('a', 'u', '3') })).toEqual([]);
    expect(store.size).toBe(0);
  });

  it('takes an object with another uid for another object', () => {
    const store = new ObjectStore();
    const [old, next] = [object('a', 'u1', '1'), object('a', 'u2', '2')];
    store.apply({ type: 'ADDED', object: old });
    const replaced = [
      { type: 'deleted', object: old },
      { type: 'added', object: next },
    ];
    expect(store.apply({ type: 'MODIFIED', object: next })).toEqual(replaced);
    expect(store.apply({ type: 'DELETED', object: object('a', 'u1', '3') })).toEqual([]);
    expect(store.get('default', 'a')).toBe(next);
  });

  it('distinguishes two lists, deletions first, and namespaces', () => {
    const store = new ObjectStore();
    const kept = object('kept', 'k', '1');
    store.replaceAll([kept, object('gone', 'g', '1'), object('again', 'r1', '1')]);
    const changes = store.replaceAll([object('new', 'n', '2', 'other'), kept, object('again', 'r2', '2')]);
    expect(changes.map(change => `${change.type} ${change.object.metadata.name}`)).toEqual([
      'deleted gone',
      'added new',
      'deleted again',
      'added again',
    ]);
    expect(store.list('other').map(({ metadata }) => metadata.name)).toEqual(['new']);
    expect(store.list()).toHaveLength(3);
    expect(store.get(undefined, 'new')).toBeUndefined();
  });
});
