/** How members go and stop without a client that notices, on a world in memory. */
import { describe, expect, it } from 'vitest';
import { CLIENTS_ADMITTED, CLIENTS_WITHDRAWN, LABEL_CLIENTS } from '../../src/api/names.ts';
import type { EtcdClusterSpec } from '../../src/api/schemas/types.ts';
import { edit } from '../worlds/living-cluster.ts';
import { OperatorWorld } from '../worlds/operator-world.ts';
import { Users } from '../worlds/users.ts';

const LONG = { timeout: 120_000 };
const THREE = ['example-0', 'example-1', 'example-2'];

async function created(spec: EtcdClusterSpec = {}) {
  const world = new OperatorWorld({ spec: { size: 3, version: '3.6.16', ...spec } });
  await world.run();
  await world.run();
  world.now += 60_000;
  return { world, users: new Users(world) };
}

function rows(world: OperatorWorld): string[] {
  return (world.etcd.clusters[0]?.rows ?? []).map(({ name }) => name);
}

function clientsOf(world: OperatorWorld): (string | undefined)[] {
  return world.kube.all('Pod').map(({ metadata }) => metadata.labels?.[LABEL_CLIENTS]);
}

/** The label that each pod had when the operator stopped it, or changed its image. */
function watchStops(world: OperatorWorld): (string | undefined)[] {
  const seen: (string | undefined)[] = [];
  world.kube.intercept(({ verb, kind, name = '', manager, dryRun, body }) => {
    const isImage =
      verb === 'patch' && !dryRun && JSON.stringify(body ?? {}).includes('/spec/containers/0/image');
    if (kind !== 'Pod' || manager !== 'etcd-operator' || !(verb === 'delete' || isImage)) return;
    seen.push(world.kube.peek(world.pod(name))?.metadata.labels?.[LABEL_CLIENTS]);
  });
  return seen;
}

/** Three members are to be two, and one of them was stopped for it. */
async function stoppedToGo() {
  const { world, users } = await created();
  await edit(world, { size: 2 });
  while (!users.steps.includes('stopMember')) await users.step();
  expect(rows(world)).toEqual(THREE);
  expect(world.names('Pod')).toEqual(['example-0', 'example-1']);
  return { world, users };
}

describe('a healthy member that is to go', LONG, () => {
  it('is stopped first, and removed when its pod is gone', async () => {
    const { world, users } = await stoppedToGo();
    expect(users.steps).toEqual(['stopMember']);
    await users.run();
    expect(users.steps).toEqual(['stopMember', 'removeMember', 'retireMember', 'applyObjects']);
    expect(rows(world)).toEqual(['example-0', 'example-1']);
    expect(world.names('PersistentVolumeClaim')).toEqual(['example-0', 'example-1']);
  });

  it('comes back on its volume when it is wanted again after its stop', async () => {
    const { world, users } = await stoppedToGo();
    const claim = world.kube.peek(world.claim('example-2'))?.metadata.uid;
    await edit(world, { size: 3 });
    await users.run();
    expect(users.steps).not.toContain('removeMember');
    expect(rows(world)).toEqual(THREE);
    expect(world.names('Pod')).toEqual(THREE);
    expect(world.kube.peek(world.claim('example-2'))?.metadata.uid).toBe(claim);
  });

  it('comes back when its removal is aborted after its stop', async () => {
    const { world, users } = await stoppedToGo();
    const { generation = 0 } = world.cluster.metadata;
    users.said = { aborted: { operation: 'scaleCluster', generation, by: 'ana' } };
    const { decision } = await users.run();
    expect(decision).toMatchObject({ kind: 'blocked', reason: 'Aborted' });
    expect(rows(world)).toEqual(THREE);
    expect(world.names('Pod')).toEqual(THREE);
    expect(clientsOf(world)).toEqual(THREE.map(() => CLIENTS_ADMITTED));
  });

  it('comes back when another one fails after its stop, and that one goes', async () => {
    const { world, users } = await stoppedToGo();
    const pod = world.kube.peek(world.pod('example-1'));
    world.etcd.set((pod?.['status'] as { podIP?: string } | undefined)?.podIP ?? '', 'isolated');
    await users.run();
    expect(rows(world)).toEqual(['example-0', 'example-2']);
    expect(world.names('Pod')).toEqual(['example-0', 'example-2']);
  });

  it('is removed as it is where one of two would be left alone, or where its pod holds the data', async () => {
    const two = await created({ size: 2 });
    await edit(two.world, { size: 1 });
    await two.users.run();
    expect(two.users.steps).not.toContain('stopMember');
    const inPods = await created({ storage: { emptyDir: {} } });
    await edit(inPods.world, { size: 2 });
    await inPods.users.run();
    expect(inPods.users.steps).not.toContain('stopMember');
    expect([two, inPods].map(({ world }) => rows(world).length)).toEqual([1, 2]);
  });
});

