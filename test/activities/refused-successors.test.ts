/** A pod that the API server would refuse is found before a member is stopped, led away from, added or removed for it. */
import { describe, expect, it } from 'vitest';
import { CLIENTS_ADMITTED, LABEL_CLIENTS } from '../../src/api/names.ts';
import type { EtcdClusterSpec } from '../../src/api/schemas/types.ts';
import { containerNamed, ETCD_CONTAINER } from '../../src/objects/containers.ts';
import { KubeError } from '../../src/kube/errors.ts';
import type { FakeCall } from '../fakes/kubernetes/kube.ts';
import { leader, voters } from '../worlds/living-cluster.ts';
import { OperatorWorld } from '../worlds/operator-world.ts';
import { Users } from '../worlds/users.ts';

const [FROM, TO] = ['3.6.15', '3.6.16'];
const POLICY =
  "ValidatingAdmissionPolicy 'images' with binding 'images' denied request: this image is not allowed here";
const QUOTA = 'exceeded quota: pods, requested: pods=1, used: pods=3, limited: pods=3';

const forbidden = (message: string) =>
  new KubeError({ code: 403, reason: 'Forbidden', message: `is forbidden: ${message}`, retry: 'never' });

async function running(spec: EtcdClusterSpec = {}): Promise<OperatorWorld> {
  const world = new OperatorWorld({ spec: { size: 3, version: FROM, ...spec } });
  await world.run();
  world.now += 60_000;
  await world.run();
  return world;
}

const edit = (world: OperatorWorld, spec: object) =>
  world.kube.as('kubectl').patch(world.resource, { spec }, { type: 'merge' });

/** As many passes with their steps, and what failed. */
async function failuresOf(world: OperatorWorld): Promise<string[]> {
  const failures: string[] = [];
  for (let pass = 0; pass < 12; pass += 1) {
    world.kubelet.settle();
    world.now += 10_000;
    await world.step().catch((error: Error) => failures.push(error.message));
  }
  return failures;
}

function refuse(world: OperatorWorld, matches: (call: FakeCall) => boolean, message: string): () => void {
  return world.kube.intercept(call => {
    if (matches(call)) throw forbidden(message);
  });
}

const carries = (image: string) => (call: FakeCall) =>
  call.kind === 'Pod' &&
  ['create', 'patch'].includes(call.verb) &&
  JSON.stringify(call.body).includes(`:v${image}"`);
const makesPod = ({ verb, kind }: FakeCall) => verb === 'create' && kind === 'Pod';
const makesClaim = ({ verb, kind }: FakeCall) => verb === 'create' && kind === 'PersistentVolumeClaim';

const livesOf = (world: OperatorWorld) =>
  world.kube
    .all('Pod')
    .map(pod => [
      pod.metadata.uid,
      pod.metadata.labels?.[LABEL_CLIENTS],
      containerNamed(pod, ETCD_CONTAINER)?.image?.split(':')[1],
    ]);

describe('an upgrade of which a policy takes no pod', () => {
  it.each([
    ['in its pods', {}],
    ['in new pods', { etcd: { snapshotCount: 20_000 } }],
  ])('%s stops no member, and shuts out no client', async (_, more) => {
    const world = await running();
    const before = livesOf(world);
    const seen = new Set<string | undefined>();
    world.kube.intercept(() => {
      for (const { metadata } of world.kube.all('Pod')) seen.add(metadata.labels?.[LABEL_CLIENTS]);
    });
    refuse(world, carries(TO), POLICY);
    await edit(world, { version: TO, ...more });
    const failures = await failuresOf(world);
    expect(failures.at(-1)).toMatch(/^the API server would refuse Pod example-\d, so nothing was changed: /);
    expect(failures.at(-1)).toContain(POLICY);
    expect(livesOf(world)).toEqual(before);
    expect([...seen]).toEqual([CLIENTS_ADMITTED]);
  });

  it('is made once the policy takes them', async () => {
    const world = await running();
    const allow = refuse(world, carries(TO), POLICY);
    await edit(world, { version: TO });
    expect(await failuresOf(world)).not.toEqual([]);
    allow();
    for (let round = 0; round < 6; round += 1) {
      await world.run();
      world.now += 60_000;
    }
    expect(livesOf(world).map(([, , image]) => image)).toEqual(Array(3).fill(`v${TO}`));
  });
});

