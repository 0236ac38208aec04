/** Somebody enables authentication in etcd: the operator is not one of its users any more, and says so instead of looking for a network. */
import { beforeEach, describe, expect, it } from 'vitest';
import { condition, created } from '../worlds/living-cluster.ts';
import type { OperatorWorld } from '../worlds/operator-world.ts';

let world: OperatorWorld;
beforeEach(async () => {
  world = await created();
});

function enableAuthentication(isOn: boolean): void {
  for (const cluster of world.etcd.clusters) cluster.asksForUsers = isOn;
}

describe('a cluster without TLS whose authentication was enabled', () => {
  it.each(['Available', 'QuorumAtRisk', 'Healthy'])('%s names the cause and the way back', async type => {
    enableAuthentication(true);
    await world.look();
    const found = condition(world, type);
    expect(found).toMatchObject({ status: 'Unknown', reason: 'AccessDenied' });
    expect(found?.message).toMatch(/etcdserver: user name is empty.*etcdctl auth disable.*TLS\.auto/);
  });

  it('no one is advised to take away a Node, no pod is touched, and everything is well when it is disabled', async () => {
    const pods = world.names('Pod');
    enableAuthentication(true);
    await world.look();
    expect(condition(world, 'Recovering')).toBeUndefined();
    await world.run();
    expect(world.names('Pod')).toEqual(pods);
    enableAuthentication(false);
    await world.run();
    expect(condition(world, 'Available')).toMatchObject({ status: 'True' });
    expect(condition(world, 'QuorumAtRisk')).toBeUndefined();
  });

  it('says that the quorum is lost when fewer pods run than it needs', async () => {
    enableAuthentication(true);
    for (const name of ['example-1', 'example-2']) {
      world.kubelet.stuck.set(name, 'ImagePullBackOff');
      await world.kube.as('kubectl').delete(world.pod(name));
    }
    world.kubelet.settle();
    await world.run();
    expect(condition(world, 'QuorumAtRisk')).toMatchObject({ status: 'True', reason: 'QuorumLost' });
    expect(condition(world, 'Available')).toMatchObject({ status: 'False', reason: 'NoQuorum' });
  });
});
