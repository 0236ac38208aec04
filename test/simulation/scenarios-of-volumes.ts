/** Scenarios about what members keep their data on: see scenarios.ts. */
import { ANNOTATION_INITIAL_CLUSTER, ANNOTATION_INITIAL_CLUSTER_STATE } from '../../src/api/names.ts';
import type { EtcdClusterStatus, StorageStatus } from '../../src/api/schemas/types.ts';
import type { WritableObject } from '../../src/kube/port.ts';
import { Breach } from './invariants.ts';
import { nodeOf } from './sim-nodes.ts';
import type { ScriptedWorld } from './scripted-world.ts';

/** Long enough for everything that a guard would have let through. */
const A_WHILE = 500;

/** A claim loses its labels, and what was stamped on it unless `stamped`; its member loses its pod. */
async function unlabelled(
  scripted: ScriptedWorld,
  { stamped }: { readonly stamped: boolean },
): Promise<void> {
  await scripted.create({ size: 3 });
  const { name } = scripted.follower();
  const { metadata, ...claim } = scripted.claim(name);
  const annotations = stamped ? (metadata.annotations ?? {}) : {};
  scripted.world.kube.change({ metadata, ...claim }, { metadata: { ...metadata, labels: {}, annotations } });
  scripted.takePod(name);
  if (stamped) await scripted.rest();
  else await scripted.pass(A_WHILE);
}

/** Again and again: a pass that is under way writes down what it still knows. */
async function statusIsWiped(scripted: ScriptedWorld): Promise<void> {
  for (let tick = 0; tick < 50; tick += 1) {
    scripted.loseStatus();
    await scripted.pass(1);
  }
}

const classed = (storageClassName: string, storage = '8Gi') => ({
  storage: { volumeClaimTemplate: { spec: { storageClassName, resources: { requests: { storage } } } } },
});

/** Somebody makes the class that the members are to move to. */
function makeClass({ world }: ScriptedWorld, name: string): void {
  const object = { apiVersion: 'storage.k8s.io/v1', kind: 'StorageClass', metadata: { name } };
  world.kube.create({ ...object, provisioner: 'example.com/disk' } as WritableObject);
  world.wake();
}

function recordedStorage({ world }: ScriptedWorld): Partial<StorageStatus> {
  const status = (world.resource?.['status'] ?? {}) as EtcdClusterStatus;
  return status.storage ?? {};
}

/** Throws a Breach unless every voter has a claim of this class and size. */
function haveVolumes(scripted: ScriptedWorld, storageClassName: string, storage = '8Gi'): void {
  for (const { name } of scripted.voters()) {
    const spec = scripted.claim(name)['spec'] as {
      storageClassName?: string;
      resources: { requests: { storage: string } };
    };
    if (spec.storageClassName !== storageClassName || spec.resources.requests.storage !== storage)
      throw new Breach(`${name} has a claim of ${spec.storageClassName}, ${spec.resources.requests.storage}`);
  }
}

