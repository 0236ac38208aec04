/** A specification of which the API server takes no pod: nobody is stopped for it who could not be started again. */
import { expect, it } from 'vitest';
import type { EtcdClusterSpec } from '../../src/api/schemas/types.ts';
import { KubeError } from '../../src/kube/errors.ts';
import { OperatorWorld } from '../worlds/operator-world.ts';

const refusal = (code: number, message: string) =>
  new KubeError({ code, reason: code === 422 ? 'Invalid' : 'Forbidden', message, retry: 'never' });

/** A cluster that is asked for new pods, of which every one is refused. */
async function refusing(error: KubeError, spec: EtcdClusterSpec = {}): Promise<OperatorWorld> {
  const world = new OperatorWorld({ spec: { size: 3, version: '3.6.16', ...spec } });
  await world.run();
  world.now += 60_000;
  await world.run();
  world.kube.intercept(call => {
    if (call.verb === 'create' && call.kind === 'Pod') throw error;
  });
  const pod = { affinity: { nodeAffinity: 'anywhere' } };
  await world.kube.as('kubectl').patch(world.resource, { spec: { pod } }, { type: 'merge' });
  return world;
}

/** As many passes with their steps, and what failed. */
async function failuresOf(world: OperatorWorld): Promise<string[]> {
  const failures: string[] = [];
  for (let pass = 0; pass < 8; pass += 1) {
    world.kubelet.settle();
    await world.step().catch((error: Error) => failures.push(error.message));
  }
  return failures;
}

const uidsOf = (world: OperatorWorld) => world.kube.all('Pod').map(({ metadata }) => metadata.uid);

it.each([
  ['it is invalid', refusal(422, 'Pod "example-0" is invalid: spec.affinity: Invalid value')],
  [
    'it is against a policy',
    refusal(403, 'pods "example-0" is forbidden: violates PodSecurity "restricted"'),
  ],
])('stops no member when %s, and reports the words of the API server', async (_, error) => {
  const world = await refusing(error);
  const before = uidsOf(world);
  const failures = await failuresOf(world);
  expect(uidsOf(world)).toEqual(before);
  expect(world.kube.all('Pod').every(({ metadata }) => metadata.deletionTimestamp === undefined)).toBe(true);
  expect(failures.at(-1)).toContain(error.message);
});

it('does not leave the only member of a cluster stopped', async () => {
  const world = await refusing(refusal(422, 'Pod "example-0" is invalid'), { size: 1 });
  const before = uidsOf(world);
  await failuresOf(world);
  expect(uidsOf(world)).toEqual(before);
});

it('continues where only a quota is full: the pod that goes makes room', async () => {
  const world = new OperatorWorld({ spec: { size: 3, version: '3.6.16' } });
  await world.run();
  world.now += 60_000;
  await world.run();
  const full = refusal(
    403,
    'pods "example-0" is forbidden: exceeded quota: pods, requested: pods=1, used: pods=3, limited: pods=3',
  );
  world.kube.intercept(call => {
    if (call.verb === 'create' && call.kind === 'Pod' && world.names('Pod').length >= 3) throw full;
  });
  const before = uidsOf(world);
  const pod = { resources: { requests: { cpu: '100m' } } };
  await world.kube.as('kubectl').patch(world.resource, { spec: { pod } }, { type: 'merge' });
  for (let round = 0; round < 6; round += 1) {
    await world.run();
    world.now += 60_000;
  }
  expect(uidsOf(world)).toHaveLength(3);
  for (const uid of before) expect(uidsOf(world)).not.toContain(uid);
});

it('stops no member for larger requests that a quota has no room for even without the pod that goes', async () => {
  const full =
    'exceeded quota: cpu, requested: requests.cpu=2, used: requests.cpu=3, limited: requests.cpu=3';
  const world = await refusing(refusal(403, `pods "example-0" is forbidden: ${full}`), {
    pod: { resources: { requests: { cpu: '1' } } },
  });
  const before = uidsOf(world);
  expect((await failuresOf(world)).at(-1)).toContain(full);
  expect(uidsOf(world)).toEqual(before);
});
