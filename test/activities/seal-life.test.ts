/** A member that has started never starts again on an empty volume, however it was made and whatever happened to its pod. */
import { describe, expect, it } from 'vitest';
import { podFacts } from '../../src/activities/observe/pod-facts.ts';
import { ANNOTATION_INITIAL_CLUSTER, ANNOTATION_INITIAL_CLUSTER_STATE } from '../../src/api/names.ts';
import type { Step } from '../../src/planner/model/decision.ts';
import { etcdOf, startArguments } from '../fakes/kubernetes/container-arguments.ts';
import { created } from '../worlds/living-cluster.ts';
import { OperatorWorld } from '../worlds/operator-world.ts';

const THREE = ['example-0', 'example-1', 'example-2'];

/** By pod, what it would do on an empty volume. */
function firstStarts(world: OperatorWorld): Record<string, string> {
  const pods = world.kube.all('Pod');
  return Object.fromEntries(
    pods.map(pod => [pod.metadata.name, podFacts(pod, world.ref.uid).firstStart] as const),
  );
}

const sealed = (names: readonly string[]) => Object.fromEntries(names.map(name => [name, 'sealed']));

/** The volume of a member is emptied while its pod stays, and its container ends. */
function emptied(world: OperatorWorld, name: string): void {
  const pod = world.kube.peek(world.pod(name));
  const claim = world.kube.peek(world.claim(name));
  world.etcd.wipe((claim ?? pod)?.metadata.uid ?? '');
  world.kubelet.restart(name);
}

const failuresOf = (world: OperatorWorld, name: string) =>
  world.kubelet.starts.filter(({ pod }) => pod === name).map(({ failure }) => failure);

const annotate = (world: OperatorWorld, name: string, annotations: Record<string, string | null>) =>
  world.kube.as('kubectl').patch(world.pod(name), { metadata: { annotations } }, { type: 'merge' });

describe('a cluster that was created', () => {
  it('is sealed before clients can reach it', async () => {
    const world = new OperatorWorld();
    const seen: object[] = [];
    world.kube.intercept(call => {
      if (call.verb === 'create' && call.kind === 'Service' && call.name === 'example-client')
        seen.push(firstStarts(world));
    });
    await world.run();
    expect(seen).toEqual([sealed(THREE)]);
  });

  it('gives a member that started late its bootstrap flags, and seals it when it has', async () => {
    const world = new OperatorWorld();
    world.kubelet.stuck.set('example-2', 'ImagePullBackOff');
    await world.run();
    expect(firstStarts(world)).toEqual({ ...sealed(THREE), 'example-2': 'open' });
    world.kubelet.stuck.clear();
    await world.run();
    await world.run();
    expect(failuresOf(world, 'example-2')).toEqual([undefined]);
    expect(firstStarts(world)).toEqual(sealed(THREE));
  });

  it.each([
    ['on a claim', { size: 3, version: '3.6.16' }],
    ['in its pod', { size: 3, version: '3.6.16', storage: { emptyDir: {} } }],
  ])('replaces a member whose data %s went away under its running pod', async (_, spec) => {
    const world = await created(spec);
    emptied(world, 'example-1');
    await world.run();
    await world.run();
    expect(failuresOf(world, 'example-1').at(-1)).toMatch(/could not retrieve cluster information/);
    expect(world.cluster.status.replacements).toMatchObject([
      { member: 'example-1', reason: 'etcd found the volume empty', replacedBy: 'example-3' },
    ]);
    expect(firstStarts(world)).toEqual(sealed(['example-0', 'example-2', 'example-3']));
    expect(world.etcd.clusters).toHaveLength(1);
  });

  it('of one member stays down without its data, and says so', async () => {
    const world = await created({ size: 1, version: '3.6.16' });
    emptied(world, 'example-0');
    await world.run();
    expect(failuresOf(world, 'example-0').at(-1)).toMatch(/could not retrieve cluster information/);
    expect(world.etcd.clusters).toHaveLength(1);
    const available = world.cluster.status.conditions?.find(({ type }) => type === 'Available');
    expect(available).toMatchObject({ status: 'False' });
  });

  it.each<[string, Record<string, string | null>]>([
    ['takes away', { [ANNOTATION_INITIAL_CLUSTER]: null, [ANNOTATION_INITIAL_CLUSTER_STATE]: null }],
    ['changes', { [ANNOTATION_INITIAL_CLUSTER_STATE]: 'new' }],
    ['adds to', { [ANNOTATION_INITIAL_CLUSTER]: 'example-1=http://elsewhere:2380,example-0=http://x:2380' }],
  ])('is sealed again when somebody %s what a pod is told', async (_, annotations) => {
    const world = await created();
    await annotate(world, 'example-1', annotations);
    expect(firstStarts(world)).toMatchObject({ 'example-1': 'open' });
    const pods = world.kube.all('Pod').map(({ metadata }) => metadata.uid);
    await world.run();
    expect(firstStarts(world)).toEqual(sealed(THREE));
    expect(world.kube.all('Pod').map(({ metadata }) => metadata.uid)).toEqual(pods);
  });

  it('does not start at all while a pod lacks its annotations', async () => {
    const world = await created();
    await annotate(world, 'example-1', {
      [ANNOTATION_INITIAL_CLUSTER]: null,
      [ANNOTATION_INITIAL_CLUSTER_STATE]: null,
    });
    const pod = world.kube.peek(world.pod('example-1'));
    const initial = startArguments(pod ?? { metadata: {} }).filter(arg =>
      /^--initial-cluster(-state)?=/.test(arg),
    );
    expect(initial).toEqual(['--initial-cluster=', '--initial-cluster-state=']);
  });
});

