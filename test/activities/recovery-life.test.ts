/** A quorum that is lost for good, in memory: what is offered, what is refused, and what an approval comes to. */
import { describe, expect, it } from 'vitest';
import { approved, expectRecovered, LEFT, lost } from '../worlds/recovered.ts';
import { OLD } from '../worlds/restored.ts';
import { RestoreWorld } from '../worlds/restore-world.ts';

describe('the loss of a quorum', () => {
  it('is reported with what can be recovered, and nothing is done', async () => {
    const world = await lost();
    const { recovery, lastSeen, clusterID, conditions, awaitedApproval } = world.cluster.status;
    expect(recovery).toMatchObject({
      member: LEFT,
      givenUp: [
        { name: 'example-0', why: 'its claim is gone' },
        { name: 'example-1', why: 'its claim is gone' },
      ],
    });
    expect(lastSeen?.map(({ name }) => name)).toEqual(OLD);
    expect(lastSeen?.every(({ id, revision, raftIndex }) => id !== '' && revision && raftIndex)).toBe(true);
    expect(awaitedApproval?.operation).toBe('recoverQuorum');
    expect(awaitedApproval?.ids).toContain(`cluster=${clusterID}`);
    const progressing = conditions?.find(({ type }) => type === 'Progressing');
    expect(progressing).toMatchObject({ reason: 'AwaitingApproval' });
    expect(progressing?.message).toContain('kubectl etcd recover example example-2');
    expect(world.names('EtcdRestore')).toEqual([]);
    expect(world.names('Pod')).toEqual([LEFT]);
    const atRisk = conditions?.find(({ type }) => type === 'QuorumAtRisk');
    expect(atRisk).toMatchObject({ status: 'True', reason: 'QuorumLost' });
    expect(atRisk?.message).toMatch(
      /example-0: its claim is gone \(last seen at 2026\S+ with revision 1, raft index \d+, term \d+\)/,
    );
  });

  it('is none while a volume is there whose node may come back', async () => {
    const world = await RestoreWorld.withCluster();
    await world.loseVolumesOf(['example-0']);
    world.kubelet.stuck.set('example-1', 'ContainerCreating');
    await world.kube.as('kubectl').delete(world.pod('example-1'));
    await world.runCluster();
    expect(world.cluster.status.recovery).toBeUndefined();
    const ids = world.cluster.status.lastSeen?.map(({ id }) => id) ?? [];
    world.requestRecovery({ member: LEFT, revision: 1, lastRevision: 1, givenUp: ids.slice(0, 2) });
    await world.runCluster();
    expect(world.recoveryRequest).toMatchObject({ phase: 'Refused' });
    expect(world.recoveryRequest.message).toContain('2 of 3 voters may come back');
    expect(world.names('EtcdRestore')).toEqual([]);
  });
});

