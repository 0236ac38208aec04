/** Scenarios about how a cluster begins: see scenarios.ts. */
import type { WritableObject } from '../../src/kube/port.ts';
import { noteVersions } from './faults-of-versions.ts';
import { ANNOTATION_DATA_VERSION, API_VERSION } from '../../src/api/names.ts';
import { reached } from './scenarios-of-upgrades.ts';
import { Breach } from './invariants.ts';
import { NAMESPACE } from './sim-kube.ts';
import type { ScriptedWorld } from './scripted-world.ts';

const A_WHILE = 500;

/** One reason after the other keeps it from being created; when none is left it is. */
async function refused(scripted: ScriptedWorld): Promise<void> {
  const { world } = scripted;
  world.edit({ hibernated: true, storage: { retain: 'Delete' }, size: 3 });
  world.begin();
  await scripted.blockedBy('Hibernated');
  world.edit({ hibernated: false });
  scripted.takeName('Service', 'example-client');
  await scripted.blockedBy('NameTaken');
  world.kube.delete('Service', 'example-client');
  world.edit({ pod: { labels: { app: 'other' } } });
  await scripted.blockedBy('SpecInvalid');
  world.kube.merge('EtcdCluster', 'example', { spec: { pod: { labels: null, busyboxImage: 'busybox' } } });
  world.edit({ version: '1.2.3' });
  await scripted.blockedBy('SpecInvalid');
  world.edit({ version: '3.6.16' });
  const stray = { apiVersion: 'v1', kind: 'PersistentVolumeClaim', spec: {} };
  world.kube.create({
    ...stray,
    metadata: { name: 'example-999999999', namespace: NAMESPACE },
  } as WritableObject);
  await scripted.blockedBy('SerialsExhausted');
  world.kube.remove({
    ...stray,
    metadata: world.kube.peek(stray.kind, 'example-999999999')?.metadata ?? { name: '' },
  });
  world.wake();
}

