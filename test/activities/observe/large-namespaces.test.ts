import { expect, it } from 'vitest';
import { LargeNamespaces } from '../../../src/activities/observe/large-namespaces.ts';

it('remembers a namespace for ten minutes, each kind on its own', () => {
  let now = 0;
  const large = new LargeNamespaces(() => now);
  large.note('shop', 'Pod');
  expect(large.has('shop', 'Pod')).toBe(true);
  expect(large.has('shop', 'PersistentVolumeClaim')).toBe(false);
  expect(large.has('web', 'Pod')).toBe(false);
  now = 599_999;
  expect(large.has('shop', 'Pod')).toBe(true);
  now = 600_000;
  expect(large.has('shop', 'Pod')).toBe(false);
});
