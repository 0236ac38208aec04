import { expect, test } from 'vitest';
import { OperatorWorld } from '../../worlds/operator-world.ts';

const VERSION = '3.6.16';

test('a creation is reported from its first pass to its end', async () => {
  const world = new OperatorWorld({ spec: { size: 3, version: VERSION } });
  await world.look();
  expect(world.passes.at(-1)).toMatchObject({ decision: 'operate', ended: undefined });
  await world.run();
  await world.run();
  expect(world.passes.flatMap(({ ended }) => (ended === undefined ? [] : [ended]))).toEqual([
    { type: 'createCluster', outcome: 'Succeeded', seconds: expect.any(Number) },
  ]);
  expect(world.passes.at(-1)).toMatchObject({ decision: 'idle' });
});

test('a cluster that is gone is reported as gone', async () => {
  const world = new OperatorWorld({ spec: { size: 1, version: VERSION } });
  await world.run();
  await world.kube.delete({
    apiVersion: 'etcd.database.coreos.com/v1beta2',
    kind: 'EtcdCluster',
    ...world.ref,
  });
  for (let pass = 0; world.passes.at(-1)?.decision !== 'gone'; pass += 1) {
    expect(pass).toBeLessThan(5);
    await world.run();
  }
  expect(world.passes.at(-1)).toEqual({ decision: 'gone', ended: undefined });
});
