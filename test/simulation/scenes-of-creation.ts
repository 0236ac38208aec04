/** Scenes about how a cluster begins: see scenes.ts. */
import type { WritableObject } from '../../src/kube/port.ts';
import { noteVersions } from './faults-of-versions.ts';
import { NAMESPACE } from './sim-kube.ts';
import type { Stage } from './stage.ts';

/** One reason after the other keeps it from being created; when none is left it is. */
async function refused(stage: Stage): Promise<void> {
  const { world } = stage;
  world.edit({ hibernated: true, storage: { retain: 'Delete' }, size: 3 });
  world.begin();
  await stage.blockedBy('Hibernated');
  world.edit({ hibernated: false });
  stage.takeName('Service', 'example-client');
  await stage.blockedBy('NameTaken');
  world.kube.delete('Service', 'example-client');
  world.edit({ pod: { labels: { app: 'other' } } });
  await stage.blockedBy('SpecInvalid');
  world.kube.merge('EtcdCluster', 'example', { spec: { pod: { labels: null, busyboxImage: 'busybox' } } });
  world.edit({ version: '1.2.3' });
  await stage.blockedBy('SpecInvalid');
  world.edit({ version: '3.6.16' });
  const stray = { apiVersion: 'v1', kind: 'PersistentVolumeClaim', spec: {} };
  world.kube.create({
    ...stray,
    metadata: { name: 'example-999999999', namespace: NAMESPACE },
  } as WritableObject);
  await stage.blockedBy('SerialsExhausted');
  world.kube.remove({
    ...stray,
    metadata: world.kube.peek(stray.kind, 'example-999999999')?.metadata ?? { name: '' },
  });
  world.wake();
}

export const creationScenes = {
  async creationIsRefused(stage: Stage) {
    for (const found of stage.world.kube.all('StorageClass')) stage.world.kube.remove(found);
    await refused(stage);
    await stage.until('there are pods', () => stage.world.kube.all('Pod').length === 3);
    stage.takeName('Service', 'example');
    await stage.blockedBy('NameTaken');
    stage.world.kube.delete('Service', 'example');
    stage.world.wake();
    await stage.rest();
  },

  async creationCannotStart(stage: Stage) {
    stage.world.kubelet.stuck.add('example-0');
    stage.world.edit({ size: 1 });
    stage.world.begin();
    await stage.blockedBy('MembersNotStarting');
    stage.world.kubelet.stuck.clear();
    await stage.rest();
  },

  /** Whoever made the pods was killed; the others formed without the last one. */
  async creationIsCutShort(stage: Stage) {
    const { world } = stage;
    world.edit({ size: 3 });
    world.begin();
    await stage.until('there are two pods', () => world.kube.all('Pod').length === 2);
    world.operator.end();
    for (const attempt of world.calls.attempts) world.calls.kill(attempt);
    await stage.until('they lead', () => [...world.etcd.processes.values()].some(({ isLeader }) => isLeader));
    await stage.pass(200);
    world.operator.begin();
    await stage.ask('restart', 'example-0');
    await stage.rest();
  },

  /** Nobody knows whether it ever held data: a person decides. */
  async creationIsForgotten(stage: Stage) {
    const { world } = stage;
    world.edit({ size: 1 });
    world.begin();
    await stage.until('there is a pod', () => world.kube.all('Pod').length === 1);
    for (const attempt of world.calls.attempts) world.calls.kill(attempt);
    stage.takePod('example-0');
    for (let tick = 0; tick < 50 && world.resource !== undefined; tick += 1) {
      stage.loseStatus();
      await stage.pass(1);
    }
    await stage.blockedBy('IdentityUnknown');
    for (const claim of world.kube.all('PersistentVolumeClaim')) stage.takeClaim(claim.metadata.name);
    world.wake();
    await stage.rest();
  },

  /** Before the cluster id was written down; a quorum tells it. When the status is lost again there is none. */
  async statusIsLostBeforeAndAfterTheQuorum(stage: Stage) {
    const { world } = stage;
    world.edit({ size: 3 });
    world.begin();
    await stage.until('there are pods', () => world.kube.all('Pod').length === 3);
    const isFormed = () => world.etcd.processes.size === 3 && stage.voters().every(({ started }) => started);
    while (!isFormed()) {
      stage.loseStatus();
      await stage.pass(1);
    }
    await stage.rest();
    stage.loseStatus();
    for (const { name } of stage.voters()) {
      stage.takePod(name);
      stage.takeNotes(name);
    }
    // The cluster is known, and what ran on the claims a person has to say.
    await stage.blockedBy('VersionUnknown');
    noteVersions(world);
    world.wake();
    await stage.rest();
  },
};
