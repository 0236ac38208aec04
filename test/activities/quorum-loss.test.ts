/** Loss of the quorum, told truthfully: what is known of each disk, volumes' pods brought back, nothing destroyed. */
import { describe, expect, it } from 'vitest';
import { condition, created } from '../worlds/living-cluster.ts';
import { OperatorWorld } from '../worlds/operator-world.ts';

async function lose(world: OperatorWorld, ...members: readonly string[]): Promise<void> {
  for (const member of members) {
    const claim = world.kube.peek(world.claim(member));
    if (claim !== undefined) await world.kube.as('kubectl').delete(world.claim(member));
    await world.kube.as('kubectl').delete(world.pod(member));
    world.kubelet.settle();
    if (claim?.metadata.uid !== undefined) world.etcd.wipe(claim.metadata.uid);
  }
}

describe('QuorumAtRisk', () => {
  it('is not said of a healthy cluster, nor while it is created', async () => {
    const world = new OperatorWorld();
    await world.look();
    expect(condition(world, 'QuorumAtRisk')).toBeUndefined();
    await world.run();
    await world.run();
    expect(condition(world, 'QuorumAtRisk')).toBeUndefined();
  });

  it('says when one more failure would be too many, and not when two may still fail', async () => {
    const world = await created({ size: 5 });
    world.kubelet.stuck.set('example-1', 'ImagePullBackOff');
    await world.kube.as('kubectl').delete(world.pod('example-1'));
    world.kubelet.settle();
    await world.run();
    expect(condition(world, 'QuorumAtRisk')).toBeUndefined();
    world.kubelet.stuck.set('example-2', 'ImagePullBackOff');
    await world.kube.as('kubectl').delete(world.pod('example-2'));
    world.kubelet.settle();
    await world.run();
    const risk = condition(world, 'QuorumAtRisk');
    expect(risk).toMatchObject({ status: 'True', reason: 'NoMarginLeft' });
    expect(risk?.message).toBe(
      '3 of 5 voters are known to be healthy, and 3 are needed; example-1: its claim is Bound, its pod does not start (ImagePullBackOff); example-2: its claim is Bound, its pod does not start (ImagePullBackOff)',
    );
  });

  it('says that the quorum is lost, and what is known of each disk', async () => {
    const world = await created();
    await lose(world, 'example-1');
    world.kubelet.stuck.set('example-2', 'ImagePullBackOff');
    await world.kube.as('kubectl').delete(world.pod('example-2'));
    world.kubelet.settle();
    const claims = world.names('PersistentVolumeClaim');
    await world.look();
    expect(condition(world, 'Available')).toMatchObject({ status: 'False', reason: 'NoQuorum' });
    const risk = condition(world, 'QuorumAtRisk');
    expect(risk).toMatchObject({ status: 'True', reason: 'QuorumLost' });
    expect(risk?.message).toContain('2 of 3 voters are needed');
    expect(risk?.message).toContain('example-1: its claim is gone');
    expect(risk?.message).toContain('example-2: its claim is Bound, its pod is being created again');
    expect(world.events.map(event => event.reason)).toContain('QuorumLost');
    await world.run();
    expect(world.names('PersistentVolumeClaim')).toEqual(claims);
    expect(world.names('Pod')).toEqual(['example-0', 'example-2']);
    world.kubelet.stuck.clear();
    world.kubelet.settle();
    await world.run();
    await world.run();
    expect(condition(world, 'QuorumAtRisk')).toBeUndefined();
    expect(condition(world, 'Available')).toMatchObject({ status: 'True' });
    expect(world.names('Pod')).toEqual(['example-0', 'example-2', 'example-3']);
  });

  it('says of members that are unreachable that it is not known', async () => {
    const world = await created();
    for (const name of world.names('Pod')) {
      const status = world.kube.peek(world.pod(name))?.['status'] as { podIP?: string } | undefined;
      world.etcd.set(status?.podIP ?? '', 'frozen');
    }
    await world.look();
    expect(condition(world, 'Available')).toMatchObject({ status: 'Unknown', reason: 'Unreachable' });
    expect(condition(world, 'QuorumAtRisk')).toMatchObject({
      status: 'Unknown',
      reason: 'MembersUnreachable',
    });
    expect(condition(world, 'Recovering')).toMatchObject({ status: 'Unknown', reason: 'NoEvidence' });
  });
});

describe('a total loss', () => {
  it.each([
    { what: 'all claims of three', spec: {}, storageClass: true },
    { what: 'the claim of the only member', spec: { size: 1 }, storageClass: true },
    { what: 'all pods of an ephemeral cluster', spec: {}, storageClass: false },
  ])('of $what is reported, with what to do, and no empty cluster is started', async given => {
    const world = await created(given.spec, given.storageClass);
    await lose(world, ...world.names('Pod'));
    const { decision } = await world.run();
    expect(decision).toMatchObject({ kind: 'blocked', reason: 'AllVolumesLost', plan: [] });
    for (const type of ['Available', 'QuorumAtRisk']) {
      expect(condition(world, type)).toMatchObject({ reason: 'AllVolumesLost' });
      expect(condition(world, type)?.message).toContain('restore a backup');
    }
    expect(condition(world, 'Available')?.status).toBe('False');
    world.now += 24 * 3_600_000;
    await world.run();
    expect(world.names('Pod')).toEqual([]);
    expect(world.names('PersistentVolumeClaim')).toEqual([]);
  });
});
