import { expect, it } from 'vitest';
import { helperResources } from '../../src/objects/helper-resources.ts';

const OWN = { requests: { cpu: '50m', memory: '96Mi' } };

it.each([
  ['nothing but what it needs', undefined, OWN],
  [
    'limits, where the cluster has some',
    { limits: { cpu: '2', memory: '1Gi' } },
    { ...OWN, limits: { cpu: '2', memory: '1Gi' } },
  ],
  [
    'no less than it needs',
    { limits: { cpu: '10m', memory: '64Mi' } },
    { ...OWN, limits: { cpu: '50m', memory: '96Mi' } },
  ],
  [
    'what it does not speak of',
    { requests: { cpu: '4', 'ephemeral-storage': '1Gi' } },
    { requests: { ...OWN.requests, 'ephemeral-storage': '1Gi' } },
  ],
])('a pod that works for a cluster requests %s', (_, template, expected) => {
  expect(helperResources(OWN, template)).toEqual(expected);
});

it('keeps a limit of its own', () => {
  const own = { ...OWN, limits: { memory: '384Mi' } };
  expect(helperResources(own, { limits: { memory: '8Gi', cpu: '1' } })).toEqual({
    ...OWN,
    limits: { memory: '384Mi', cpu: '1' },
  });
});