export const creationScenarios = {
  async creationIsRefused(scripted: ScriptedWorld) {
    for (const found of scripted.world.kube.all('StorageClass')) scripted.world.kube.remove(found);
    await refused(scripted);
    await scripted.until('there are pods', () => scripted.world.kube.all('Pod').length === 3);
    scripted.takeName('Service', 'example');
    await scripted.blockedBy('NameTaken');
    scripted.world.kube.delete('Service', 'example');
    scripted.world.wake();
    await scripted.rest();
  },

  /** What another operator made of the resource is left alone, and no empty cluster takes its place when its pods are gone. */
  async clusterOfAnotherOperator(scripted: ScriptedWorld) {
    const { world } = scripted;
    world.edit({ size: 1, hibernated: true });
    world.begin();
    await scripted.blockedBy('Hibernated');
    const { uid = '', name = '' } = world.resource?.metadata ?? {};
    const ownerReferences = [{ apiVersion: API_VERSION, kind: 'EtcdCluster', name, uid, controller: true }];
    const labels = { app: 'etcd', etcd_cluster: name };
    const theirs = (kind: string, named: string): WritableObject =>
      ({
        apiVersion: 'v1',
        kind,
        metadata: { name: named, namespace: NAMESPACE, labels, ownerReferences },
        spec: { containers: [{ args: [], image: 'etcd:v3.5.3' }], volumes: [] },
        status: { phase: 'Failed' },
      }) as WritableObject;
    world.kube.create(theirs('Pod', 'example-9hzfk4lcxt'));
    world.kube.create(theirs('Service', 'example-client'));
    world.edit({ hibernated: false });
    await scripted.blockedBy('OtherOperator');
    await scripted.pass(A_WHILE);
    world.kube.delete('Pod', 'example-9hzfk4lcxt');
    world.wake();
    await scripted.pass(A_WHILE);
    await scripted.blockedBy('OtherOperator');
    world.kube.delete('Service', 'example-client');
    world.wake();
    await scripted.rest();
  },

  async creationCannotStart(scripted: ScriptedWorld) {
    scripted.world.kubelet.stuck.add('example-0');
    scripted.world.edit({ size: 1 });
    scripted.world.begin();
    await scripted.blockedBy('MembersNotStarting');
    scripted.world.kubelet.stuck.clear();
    await scripted.rest();
  },

  /** Nothing of it has started: its pods are made again, and with another StorageClass its volumes, too. */
  async creationIsCorrected(scripted: ScriptedWorld) {
    const { world } = scripted;
    const uids = (kind: string) => world.kube.all(kind).map(({ metadata }) => metadata.uid);
    for (const name of ['example-0', 'example-1', 'example-2']) world.kubelet.stuck.add(name);
    world.edit({ size: 3, version: '3.6.16', repository: 'registry.invalid/etcd' });
    world.begin();
    await scripted.blockedBy('MembersNotStarting');
    const [pods, claims] = [uids('Pod'), uids('PersistentVolumeClaim')];
    world.edit({ repository: 'registry.example/etcd' });
    await scripted.until('there are other pods', () => {
      const now = uids('Pod');
      return now.length === 3 && !now.some(uid => pods.includes(uid));
    });
    if (uids('PersistentVolumeClaim').join() !== claims.join()) throw new Breach('claims were made again');
    world.edit({ storage: { volumeClaimTemplate: { spec: { storageClassName: 'other' } } } });
    await scripted.until('there are other claims', () => {
      const now = uids('PersistentVolumeClaim');
      return now.length === 3 && !now.some(uid => claims.includes(uid));
    });
    world.kubelet.stuck.clear();
    await scripted.rest();
  },

  /** A member runs that may have agreed on something: it begins in the minor that its volume was made for, and does not go back. */
  async creationInAnotherMinor(scripted: ScriptedWorld) {
    const { world } = scripted;
    world.kubelet.stuck.add('example-0');
    world.kubelet.stuck.add('example-1');
    world.edit({ size: 3, version: '3.6.16' });
    world.begin();
    await scripted.blockedBy('MembersNotStarting');
    await scripted.until('one runs', () => scripted.process('example-2') !== undefined);
    world.edit({ version: '3.5.35' });
    await scripted.pass(A_WHILE);
    await scripted.blockedBy('MembersNotStarting');
    world.kubelet.stuck.clear();
    // It forms with 3.6, and is downgraded then.
    await scripted.until('it has formed', () => scripted.world.etcd.processes.size === 3);
    await reached(scripted, '3.5.35');
    const annotations = { [ANNOTATION_DATA_VERSION]: null };
    world.kube.merge('PersistentVolumeClaim', 'example-0', { metadata: { annotations } });
    world.wake();
    await scripted.until('the version that runs on the volume is noted on the claim', () => {
      const claim = world.kube.peek('PersistentVolumeClaim', 'example-0');
      return claim?.metadata.annotations?.[ANNOTATION_DATA_VERSION] === '3.5.35';
    });
  },

  /** The operator was killed while it created pods; the others formed without the last one. */
  async creationIsCutShort(scripted: ScriptedWorld) {
    const { world } = scripted;
    world.edit({ size: 3 });
    world.begin();
    await scripted.until('there are two pods', () => world.kube.all('Pod').length === 2);
    world.operator.end();
    for (const attempt of world.calls.attempts) world.calls.kill(attempt);
    await scripted.until('they lead', () =>
      [...world.etcd.processes.values()].some(({ isLeader }) => isLeader),
    );
    await scripted.pass(200);
    world.operator.begin();
    await scripted.ask('restart', 'example-0');
    await scripted.rest();
  },

  /** Nobody knows whether it ever held data: a person decides. */
  async creationIsForgotten(scripted: ScriptedWorld) {
    const { world } = scripted;
    world.edit({ size: 1 });
    world.begin();
    await scripted.until('there is a pod', () => world.kube.all('Pod').length === 1);
    for (const attempt of world.calls.attempts) world.calls.kill(attempt);
    scripted.takePod('example-0');
    for (let tick = 0; tick < 50 && world.resource !== undefined; tick += 1) {
      scripted.loseStatus();
      await scripted.pass(1);
    }
    await scripted.blockedBy('IdentityUnknown');
    for (const claim of world.kube.all('PersistentVolumeClaim')) scripted.takeClaim(claim.metadata.name);
    world.wake();
    await scripted.rest();
  },

  /** Before the cluster id was written down; a quorum says it. When the status is lost again there is none. */
  async statusIsLostBeforeAndAfterTheQuorum(scripted: ScriptedWorld) {
    const { world } = scripted;
    world.edit({ size: 3 });
    world.begin();
    await scripted.until('there are pods', () => world.kube.all('Pod').length === 3);
    const isFormed = () =>
      world.etcd.processes.size === 3 && scripted.voters().every(({ started }) => started);
    while (!isFormed()) {
      scripted.loseStatus();
      await scripted.pass(1);
    }
    await scripted.rest();
    scripted.loseStatus();
    for (const { name } of scripted.voters()) {
      scripted.takePod(name);
      scripted.takeNotes(name);
    }
    // The cluster is known, and what ran on the claims a person has to say.
    await scripted.blockedBy('VersionUnknown');
    noteVersions(world);
    world.wake();
    await scripted.rest();
  },
};