describe('a member that would have no pod is not added', () => {
  it.each<[string, (call: FakeCall) => boolean, string]>([
    ['for a quota on pods', makesPod, QUOTA],
    ['for a quota on claims', makesClaim, QUOTA.replaceAll('pods', 'persistentvolumeclaims')],
    ['for a policy', makesPod, POLICY],
  ])('%s, and is when there is room', async (_, matches, message) => {
    const world = await running();
    const allow = refuse(world, matches, message);
    await edit(world, { size: 5 });
    const failures = await failuresOf(world);
    expect(failures.at(-1)).toMatch(/^the API server would refuse \w+ example-3, so nothing was changed: /);
    expect(world.etcd.clusters[0]?.rows).toHaveLength(3);
    allow();
    for (let round = 0; round < 4; round += 1) {
      await world.run();
      world.now += 60_000;
    }
    expect(world.cluster.status.ready).toBe('5/5');
    // No name was used up meanwhile.
    expect(world.names('Pod')).toEqual(['example-0', 'example-1', 'example-2', 'example-3', 'example-4']);
  });
});

describe('a member that is not known to be lost, and that a user wants replaced', () => {
  it('is not removed while its successor would be refused', async () => {
    const world = await running();
    const users = new Users(world);
    const [member = ''] = voters(world).filter(name => name !== leader(world));
    const status = world.kube.peek(world.pod(member))?.['status'] as { podIP?: string } | undefined;
    world.etcd.set(status?.podIP ?? '', 'isolated');
    users.ask('replaceMember', member);
    const { decision } = await users.run();
    const consent = decision.kind === 'blocked' ? decision.consent : undefined;
    const approval = { id: 1, by: 'ana', expiresAt: world.now + 3_600_000, operation: '', ids: [] };
    users.said = { approvals: [{ ...approval, ...consent }] };
    const allow = refuse(world, makesPod, POLICY);
    await users.step();
    expect(world.kube.calls.at(-1)).toMatchObject({ verb: 'create', kind: 'Pod', name: 'example-3' });
    expect(voters(world)).toContain(member);
    allow();
    await users.run();
    expect(voters(world)).not.toContain(member);
    expect(voters(world)).toHaveLength(3);
  });
});

describe('a memory limit that is lowered', () => {
  const limited = (memory: string) => ({ pod: { resources: { limits: { memory } } } });
  const limits = (world: OperatorWorld) =>
    world.kube.all('Pod').map(pod => containerNamed(pod, ETCD_CONTAINER)?.resources?.limits?.['memory']);

  it('below what a member has in use stops nobody, and is said with both numbers', async () => {
    const world = await running(limited('512Mi'));
    const lives = livesOf(world);
    world.etcd.memoryInUse = 300 * 1024 ** 2;
    await edit(world, limited('256Mi'));
    expect((await failuresOf(world)).at(-1)).toContain(
      'spec.pod.resources.limits.memory is 256Mi, and example-0 has 300.0 MiB in use without its database file',
    );
    expect(livesOf(world)).toEqual(lives);

    world.etcd.memoryInUse = 100 * 1024 ** 2;
    await failuresOf(world);
    await world.run();
    expect(limits(world)).toEqual(['256Mi', '256Mi', '256Mi']);
  });

  it('of a member that does not say what it needs is rolled out, and so is a higher one', async () => {
    const world = await running(limited('256Mi'));
    world.etcd.memoryInUse = 300 * 1024 ** 2;
    await edit(world, limited('384Mi'));
    await world.run();
    await world.run();
    expect(limits(world)).toEqual(['384Mi', '384Mi', '384Mi']);
    world.etcd.memoryInUse = undefined;
    world.now += 600_000;
    await edit(world, limited('128Mi'));
    await world.run();
    await world.run();
    expect(limits(world)).toEqual(['128Mi', '128Mi', '128Mi']);
  });
});
