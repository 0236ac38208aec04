import { describe, expect, test } from 'vitest';
import { applied, differencesOf, pathOf, withDifference } from '../../src/plugin/plan/applied.ts';

describe('what kubectl apply would make of it', () => {
  test.each<[string, object, object | undefined, object, object]>([
    ['what is added is set', { a: 1 }, { a: 1 }, { a: 1, b: 2 }, { a: 1, b: 2 }],
    ['what was applied and is gone is removed', { a: 1, b: 2 }, { a: 1, b: 2 }, { a: 1 }, { a: 1 }],
    ['what others set stays', { a: 1, c: 3 }, { a: 1 }, { a: 2 }, { a: 2, c: 3 }],
    ['without a former file nothing is removed', { a: 1, b: 2 }, undefined, { a: 2 }, { a: 2, b: 2 }],
    ['null removes', { a: 1, b: 2 }, {}, { b: null }, { a: 1 }],
    ['lists are replaced', { a: [1, 2] }, { a: [1, 2] }, { a: [3] }, { a: [3] }],
    ['trees are merged', { a: { x: 1, y: 2 } }, { a: { x: 1 } }, { a: { z: 3 } }, { a: { y: 2, z: 3 } }],
  ])('%s', (_, stored, last, wanted, result) => {
    expect(applied(stored, last, wanted)).toEqual(result);
  });
});

test('differences, made one after the other, lead from one tree to the other', () => {
  const from = { size: 3, pod: { labels: { 'a.b/c': '1', d: '2' } }, etcd: { snapshotCount: 1 } };
  const to = { size: 5, pod: { labels: { 'a.b/c': '2' } }, TLS: { auto: {} } };
  const differences = differencesOf(from, to);
  expect(differences.map(pathOf)).toEqual([
    'spec.size',
    'spec.pod.labels["a.b/c"]',
    'spec.pod.labels.d',
    'spec.etcd',
    'spec.TLS',
  ]);
  const end = differences.reduce<unknown>((spec, difference) => withDifference(spec, difference), from);
  expect(end).toEqual(to);
});