describe('a member that joined', () => {
  it('is sealed before it becomes a voter', async () => {
    const world = await created();
    await world.kube.as('kubectl').patch(world.resource, { spec: { size: 5 } }, { type: 'merge' });
    const promoted: string[] = [];
    for (let pass = 0; pass < 40; pass += 1) {
      world.kubelet.settle();
      const { decision } = await world.step();
      if (decision.kind !== 'operate') break;
      if (decision.step.kind !== 'promoteLearner') continue;
      promoted.push(decision.step.member);
      expect(firstStarts(world)).toMatchObject({ [decision.step.member]: 'sealed' });
    }
    expect(promoted).toEqual(['example-3', 'example-4']);
  });

  it('is given up when its volume is emptied before it caught up, and another one joins', async () => {
    const world = await created({ size: 1, version: '3.6.16' });
    await world.kube.as('kubectl').patch(world.resource, { spec: { size: 2 } }, { type: 'merge' });
    while ((await world.look()).decision.kind === 'operate') {
      const { decision } = await world.step();
      world.kubelet.settle();
      if (decision.kind === 'operate' && decision.step.kind === 'sealMembers') break;
    }
    emptied(world, 'example-1');
    await world.run();
    await world.run();
    expect(firstStarts(world)).toEqual(sealed(['example-0', 'example-2']));
  });
});

describe('a pod that was deleted before its first start ever', () => {
  it('is refused by its empty volume once the cluster has formed, and its member is replaced', async () => {
    const world = new OperatorWorld();
    world.kubelet.stuck.set('example-2', 'ImagePullBackOff');
    await world.run();
    expect(world.cluster.status.clusterID).toBeDefined();
    world.kubelet.stuck.clear();
    await world.kube.as('kubectl').delete(world.pod('example-2'));
    await world.run();
    await world.run();
    expect(failuresOf(world, 'example-2')).toEqual([
      expect.stringMatching(/could not retrieve cluster information/),
    ]);
    expect(world.cluster.status).toMatchObject({
      phase: 'Running',
      ready: '3/3',
      replacements: [{ member: 'example-2', reason: 'etcd found the volume empty', replacedBy: 'example-3' }],
    });
    expect(firstStarts(world)).toEqual(sealed(['example-0', 'example-1', 'example-3']));
  });
});

