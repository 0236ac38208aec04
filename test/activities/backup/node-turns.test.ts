import { describe, expect, it } from 'vitest';
import { NodeTurns } from '../../../src/activities/backup/node-turns.ts';

let clock = 0;
const nodesOf = (perNode: number): NodeTurns => {
  clock = 0;
  return new NodeTurns({ perNode, now: () => clock });
};
const run = (begunAt: number) => ({ id: `run-${begunAt}`, begunAt });
const taken = (nodes: NodeTurns, node: string, store: string): number =>
  Array.from({ length: 100 }, (_, begunAt) => nodes.at(node).take(store, run(begunAt))).filter(
    ({ kind }) => kind === 'turn',
  ).length;

describe('the turns at a node', () => {
  it('are half of all for one store, and never all for those that hang', () => {
    const nodes = nodesOf(8);
    expect(taken(nodes, 'one', 's3://hangs')).toBe(4);
    expect(taken(nodes, 'one', 's3://hangs-too')).toBe(2);
    expect(nodes.at('one').take('s3://works', run(1)).kind).toBe('turn');
  });

  it('of other stores are counted for one that has to wait for them', () => {
    const nodes = nodesOf(2);
    taken(nodes, 'one', 's3://hangs');
    taken(nodes, 'one', 's3://hangs-too');
    expect(nodes.at('one').take('s3://works', run(1))).toMatchObject({
      kind: 'wait',
      inUse: 0,
      inUseOfAll: 2,
    });
  });

  it('are those of this node alone', () => {
    const nodes = nodesOf(8);
    taken(nodes, 'one', 's3://hangs');
    expect(taken(nodes, 'two', 's3://hangs')).toBe(4);
  });

  it('are at least one', () => {
    const nodes = nodesOf(1);
    expect(taken(nodes, 'one', 's3://backups')).toBe(1);
  });

  it('of a node that nobody uses any more are forgotten, and of others not', () => {
    const nodes = nodesOf(2);
    const used = nodes.at('used');
    used.join('s3://backups');
    const awaited = nodes.at('awaited');
    const ended = awaited.join('s3://backups');
    expect(awaited.take('s3://backups', run(1)).kind).toBe('wait');
    ended.end();
    const idle = nodes.at('idle');
    idle.join('s3://backups').end();
    nodes.at('new');
    expect(nodes.at('used')).toBe(used);
    expect(nodes.at('awaited')).toBe(awaited);
    expect(nodes.at('idle')).not.toBe(idle);
    clock += 600_000;
    nodes.at('newer');
    expect(nodes.at('awaited')).not.toBe(awaited);
  });
});
