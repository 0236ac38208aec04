/** What a restore will make is tried before the cluster is stopped for it, and what would be refused is the answer. */
import { describe, expect, it } from 'vitest';
import { keepsClientsOut } from '../../src/objects/services.ts';
import { KubeError } from '../../src/kube/errors.ts';
import type { FakeCall } from '../fakes/kubernetes/kube.ts';
import type { RestoreWorld } from '../worlds/restore-world.ts';
import { asked, expectRestored, OLD } from '../worlds/restored.ts';

const forbidden = (message: string) =>
  new KubeError({ code: 403, reason: 'Forbidden', message, retry: 'never' });
const quota = (what: string, most: string, name = 'quota') =>
  `exceeded quota: ${name}, requested: ${what}=1, used: ${what}=${most}, limited: ${what}=${most}`;

/** As many passes of both workflows, and what their steps failed with. */
async function failuresOf(world: RestoreWorld): Promise<string[]> {
  const failures: string[] = [];
  for (let pass = 0; pass < 8; pass += 1) {
    world.kubelet.settle();
    await world.stepRestore();
    await world.step().catch((error: Error) => failures.push(error.message));
  }
  return failures;
}

function refuse(world: RestoreWorld, matches: (call: FakeCall) => boolean, message: string): void {
  world.kube.intercept(call => {
    if (call.verb === 'create' && matches(call)) throw forbidden(message);
  });
}

describe('nothing is stopped for a restore', () => {
  it.each<[string, (call: FakeCall) => boolean, string]>([
    [
      'whose pod a quota has no room for',
      ({ kind, name }) => kind === 'Pod' && name === 'example-3-seed',
      quota('limits.cpu', '3'),
    ],
    [
      'whose pod is against the policy of the namespace',
      ({ kind, name }) => kind === 'Pod' && name === 'back-restore-volume',
      'violates PodSecurity "restricted:latest"',
    ],
    [
      'whose member is refused by a webhook',
      ({ kind, name }) => kind === 'Pod' && name === 'example-3',
      'admission webhook "deny" denied the request',
    ],
    [
      'whose claim a quota has no room for',
      ({ kind }) => kind === 'PersistentVolumeClaim',
      quota('requests.storage', '3Gi'),
    ],
    ['whose Secret a quota has no room for', ({ kind }) => kind === 'Secret', quota('secrets', '10')],
  ])('%s', async (_, matches, message) => {
    const world = await asked();
    const uids = world.kube.all('Pod').map(({ metadata }) => metadata.uid);
    refuse(world, matches, message);
    const failures = await failuresOf(world);
    expect(failures.at(-1)).toMatch(/^the API server would refuse .*, so nothing was changed: /);
    expect(failures.at(-1)).toContain(message);
    expect(world.kube.all('Pod').map(({ metadata }) => metadata.uid)).toEqual(uids);
    expect(world.names('Service')).toContain('example-client');
    expect(world.names('PersistentVolumeClaim')).toEqual(OLD);
  });

  it('whose claims do not fit all together, though the first of them does', async () => {
    const world = await asked();
    world.kube.intercept(({ verb, kind, body }) => {
      if (verb !== 'create' || kind !== 'PersistentVolumeClaim') return;
      const storage = JSON.stringify(body).match(/"storage":"(\d+)"/)?.[1];
      if (storage !== undefined) throw forbidden(quota('requests.storage', '3Gi'));
    });
    expect((await failuresOf(world)).at(-1)).toContain('requests.storage');
    expect(world.names('Pod')).toEqual(OLD);
  });
});

describe('the images of a restore are pulled by a pod before anybody is stopped', () => {
  const TRIAL = 'example-3-images';

  it('and one that cannot be pulled leaves the members as they are, until it can', async () => {
    const world = await asked();
    const uids = world.kube.all('Pod').map(({ metadata }) => metadata.uid);
    world.kubelet.stuck.set(TRIAL, 'ImagePullBackOff');
    expect((await failuresOf(world)).at(-1)).toMatch(
      /^pod example-3-images, which tries the images of the restore, does not run, so nothing was changed: ImagePullBackOff: /,
    );
    const members = world.kube.all('Pod').filter(({ metadata }) => metadata.name !== TRIAL);
    expect(members.map(({ metadata }) => metadata.uid)).toEqual(uids);
    const [client] = world.kube.all('Service').filter(({ metadata }) => metadata.name === 'example-client');
    expect(client !== undefined && keepsClientsOut(client)).toBe(false);
    world.kubelet.stuck.clear();
    await world.settle();
    expectRestored(world);
    expect(world.names('Pod')).not.toContain(TRIAL);
  });

  it.each([
    ['whose program does not run', { exitCode: 1, message: 'exec format error' }, 'exec format error'],
    ['that ends without a word', { exitCode: 137 }, 'exit code 137'],
  ])('and one %s is said', async (_, terminated, says) => {
    const world = await asked();
    world.kubelet.stuck.set(TRIAL, 'ContainerCreating');
    await failuresOf(world);
    world.kube.mutate(world.pod(TRIAL), object => {
      object['status'] = {
        phase: 'Pending',
        containerStatuses: [{ name: 'operator-image', state: { terminated } }],
      };
    });
    world.kubelet.stuck.clear();
    await expect(world.step()).rejects.toThrow(says);
    world.kubelet.settle();
    expect(world.names('Pod')).toEqual(OLD);
  });

  it('but the restore does not wait for a place that the members have', async () => {
    const world = await asked();
    world.kubelet.stuck.set(TRIAL, 'ContainerCreating');
    await failuresOf(world);
    world.kube.mutate(world.pod(TRIAL), object => {
      const unscheduled = {
        type: 'PodScheduled',
        status: 'False',
        reason: 'Unschedulable',
        message: 'Insufficient cpu',
      };
      object['status'] = { phase: 'Pending', conditions: [unscheduled] };
    });
    await world.settle();
    expectRestored(world);
  });
});

it('a quota that fits the cluster exactly is no hindrance: what is stopped makes room', async () => {
  const world = await asked();
  world.kube.intercept(({ verb, kind }) => {
    const number = kind === 'Pod' ? world.names('Pod').length : 0;
    if (verb === 'create' && number >= 3) throw forbidden(quota('pods', '3'));
  });
  await world.settle();
  expectRestored(world);
});

it('is begun once there is room', async () => {
  const world = await asked();
  let isFull = true;
  world.kube.intercept(({ verb, kind }) => {
    if (isFull && verb === 'create' && kind === 'Pod') throw forbidden(quota('limits.cpu', '3'));
  });
  expect(await failuresOf(world)).not.toEqual([]);
  isFull = false;
  await world.settle();
  expectRestored(world);
});

it('one that a quota stops half way is undone by an abort', async () => {
  const world = await asked();
  await world.settleUntil('unpackBackup');
  refuse(world, ({ kind, name }) => kind === 'Pod' && name === 'example-3-seed', quota('limits.cpu', '3'));
  expect((await failuresOf(world)).at(-1)).toContain('exceeded quota');
  await world.settle(world.abort());
  await world.settle();
  expect(world.names('Pod')).toEqual(OLD);
  expect(world.names('Service')).toEqual(['example', 'example-client']);
});