export const volumeScenarios = {
  /** To one that does not exist: nobody is touched for it. */
  async storageClassChanges(scripted: ScriptedWorld) {
    await scripted.create({ size: 3, ...classed('standard') });
    const before = scripted.voters().map(({ id }) => id);
    scripted.world.edit(classed('fast'));
    await scripted.blockedBy('StorageClassMissing');
    await scripted.pass(A_WHILE);
    if (scripted.voters().some(({ id }) => !before.includes(id)) || scripted.learner() !== undefined)
      throw new Breach('a member was replaced for a class that does not exist');
    makeClass(scripted, 'fast');
    await scripted.until('every member moved', () =>
      scripted.voters().every(({ id }) => !before.includes(id)),
    );
    await scripted.rest();
    haveVolumes(scripted, 'fast');
  },

  /** Smaller, and with less than the members hold not at all. */
  async volumesAreToBeSmaller(scripted: ScriptedWorld) {
    await scripted.create({ size: 2, ...classed('standard') });
    scripted.world.edit(classed('standard', '4Gi'));
    await scripted.until('both have small volumes', () => recordedStorage(scripted).size === '4Gi');
    await scripted.rest();
    haveVolumes(scripted, 'standard', '4Gi');
    scripted.world.edit(classed('standard', '1Mi'));
    await scripted.blockedBy('VolumesTooSmall');
    scripted.world.edit(classed('standard', '4Gi'));
    await scripted.rest();
  },

  /** Something makes every new claim larger than was asked for: each member is replaced once, and not in a circle. */
  async smallerVolumesAreMadeLarger(scripted: ScriptedWorld) {
    await scripted.create({ size: 2, ...classed('standard') });
    const old = scripted.voters().map(({ name }) => name);
    const { kube } = scripted.world;
    const enlarge = () => {
      for (const claim of kube.all('PersistentVolumeClaim')) {
        const { resources, ...spec } = claim['spec'] as { readonly resources: object };
        if (JSON.stringify(resources).includes('4Gi'))
          kube.change(claim, { spec: { ...spec, resources: { requests: { storage: '5Gi' } } } });
      }
    };
    scripted.world.edit(classed('standard', '4Gi'));
    await scripted.until('both were replaced', () => {
      enlarge();
      return (
        recordedStorage(scripted).size === '4Gi' || scripted.voters().some(({ name }) => /[4-9]$/.test(name))
      );
    });
    enlarge();
    await scripted.rest();
    const names = scripted.voters().map(({ name }) => name);
    if (names.some(name => old.includes(name) || /[4-9]$/.test(name)))
      throw new Breach(`${names.join(', ')} are the members: they were to be replaced once each`);
    haveVolumes(scripted, 'standard', '5Gi');
  },

  /** The members that are left stay, and the one that moved moves back. */
  async storageClassIsTakenBack(scripted: ScriptedWorld) {
    makeClass(scripted, 'fast');
    await scripted.create({ size: 3, ...classed('standard') });
    const first = scripted.follower().name;
    const stay = scripted.voters().length;
    scripted.world.edit(classed('fast'));
    await scripted.until('one has moved', () => scripted.voters().every(({ name }) => name !== first));
    scripted.world.edit(classed('standard'));
    await scripted.rest();
    haveVolumes(scripted, 'standard');
    if (scripted.voters().length !== stay) throw new Breach('a member is missing');
  },

  async storageClassChangesWhileOneIsAway(scripted: ScriptedWorld) {
    makeClass(scripted, 'fast');
    await scripted.create({ size: 3, ...classed('standard') });
    const process = scripted.follower();
    scripted.world.etcd.set(process, { frozen: true });
    scripted.world.edit(classed('fast'));
    await scripted.pass(A_WHILE);
    scripted.world.etcd.set(process, { frozen: false });
    await scripted.until('all have moved', () => recordedStorage(scripted).storageClassName === 'fast');
    await scripted.rest();
    haveVolumes(scripted, 'fast');
  },

  /** Of the two that make the quorum one is not known while its claim says nothing of itself. */
  async stampsComeBackAfterTheStatusWasLost(scripted: ScriptedWorld) {
    await scripted.create({ size: 3 });
    const names = scripted.voters().map(({ name }) => name);
    for (const name of names) scripted.takePod(name);
    scripted.takeClaim('example-0');
    const stamps = scripted.takeStamps('example-1');
    await statusIsWiped(scripted);
    await scripted.pass(A_WHILE);
    scripted.putBack(stamps);
    await scripted.rest();
  },

  /** The name is all that a claim has left: it is asked about. */
  async onlyUnstampedClaimsAreLeft(scripted: ScriptedWorld) {
    await scripted.create({ size: 3 });
    for (const { name } of scripted.voters()) scripted.takePod(name);
    const stamps = ['example-0', 'example-1', 'example-2'].map(name => scripted.takeStamps(name));
    await statusIsWiped(scripted);
    await scripted.blockedBy('IdentityUnknown');
    for (const each of stamps) scripted.putBack(each);
    await scripted.rest();
  },

  /** Only the pods show which cluster it is; whether they hold the data is for the claims to say. */
  async everyClaimLosesItsStampsWithTheStatus(scripted: ScriptedWorld) {
    await scripted.create({ size: 3 });
    const stamps = scripted.voters().map(({ name }) => scripted.takeStamps(name));
    await statusIsWiped(scripted);
    await scripted.pass(100);
    scripted.takePod(scripted.follower().name);
    await scripted.pass(A_WHILE);
    for (const each of stamps) scripted.putBack(each);
    await scripted.rest();
  },

  claimWithoutLabels: (scripted: ScriptedWorld) => unlabelled(scripted, { stamped: true }),

  claimWithoutLabelsAndStamps: (scripted: ScriptedWorld) => unlabelled(scripted, { stamped: false }),

  async imageCannotBePulled(scripted: ScriptedWorld) {
    await scripted.create({ size: 3 });
    const { name } = scripted.follower();
    scripted.world.kubelet.stuck.add(name);
    scripted.takePod(name);
    await scripted.pass(A_WHILE);
  },

  async nodeIsGoneForAWhile(scripted: ScriptedWorld) {
    const { nodes } = scripted.world.kubelet;
    nodes.hasLocalVolumes = true;
    await scripted.create({ size: 3, repair: { replaceAfterSeconds: 86_400 } });
    const { name } = scripted.follower();
    const node = nodeOf(scripted.pod(name)) ?? '';
    scripted.takePod(name);
    nodes.leave(node, scripted.world.now);
    await scripted.pass(A_WHILE);
  },

  /** Kubernetes keeps the volume only for as long as the pod is there. */
  async claimIsDeletedUnderItsMember(scripted: ScriptedWorld) {
    await scripted.create({ size: 3 });
    const { name } = scripted.follower();
    scripted.world.kube.delete('PersistentVolumeClaim', name);
    await scripted.until('its member is replaced', () => scripted.voters().every(row => row.name !== name));
    await scripted.rest();
  },

  async sleepIsWantedWhileAClaimGoes(scripted: ScriptedWorld) {
    await scripted.create({ size: 3 });
    scripted.world.kube.delete('PersistentVolumeClaim', scripted.follower().name);
    scripted.world.edit({ hibernated: true });
    await scripted.pass(A_WHILE);
  },

  async learnerLosesItsVolume(scripted: ScriptedWorld) {
    await scripted.create({ size: 1 });
    scripted.world.kubelet.stuck.add('example-1');
    scripted.world.edit({ size: 2 });
    const hasPod = () => scripted.world.kube.peek('Pod', 'example-1') !== undefined;
    await scripted.until('the learner has a pod', hasPod);
    scripted.world.kube.change(scripted.claim('example-1'), { status: { phase: 'Lost' } });
    scripted.takePod('example-1');
    await scripted.until('the learner is taken back', () => {
      if (hasPod()) throw new Breach('a learner is started again, and its volume is lost');
      return scripted.learner() === undefined;
    });
    await scripted.rest();
  },

  /** A user edits a pod to bootstrap; later its volume is emptied while nothing knows its member. */
  async podIsToldToBootstrap(scripted: ScriptedWorld) {
    await scripted.create({ size: 3 });
    const { etcd, kube } = scripted.world;
    const [{ name, host, disk }, other] = [scripted.follower(0), scripted.follower(1)];
    const initial = scripted.voters().map(row => `${row.name}=${row.peerUrl}`);
    const pod = scripted.pod(name);
    const reported = {
      [ANNOTATION_INITIAL_CLUSTER]: initial.join(','),
      [ANNOTATION_INITIAL_CLUSTER_STATE]: 'new',
    };
    const annotations = { ...pod.metadata.annotations, ...reported };
    kube.change(pod, { metadata: { ...pod.metadata, annotations } });
    await scripted.pass(200);
    for (const process of [scripted.leader(), other]) etcd.set(process, { frozen: true });
    etcd.stop(host);
    etcd.destroy(disk.name);
    await scripted.pass(100);
    for (const process of etcd.processes.values()) etcd.set(process, { frozen: false });
    await scripted.until('its member is replaced', () => scripted.voters().every(row => row.name !== name));
    await scripted.rest();
  },

  async nothingIsLeftOfIt(scripted: ScriptedWorld) {
    await scripted.create({ size: 3 });
    const { kube, resource } = scripted.world;
    for (const { name } of scripted.voters()) {
      scripted.takePod(name);
      scripted.takeClaim(name);
    }
    if (resource !== undefined) kube.change(resource, { status: {} });
    await scripted.pass(A_WHILE);
  },
};
