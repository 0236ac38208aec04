/** Scenes about what members keep their data on: see scenes.ts. */
import { ANNOTATION_INITIAL_CLUSTER, ANNOTATION_INITIAL_CLUSTER_STATE } from '../../src/api/names.ts';
import { Breach } from './invariants.ts';
import { nodeOf } from './sim-nodes.ts';
import type { Stage } from './stage.ts';

/** Long enough for everything that a guard would have let through. */
const A_WHILE = 500;

/** A claim loses its labels, and what was stamped on it unless `stamped`; its member loses its pod. */
async function unlabelled(stage: Stage, { stamped }: { readonly stamped: boolean }): Promise<void> {
  await stage.create({ size: 3 });
  const { name } = stage.follower();
  const { metadata, ...claim } = stage.claim(name);
  const annotations = stamped ? (metadata.annotations ?? {}) : {};
  stage.world.kube.change({ metadata, ...claim }, { metadata: { ...metadata, labels: {}, annotations } });
  stage.takePod(name);
  if (stamped) await stage.rest();
  else await stage.pass(A_WHILE);
}

/** Again and again: a pass that is under way writes down what it still knows. */
async function statusIsWiped(stage: Stage): Promise<void> {
  for (let tick = 0; tick < 50; tick += 1) {
    stage.loseStatus();
    await stage.pass(1);
  }
}

export const volumeScenes = {
  /** Of the two that make the quorum one is not known while its claim says nothing of itself. */
  async stampsComeBackAfterTheStatusWasLost(stage: Stage) {
    await stage.create({ size: 3 });
    const names = stage.voters().map(({ name }) => name);
    for (const name of names) stage.takePod(name);
    stage.takeClaim('example-0');
    const stamps = stage.takeStamps('example-1');
    await statusIsWiped(stage);
    await stage.pass(A_WHILE);
    stage.putBack(stamps);
    await stage.rest();
  },

  /** The name is all that a claim has left: it is asked about. */
  async onlyUnstampedClaimsAreLeft(stage: Stage) {
    await stage.create({ size: 3 });
    for (const { name } of stage.voters()) stage.takePod(name);
    const stamps = ['example-0', 'example-1', 'example-2'].map(name => stage.takeStamps(name));
    await statusIsWiped(stage);
    await stage.blockedBy('IdentityUnknown');
    for (const each of stamps) stage.putBack(each);
    await stage.rest();
  },

  /** Only the pods tell which cluster it is; whether they hold the data is for the claims to say. */
  async everyClaimLosesItsStampsWithTheStatus(stage: Stage) {
    await stage.create({ size: 3 });
    const stamps = stage.voters().map(({ name }) => stage.takeStamps(name));
    await statusIsWiped(stage);
    await stage.pass(100);
    stage.takePod(stage.follower().name);
    await stage.pass(A_WHILE);
    for (const each of stamps) stage.putBack(each);
    await stage.rest();
  },

  claimWithoutLabels: (stage: Stage) => unlabelled(stage, { stamped: true }),

  claimWithoutLabelsAndStamps: (stage: Stage) => unlabelled(stage, { stamped: false }),

  async imageCannotBePulled(stage: Stage) {
    await stage.create({ size: 3 });
    const { name } = stage.follower();
    stage.world.kubelet.stuck.add(name);
    stage.takePod(name);
    await stage.pass(A_WHILE);
  },

  async nodeIsGoneForAWhile(stage: Stage) {
    const { nodes } = stage.world.kubelet;
    nodes.hasLocalVolumes = true;
    await stage.create({ size: 3, repair: { replaceAfterSeconds: 86_400 } });
    const { name } = stage.follower();
    const node = nodeOf(stage.pod(name)) ?? '';
    stage.takePod(name);
    nodes.leave(node, stage.world.now);
    await stage.pass(A_WHILE);
  },

  /** Kubernetes keeps the volume only for as long as the pod is there. */
  async claimIsDeletedUnderItsMember(stage: Stage) {
    await stage.create({ size: 3 });
    const { name } = stage.follower();
    stage.world.kube.delete('PersistentVolumeClaim', name);
    await stage.until('its member is replaced', () => stage.voters().every(row => row.name !== name));
    await stage.rest();
  },

  async sleepIsWantedWhileAClaimGoes(stage: Stage) {
    await stage.create({ size: 3 });
    stage.world.kube.delete('PersistentVolumeClaim', stage.follower().name);
    stage.world.edit({ hibernated: true });
    await stage.pass(A_WHILE);
  },

  async learnerLosesItsVolume(stage: Stage) {
    await stage.create({ size: 1 });
    stage.world.kubelet.stuck.add('example-1');
    stage.world.edit({ size: 2 });
    const hasPod = () => stage.world.kube.peek('Pod', 'example-1') !== undefined;
    await stage.until('the learner has a pod', hasPod);
    stage.world.kube.change(stage.claim('example-1'), { status: { phase: 'Lost' } });
    stage.takePod('example-1');
    await stage.until('the learner is taken back', () => {
      if (hasPod()) throw new Breach('a learner is started again, and its volume is lost');
      return stage.learner() === undefined;
    });
    await stage.rest();
  },

  /** Somebody tells a pod to bootstrap; later its volume is emptied while nobody is there who knows its member. */
  async podIsToldToBootstrap(stage: Stage) {
    await stage.create({ size: 3 });
    const { etcd, kube } = stage.world;
    const [{ name, host, disk }, other] = [stage.follower(0), stage.follower(1)];
    const initial = stage.voters().map(row => `${row.name}=${row.peerUrl}`);
    const pod = stage.pod(name);
    const told = {
      [ANNOTATION_INITIAL_CLUSTER]: initial.join(','),
      [ANNOTATION_INITIAL_CLUSTER_STATE]: 'new',
    };
    const annotations = { ...pod.metadata.annotations, ...told };
    kube.change(pod, { metadata: { ...pod.metadata, annotations } });
    await stage.pass(200);
    for (const process of [stage.leader(), other]) etcd.set(process, { frozen: true });
    etcd.stop(host);
    etcd.destroy(disk.name);
    await stage.pass(100);
    for (const process of etcd.processes.values()) etcd.set(process, { frozen: false });
    await stage.until('its member is replaced', () => stage.voters().every(row => row.name !== name));
    await stage.rest();
  },

  async nothingIsLeftOfIt(stage: Stage) {
    await stage.create({ size: 3 });
    const { kube, resource } = stage.world;
    for (const { name } of stage.voters()) {
      stage.takePod(name);
      stage.takeClaim(name);
    }
    if (resource !== undefined) kube.change(resource, { status: {} });
    await stage.pass(A_WHILE);
  },
};
