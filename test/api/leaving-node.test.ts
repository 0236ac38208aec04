import { expect, it } from 'vitest';
import { whyLeft } from '../../src/api/derived/leaving-node.ts';

it.each([
  [{ spec: { unschedulable: true } }, 'is cordoned'],
  [
    { spec: { taints: [{ key: 'ToBeDeletedByClusterAutoscaler' }] } },
    'has the taint ToBeDeletedByClusterAutoscaler',
  ],
  [{ spec: { taints: [{ key: 'karpenter.sh/disrupted' }] } }, 'has the taint karpenter.sh/disrupted'],
  [{ spec: { taints: [{ key: 'dedicated' }], unschedulable: false } }, undefined],
  [{}, undefined],
])('of the node %j is said: %s', (node, said) => {
  expect(whyLeft(node)).toBe(said);
});