describe('a recovery', () => {
  it('makes a new cluster of the data of the survivor, and keeps its volume', async () => {
    const world = await approved();
    const before = world.cluster.status.clusterID;
    expect(world.recoveryRequest).toMatchObject({ phase: 'Completed', operation: 'recoverQuorum' });
    await world.settle();
    expectRecovered(world);
    expect(world.cluster.status.clusterID).not.toBe(before);
    expect(world.restore.source).toMatchObject({ location: 'survivor://shop/example-2', clusterID: before });
    expect(world.cluster.status.history?.map(({ type, outcome }) => `${type} ${outcome}`)).toEqual(
      expect.arrayContaining(['recoverQuorum Succeeded', 'restoreCluster Succeeded']),
    );
    const recovered = world.cluster.status.history?.find(({ type }) => type === 'recoverQuorum');
    expect(recovered).toMatchObject({ approvedBy: 'ada' });
  });

  it('lets no member of the cluster before come back: what is found again is only kept', async () => {
    const world = await RestoreWorld.withCluster();
    const claims = ['example-0', 'example-1'].map(name => world.kube.peek(world.claim(name)));
    await world.loseVolumesOf(['example-0', 'example-1']);
    await world.runCluster();
    world.requestRecovery();
    await world.drive({}, { after: step => step === 'requestRecovery' });
    world.adopt(world.names('EtcdRestore')[0] ?? '');
    await world.settle();
    expectRecovered(world);
    for (const claim of claims) if (claim !== undefined) world.kube.seed(claim as never);
    world.now += 3_600_000;
    await world.runCluster();
    expect(world.names('Pod')).toEqual(['example-3', 'example-4', 'example-5']);
    expect(world.names('PersistentVolumeClaim')).toEqual(expect.arrayContaining(OLD));
    expect(world.etcd.clusters.at(-1)?.rows).toHaveLength(3);
  });

  it.each([
    ['another cluster', { clusterID: 'abc' }, 'the id of the cluster is'],
    ['another member', { member: 'example-1' }, 'example-2 has the newest data'],
    ['another revision', { revision: 4_711 }, 'and not 4711'],
    ['another window', { lastRevision: 4_711 }, 'and not 4711'],
    ['fewer members', { givenUp: ['abc'] }, 'does not give up'],
  ])('is refused of %s', async (_, facts, why) => {
    const world = await lost();
    world.requestRecovery(facts);
    await world.runCluster();
    expect(world.recoveryRequest).toMatchObject({ phase: 'Refused' });
    expect(world.recoveryRequest.message).toContain(why);
    expect(world.names('EtcdRestore')).toEqual([]);
  });

  it('goes by what a pod finds on the volume of a survivor that was started again and answers nobody', async () => {
    const world = await RestoreWorld.withCluster();
    await world.loseVolumesOf(['example-0', 'example-1']);
    await world.kube.as('kubectl').delete(world.pod(LEFT));
    const { steps } = await world.drive();
    expect(steps).toContain('inspectSurvivor');
    expect(world.cluster.status.survivors).toMatchObject([{ name: LEFT, revision: 1 }]);
    expect(world.cluster.status.recovery).toMatchObject({ member: LEFT, revision: 1 });
    expect(world.names('Pod')).toEqual([LEFT]);
    world.requestRecovery();
    await world.drive({}, { after: step => step === 'requestRecovery' });
    world.adopt(world.names('EtcdRestore')[0] ?? '');
    await world.settle();
    expectRecovered(world);
    expect(world.cluster.status.survivors).toBeUndefined();
  });

  it('is refused when a quorum answers', async () => {
    const world = await RestoreWorld.withCluster();
    world.requestRecovery({ member: LEFT, revision: 1, givenUp: ['a'] });
    await world.runCluster();
    expect(world.recoveryRequest).toMatchObject({ phase: 'Refused' });
    expect(world.recoveryRequest.message).toContain('a quorum of example answers');
  });

  it('does not begin when a member comes back after the approval', async () => {
    const world = await RestoreWorld.withCluster();
    const claim = world.kube.peek(world.claim('example-0'));
    await world.loseVolumesOf(['example-0', 'example-1']);
    await world.runCluster();
    world.requestRecovery();
    await world.drive({}, { after: step => step === 'requestRecovery' });
    world.adopt(world.names('EtcdRestore')[0] ?? '');
    await world.stepRestore();
    if (claim !== undefined) world.kube.seed(claim as never);
    await world.settle();
    expect(world.restore).toMatchObject({ phase: 'Refused', refusal: { reason: 'QuorumMayReturn' } });
    expect(world.names('Pod')).toContain(LEFT);
    expect(world.cluster.status.incarnation?.restore).toBeUndefined();
  });

  it('leads back when the data cannot be taken over, as it is aborted', async () => {
    const world = await approved();
    const before = world.cluster.status.clusterID;
    world.kubelet.survivorFailure = 'etcd ended when it was started on a copy of the data: panic';
    await expect(world.settle({}, { failure: true })).rejects.toThrow('could not be taken over: etcd ended');
    world.kubelet.survivorFailure = undefined;
    await world.settle(world.abort());
    await world.settle();
    expect(world.restore).toMatchObject({ phase: 'Failed' });
    expect(world.cluster.status.clusterID).toBe(before);
    expect(world.names('Pod')).toEqual([LEFT]);
    expect(world.names('PersistentVolumeClaim')).toEqual([LEFT]);
    // It can be recovered again when a person approves again: a member that was started without a quorum is inspected.
    expect(world.cluster.status.survivors).toMatchObject([{ name: LEFT, clusterID: before, revision: 1 }]);
    expect(world.cluster.status.recovery).toMatchObject({ member: LEFT });
    expect(world.cluster.status.awaitedApproval).toMatchObject({ operation: 'recoverQuorum' });
    expect(world.names('EtcdRestore')).toHaveLength(1);
  });
});