describe('a cluster whose pods a user made by hand', () => {
  /** Bootstrap flags are arguments. */
  async function inherited(): Promise<OperatorWorld> {
    const world = await created();
    for (const name of THREE)
      world.kube.mutate(world.pod(name), pod => {
        const args = startArguments(pod);
        const { annotations = {} } = pod.metadata;
        const since = [ANNOTATION_INITIAL_CLUSTER, ANNOTATION_INITIAL_CLUSTER_STATE];
        for (const key of since) delete annotations[key];
        // Those of bootstrap, as arguments that never change.
        const fixed = args.map(arg => arg.replace(/(cluster-state=)existing$/, '$1new'));
        Object.assign(etcdOf(pod) ?? {}, { args: fixed, env: [] });
      });
    return world;
  }
  const outdated = ({ cluster }: OperatorWorld) =>
    cluster.status.conditions?.find(({ type }) => type === 'PodsOutdated');
  const uids = (world: OperatorWorld) => world.kube.all('Pod').map(({ metadata }) => metadata.uid);

  it('is not restarted, and the status says what they may do', async () => {
    const world = await inherited();
    const before = uids(world);
    expect((await world.run()).decision.kind).toBe('idle');
    expect(uids(world)).toEqual(before);
    expect(outdated(world)).toMatchObject({
      status: 'True',
      reason: 'MayStartEmpty',
      message: THREE.map(name => `${name} would start on an empty volume`).join('; '),
    });
  });

  it('is sealed with the next rollout that a user asks for', async () => {
    const world = await inherited();
    await world.kube
      .as('kubectl')
      .patch(world.resource, { spec: { etcd: { snapshotCount: 7_000 } } }, { type: 'merge' });
    await world.run();
    await world.run();
    expect(firstStarts(world)).toEqual(sealed(THREE));
    expect(outdated(world)).toBeUndefined();
    const stops = world.events.filter(({ reason }) => reason === 'MemberStopped');
    expect(stops.map(({ message }) => message).sort()).toEqual(
      THREE.map(name => `stopped ${name}: argument --snapshot-count added`),
    );
  });
});

describe('sealing', () => {
  const sealing = (world: OperatorWorld, uid: string): Step => {
    const { rows = [] } = world.etcd.clusters[0] ?? {};
    const id = rows.find(({ name }) => name === 'example-1')?.id ?? '';
    return { kind: 'sealMembers', members: [{ name: 'example-1', id, uid }] };
  };

  it('touches no pod that was created again meanwhile', async () => {
    const world = await created();
    await annotate(world, 'example-1', { [ANNOTATION_INITIAL_CLUSTER_STATE]: 'new' });
    await expect(world.perform(sealing(world, 'another'))).rejects.toMatchObject({
      type: 'PreconditionChanged',
    });
    expect(firstStarts(world)).toMatchObject({ 'example-1': 'open' });
  });

  it('done twice is done once', async () => {
    const world = await created();
    const uid = world.kube.peek(world.pod('example-1'))?.metadata.uid ?? '';
    await annotate(world, 'example-1', { [ANNOTATION_INITIAL_CLUSTER_STATE]: 'new' });
    expect(await world.perform(sealing(world, uid))).toBe('done');
    const { resourceVersion } = world.kube.peek(world.pod('example-1'))?.metadata ?? {};
    expect(await world.perform(sealing(world, uid))).toBe('done');
    expect(world.kube.peek(world.pod('example-1'))?.metadata.resourceVersion).toBe(resourceVersion);
  });

  it('is not done to a member that is none any more', async () => {
    const world = await created();
    const uid = world.kube.peek(world.pod('example-1'))?.metadata.uid ?? '';
    const step: Step = { kind: 'sealMembers', members: [{ name: 'example-1', id: 'beef', uid }] };
    await expect(world.perform(step)).rejects.toMatchObject({ type: 'PreconditionChanged' });
  });
});