describe('two healthy members that are to go', LONG, () => {
  const SHRINKING = [
    ...['stopMember', 'removeMember'],
    ...['stopMember', 'removeMember'],
    ...['retireMember', 'retireMember'],
    'applyObjects',
  ];

  it('go one after the other, with their clients led away from both in the same second', async () => {
    const { world, users } = await created({ size: 5 });
    const stops = watchStops(world);
    const shut: number[] = [];
    world.kube.intercept(({ verb, kind, manager }) => {
      if (kind === 'Pod' && verb === 'delete' && manager === 'etcd-operator')
        shut.push(clientsOf(world).filter(label => label === CLIENTS_WITHDRAWN).length);
    });
    await edit(world, { size: 3 });
    await users.run();
    expect(users.steps).toEqual(SHRINKING);
    expect(stops).toEqual([CLIENTS_WITHDRAWN, CLIENTS_WITHDRAWN]);
    expect(shut[0]).toBe(2);
    expect(rows(world)).toEqual(THREE);
    expect(clientsOf(world)).toEqual(THREE.map(() => CLIENTS_ADMITTED));
    expect(world.names('PersistentVolumeClaim')).toEqual(THREE);
  });

  it('are led clients to again when the second is wanted after all', async () => {
    const { world, users } = await created({ size: 5 });
    await edit(world, { size: 3 });
    while (!users.steps.includes('removeMember')) await users.step();
    await edit(world, { size: 4 });
    await users.run();
    expect(users.steps).toEqual([
      'stopMember',
      'removeMember',
      'admitMembers',
      'retireMember',
      'applyObjects',
    ]);
    expect(clientsOf(world)).toEqual(Array(4).fill(CLIENTS_ADMITTED));
  });

  it('go also when a user takes the pod of the second away in that moment', async () => {
    const { world, users } = await created({ size: 5 });
    await edit(world, { size: 3 });
    const { decision } = await world.look();
    if (decision.kind !== 'operate' || decision.step.kind !== 'stopMember') throw new Error('stops nobody');
    const second = decision.step.alongside?.[0]?.name ?? '';
    await world.kube.as('kubectl').delete(world.pod(second));
    world.kubelet.settle();
    await expect(world.perform(decision.step)).rejects.toMatchObject({ type: 'PreconditionChanged' });
    await users.run();
    expect(rows(world)).toEqual(THREE);
    expect(clientsOf(world)).toEqual(THREE.map(() => CLIENTS_ADMITTED));
  });

  it('leave nothing behind when the second removal is aborted', async () => {
    const { world, users } = await created({ size: 5 });
    await edit(world, { size: 3 });
    while (!users.steps.includes('removeMember')) await users.step();
    const { generation = 0 } = world.cluster.metadata;
    users.said = { aborted: { operation: 'scaleCluster', generation, by: 'ana' } };
    await users.run();
    expect(users.steps).toContain('retireMember');
    expect(world.names('PersistentVolumeClaim')).toEqual(world.names('Pod'));
    expect(clientsOf(world)).toEqual(Array(4).fill(CLIENTS_ADMITTED));
  });
});

describe('clients', LONG, () => {
  it.each([
    { what: 'a rollout', spec: { etcd: { snapshotCount: 7_000 } } },
    { what: 'an upgrade in place', spec: { version: '3.6.15' } },
  ])('are led away from a member before $what stops it, and back when it is well', async ({ spec }) => {
    const { world, users } = await created();
    const stops = watchStops(world);
    await edit(world, spec);
    await users.run();
    expect(stops).toEqual(THREE.map(() => CLIENTS_WITHDRAWN));
    expect(clientsOf(world)).toEqual(THREE.map(() => CLIENTS_ADMITTED));
  });

  it('are led back to a member whose pod changed in the moment in which its image was to be replaced', async () => {
    const { world, users } = await created();
    await edit(world, { version: '3.6.15' });
    const step = await world.runUntil('replaceImage');
    let isFirst = true;
    world.kube.intercept(({ verb, kind, name = '', dryRun, body }) => {
      const isImage =
        verb === 'patch' && kind === 'Pod' && JSON.stringify(body).includes('/spec/containers/0/image');
      if (!isImage || dryRun || !isFirst) return;
      isFirst = false;
      world.kube.mutate(
        world.pod(name),
        ({ metadata }) => void (metadata.annotations = { ...metadata.annotations, by: 'ana' }),
      );
    });
    await expect(world.perform(step)).rejects.toMatchObject({ type: 'PreconditionChanged' });
    await users.run();
    expect(new Set(world.cluster.status.members?.details?.map(({ version }) => version))).toEqual(
      new Set(['3.6.15']),
    );
    expect(clientsOf(world)).toEqual(THREE.map(() => CLIENTS_ADMITTED));
  });

  it('are led back to a member whose stop was prevented', async () => {
    const { world, users } = await created({ etcd: { snapshotCount: 9_000 } });
    await edit(world, { etcd: { snapshotCount: 7_000 } });
    const step = await world.runUntil('stopMember');
    await edit(world, { etcd: { snapshotCount: 9_000 } });
    await expect(world.perform(step)).rejects.toMatchObject({ type: 'PreconditionChanged' });
    expect(clientsOf(world)).toContain(CLIENTS_WITHDRAWN);
    await users.run();
    expect(users.steps).toEqual(['admitMembers']);
    expect(clientsOf(world)).toEqual(THREE.map(() => CLIENTS_ADMITTED));
  });

  it('find members whose label was taken off at any time: the pods are labeled before the Service asks for it', async () => {
    const { world, users } = await created();
    for (const { metadata } of world.kube.all('Pod'))
      world.kube.mutate(world.pod(metadata.name), pod => void delete pod.metadata.labels?.[LABEL_CLIENTS]);
    const service = {
      apiVersion: 'v1',
      kind: 'Service',
      namespace: world.ref.namespace,
      name: 'example-client',
    };
    const selector = { app: 'etcd', etcd_cluster: 'example' };
    world.kube.mutate(service, object => void ((object['spec'] as { selector: object }).selector = selector));
    const uids = world.kube.all('Pod').map(({ metadata }) => metadata.uid);
    await users.run();
    expect(users.steps).toEqual(['admitMembers', 'applyObjects']);
    expect(world.kube.peek(service)?.['spec']).toMatchObject({
      selector: { ...selector, [LABEL_CLIENTS]: CLIENTS_ADMITTED },
    });
    expect(world.kube.all('Pod').map(({ metadata }) => metadata.uid)).toEqual(uids);
  });
});
