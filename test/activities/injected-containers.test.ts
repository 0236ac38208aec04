/** Pods in a namespace whose webhooks put containers into every pod: before, after and among those that the operator asked for. */
import { describe, expect, it } from 'vitest';
import { podFacts } from '../../src/activities/observe/pod-facts.ts';
import { troubleOfHelper } from '../../src/activities/observe/pod-trouble.ts';
import type { KubeObject } from '../../src/kube/port.ts';
import { INJECTED, injected } from '../fakes/kubernetes/injected.ts';
import { OperatorWorld } from '../worlds/operator-world.ts';

const LONG = { timeout: 240_000 };

function containersOf(pod: KubeObject): { name: string; image: string }[] {
  return (pod['spec'] as { containers: { name: string; image: string }[] }).containers;
}

const imagesOf = (world: OperatorWorld): string[] =>
  world.kube.all('Pod').flatMap(pod => containersOf(pod).map(({ name, image }) => `${name} ${image}`));

const trouble = (status: object) =>
  podFacts({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'example-0' }, status }, 'u').trouble;

const crashed = (message: string) => ({
  restartCount: 2,
  state: { waiting: { reason: 'CrashLoopBackOff', message: 'back-off' } },
  lastState: { terminated: { exitCode: 1, message } },
});

describe('a cluster whose pods get injected containers', LONG, () => {
  it('forms, grows, is upgraded and rolled out without a change of theirs', async () => {
    const world = new OperatorWorld({ spec: { size: 3, version: '3.6.16' }, injects: true });
    await world.run();
    expect(world.cluster.status.members?.ready).toHaveLength(3);
    const edit = (spec: object) =>
      world.kube.mutate(world.resource, object => {
        object['spec'] = { ...(object['spec'] as object), ...spec };
      });
    edit({ size: 4 });
    await world.run();
    edit({ version: '3.7.3' });
    await world.run();
    expect(world.cluster.status.currentVersion).toBe('3.7.3');
    edit({ etcd: { snapshotCount: 5_000 } });
    await world.run();
    expect(new Set(imagesOf(world))).toEqual(
      new Set([
        'a-proxy mesh.example.com/proxy:v9.9.9',
        'zz-agent mesh.example.com/proxy:v9.9.9',
        'etcd gcr.io/etcd-development/etcd:v3.7.3',
      ]),
    );
    const facts = world.kube.all('Pod').map(pod => podFacts(pod, world.ref.uid));
    expect(facts.map(({ firstStart }) => firstStart)).toEqual(['sealed', 'sealed', 'sealed', 'sealed']);
    const before = world.snapshot();
    expect((await world.run()).decision).toMatchObject({ kind: 'idle' });
    expect(world.snapshot()).toBe(before);
  });

  it('has the image of etcd replaced by name, wherever its container stands', async () => {
    const world = new OperatorWorld({ spec: { size: 1, version: '3.6.15' }, injects: true });
    await world.run();
    world.kube.mutate(world.resource, object => {
      object['spec'] = { ...(object['spec'] as object), version: '3.6.16' };
    });
    await world.run();
    const patch = world.kube.calls.find(
      ({ body, dryRun }) => !dryRun && JSON.stringify(body ?? {}).includes('/image"'),
    );
    expect(patch?.body).toContainEqual({ op: 'test', path: '/spec/containers/1/name', value: 'etcd' });
    expect(world.kube.all('Pod').flatMap(containersOf)).toMatchObject([
      { name: 'a-proxy', image: 'mesh.example.com/proxy:v9.9.9' },
      { name: 'etcd', image: 'gcr.io/etcd-development/etcd:v3.6.16' },
      { name: 'zz-agent', image: 'mesh.example.com/proxy:v9.9.9' },
    ]);
  });
});

describe('what is read of a pod with containers of others', () => {
  it('is what etcd is started with, and not what another container is', async () => {
    const world = new OperatorWorld({ spec: { size: 1, version: '3.6.16' } });
    await world.run();
    const [pod] = world.kube.all('Pod');
    const { peerUrl, firstStart, stamp } = podFacts(pod as KubeObject, world.ref.uid);
    const facts = podFacts(injected(pod as KubeObject), world.ref.uid);
    expect(facts).toMatchObject({ peerUrl, firstStart, stamp });
    expect(containersOf(injected(pod as KubeObject)).map(({ name }) => name)).toEqual([
      INJECTED[0],
      'etcd',
      INJECTED[2],
    ]);
  });

  it('is no trouble of etcd when another container ends again and again', () => {
    const beside = { name: 'a-proxy', ...crashed('bootstrap failed') };
    const status = {
      phase: 'Running',
      containerStatuses: [beside, { name: 'etcd', ready: true, state: { running: {} } }],
    };
    expect(trouble(status)).toBeUndefined();
  });

  it('names an init container that keeps etcd from being started, whose words prove nothing of etcd', () => {
    const status = {
      phase: 'Pending',
      initContainerStatuses: [{ name: 'mesh-init', ...crashed('iptables: permission denied') }],
      containerStatuses: [{ name: 'etcd', state: { waiting: { reason: 'PodInitializing' } } }],
    };
    expect(trouble(status)).toEqual({
      reason: 'CrashLoopBackOff',
      message: 'init container mesh-init: iptables: permission denied',
      container: 'mesh-init',
    });
  });

  it.each([
    ['a proxy whose image cannot be pulled', { waiting: { reason: 'ImagePullBackOff' } }],
    ['an agent that ended', { terminated: { exitCode: 0, reason: 'Completed' } }],
  ])('is that etcd runs and the pod is not ready for the sake of %s', (_, state) => {
    const status = {
      phase: 'Pending',
      conditions: [{ type: 'Ready', status: 'False', reason: 'ContainersNotReady' }],
      containerStatuses: [
        { name: 'a-proxy', ready: false, state },
        { name: 'etcd', ready: true, state: { running: {} } },
      ],
    };
    const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'example-0' }, status };
    const facts = podFacts(pod, 'u');
    expect(facts).toMatchObject({ phase: 'Running', ready: false, trouble: undefined });
    expect(facts.notReadyBecause).toMatch(/^container a-proxy is not ready \(/);
    expect(facts.statusStale).toBeUndefined();
  });

  it('of a pod with one task is no trouble while its own container runs, whatever the others do', () => {
    const status = (finish: object) => ({
      phase: 'Running',
      initContainerStatuses: [{ name: 'keeper', ready: true, state: { running: {} } }],
      containerStatuses: [
        { name: 'a-proxy', state: { waiting: { reason: 'ImagePullBackOff', message: 'no' } } },
        { name: 'finish', state: finish },
      ],
    });
    const pod = (finish: object): KubeObject => ({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'example-0-seed' },
      status: status(finish),
    });
    expect(troubleOfHelper(pod({ running: {} }), 'finish')).toBeUndefined();
    expect(troubleOfHelper(pod({ waiting: { reason: 'ErrImagePull' } }), 'finish')).toMatch(
      /^ImagePullBackOff: /,
    );
  });
});
