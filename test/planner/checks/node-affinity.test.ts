/** Which Nodes a volume can be used on, and when its host is proved gone. */
import { describe, expect, it } from 'vitest';
import { homeOf, matches, type NodeFacts, type Place } from '../../../src/planner/checks/node-affinity.ts';

const HOSTNAME = 'kubernetes.io/hostname';
const node = (name: string, labels: Record<string, string> = { [HOSTNAME]: name }): NodeFacts => ({
  name,
  labels,
});
const on = (...values: string[]) => ({ matchExpressions: [{ key: HOSTNAME, operator: 'In', values }] });
const named = (name: string, operator = 'In') => ({
  matchFields: [{ key: 'metadata.name', operator, values: [name] }],
});
const place = (given: Partial<Place>): Place => ({ terms: [on('a')], nodes: [], usedOn: ['a'], ...given });

it('a volume of a zone is nowhere in particular while Nodes cannot be listed', () => {
  const terms = [{ matchExpressions: [{ key: 'zone', operator: 'In', values: ['a'] }] }];
  expect(homeOf(place({ terms, nodes: undefined }))).toBeUndefined();
});

describe('a term', () => {
  const worker = node('worker', { disk: 'ssd', cores: '8', bad: 'many' });
  const expression = (key: string, operator: string, ...values: string[]) => ({
    matchExpressions: [{ key, operator, values }],
  });
  it.each([
    ['In', expression('disk', 'In', 'hdd', 'ssd'), true],
    ['In of other values', expression('disk', 'In', 'hdd'), false],
    ['In of a label that is not there', expression('zone', 'In', 'a'), false],
    ['NotIn', expression('disk', 'NotIn', 'hdd'), true],
    ['NotIn of its value', expression('disk', 'NotIn', 'ssd'), false],
    ['NotIn of a label that is not there', expression('zone', 'NotIn', 'a'), true],
    ['Exists', expression('disk', 'Exists'), true],
    ['Exists of a label that is not there', expression('zone', 'Exists'), false],
    ['DoesNotExist', expression('zone', 'DoesNotExist'), true],
    ['DoesNotExist of a label that is there', expression('disk', 'DoesNotExist'), false],
    ['Gt', expression('cores', 'Gt', '7'), true],
    ['Gt of the same number', expression('cores', 'Gt', '8'), false],
    ['Lt', expression('cores', 'Lt', '9'), true],
    ['Lt of a label that is no number', expression('bad', 'Lt', '9'), false],
    ['Gt of a label that is not there', expression('zone', 'Gt', '0'), false],
    ['a field', named('worker'), true],
    ['a field of another name', named('other'), false],
    ['a field that excludes', named('other', 'NotIn'), true],
    ['both, of which one does not hold', { ...expression('disk', 'Exists'), ...named('other') }, false],
    ['nothing', {}, false],
    ['an operator that is unknown', expression('disk', 'Near', 'ssd'), undefined],
    ['Gt of no number', expression('cores', 'Gt', 'many'), undefined],
    ['Gt of two numbers', expression('cores', 'Gt', '1', '2'), undefined],
    ['In of nothing', expression('disk', 'In'), undefined],
    [
      'a field that is unknown',
      { matchFields: [{ key: 'spec.x', operator: 'In', values: ['y'] }] },
      undefined,
    ],
  ])('that requires %s', (_, term, expected) => {
    expect(matches(term, worker)).toBe(expected);
  });
});

describe('the host of a volume', () => {
  it('is none when the volume follows its pod', () => {
    expect(homeOf(place({ terms: [] }))).toBeUndefined();
  });

  it('is the Node that its labels make it, whatever that is called', () => {
    const nodes = [node('a', { [HOSTNAME]: 'b' }), node('worker', { [HOSTNAME]: 'a' })];
    expect(homeOf(place({ nodes }))).toEqual({ node: 'worker', exists: true });
  });

  it('is gone when no Node matches and the one on which it was used is gone', () => {
    const nodes = [node('other')];
    expect(homeOf(place({ nodes, usedOn: ['worker'] }))).toEqual({ node: 'worker', exists: false });
    expect(homeOf(place({ terms: [named('worker')], nodes, usedOn: ['worker'] }))).toMatchObject({
      exists: false,
    });
  });

  it('is gone though another Node is called as its label was', () => {
    const nodes = [node('a', { [HOSTNAME]: 'b' })];
    expect(homeOf(place({ nodes, usedOn: ['worker'] }))).toMatchObject({ exists: false });
  });

  it('is not known when the labels of its Node were changed or taken', () => {
    for (const labels of [{}, { [HOSTNAME]: 'renamed' }])
      expect(homeOf(place({ nodes: [node('worker', labels)], usedOn: ['worker'] }))).toEqual({
        node: 'a',
        exists: undefined,
        why: 'no Node matches its node affinity (kubernetes.io/hostname In a), but Node worker, where it was used, exists: correct the labels of that Node',
      });
  });

  it.each<[string, Partial<Place>]>([
    ['nobody knows where it was used', { usedOn: [] }],
    ['the operator has no permission to list Nodes', { nodes: undefined }],
    ['it names several hosts', { terms: [on('a', 'b')] }],
    ['it names several hosts in two terms', { terms: [on('a'), on('b')] }],
    ['a term cannot be read', { terms: [{ matchExpressions: [{ key: HOSTNAME, operator: '~' }] }] }],
    [
      'a requirement beside its host cannot be read',
      {
        terms: [
          { matchExpressions: [...on('a').matchExpressions, { key: 'disk', operator: '~', values: ['x'] }] },
        ],
      },
    ],
    ['it may not be on a host', { terms: [named('a', 'NotIn')] }],
    [
      'it is of a zone without Nodes',
      {
        terms: [
          { matchExpressions: [{ key: 'topology.kubernetes.io/zone', operator: 'In', values: ['z'] }] },
        ],
      },
    ],
  ])('is not known when %s', (_, given) => {
    const home = homeOf(place(given));
    expect(home).toMatchObject({ exists: undefined });
    expect(home?.why).toBeDefined();
  });

  it('is none within a zone that has Nodes', () => {
    const zone = {
      matchExpressions: [{ key: 'topology.kubernetes.io/zone', operator: 'Exists', values: [] }],
    };
    const nodes = [node('a', { 'topology.kubernetes.io/zone': 'z' })];
    expect(homeOf(place({ terms: [zone], nodes }))).toBeUndefined();
  });
});
