/** An upgrade of which the repository is wrong: the way back takes the image that ran, and a corrected field is taken up. */
import { describe, expect, it } from 'vitest';
import { containerNamed } from '../../src/objects/containers.ts';
import { OperatorWorld } from '../worlds/operator-world.ts';

const [FROM, TO] = ['3.6.15', '3.6.16'];
const GOOD = 'quay.io/coreos/etcd';
const WRONG = 'registry.invalid/etcd';

const edit = (world: OperatorWorld, spec: object) =>
  world.kube.as('kubectl').patch(world.resource, { spec }, { type: 'merge' });

/** A cluster whose version and repository were changed in one edit, to a repository that does not exist. */
async function halted(more: object = {}): Promise<OperatorWorld> {
  const world = new OperatorWorld({ spec: { size: 3, version: FROM, repository: GOOD } });
  await world.run();
  await world.run();
  for (const version of [FROM, TO]) world.kubelet.missingImages.add(`${WRONG}:v${version}`);
  await edit(world, { version: TO, repository: WRONG, ...more });
  await pass(world);
  return world;
}

async function pass(world: OperatorWorld): Promise<Awaited<ReturnType<OperatorWorld['run']>>> {
  for (let round = 0; round < 5; round += 1) {
    await world.run();
    world.now += 30_000;
  }
  return world.run();
}

const imagesOf = (world: OperatorWorld) =>
  world.kube.all('Pod').map(pod => containerNamed({ spec: pod['spec'] }, 'etcd')?.image);
const readyOf = (world: OperatorWorld) => world.cluster.status.ready;

describe('a member that cannot be given the new version', () => {
  it.each([
    ['in its pod', {}],
    ['in a new pod', { pod: { annotations: { team: 'storage' } }, etcd: { snapshotCount: 20_000 } }],
  ])('%s goes back to the very image that ran', async (_, more) => {
    const world = await halted(more);
    const { decision } = await world.run();
    expect(decision).toMatchObject({ kind: 'blocked', reason: 'RolledBack' });
    expect(imagesOf(world)).toEqual(Array(3).fill(`${GOOD}:v${FROM}`));
    expect(readyOf(world)).toBe('3/3');
  });

  it('is upgraded when the repository is corrected', async () => {
    const world = await halted();
    await edit(world, { repository: GOOD });
    expect((await pass(world)).decision).toMatchObject({ kind: 'idle' });
    expect(imagesOf(world)).toEqual(Array(3).fill(`${GOOD}:v${TO}`));
  });

  it('is upgraded when the repository is corrected, though it was not to be taken back', async () => {
    const world = await halted({ upgrade: { rollbackOnFailure: false } });
    expect((await world.run()).decision).toMatchObject({ kind: 'blocked', reason: 'UpgradeFailed' });
    await edit(world, { repository: GOOD });
    expect((await pass(world)).decision).toMatchObject({ kind: 'idle' });
    expect(imagesOf(world)).toEqual(Array(3).fill(`${GOOD}:v${TO}`));
  });

  it('and that an earlier release took back to the wrong repository comes back', async () => {
    const world = await halted({ upgrade: { rollbackOnFailure: false } });
    world.kube.mutate(world.pod('example-0'), pod => {
      const { containers } = pod['spec'] as { containers: { image: string }[] };
      for (const container of containers) container.image = `${WRONG}:v${FROM}`;
      Object.assign(pod.metadata.annotations ?? {}, { 'etcd.database.coreos.com/version': FROM });
    });
    await edit(world, { version: FROM, repository: GOOD, upgrade: { rollbackOnFailure: true } });
    await pass(world);
    expect(imagesOf(world)).toEqual(Array(3).fill(`${GOOD}:v${FROM}`));
    expect(readyOf(world)).toBe('3/3');
  });

  it('is started again from the image that ran when its pod is taken away', async () => {
    const world = await halted();
    await world.kube.as('kubectl').delete(world.pod('example-2'));
    await pass(world);
    expect(imagesOf(world)).toEqual(Array(3).fill(`${GOOD}:v${FROM}`));
    expect(readyOf(world)).toBe('3/3');
  });
});
