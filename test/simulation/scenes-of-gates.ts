/** Scenes about what keeps the next member from being touched, and where members keep their data: see scenes.ts. */
import { CLIENTS_WITHDRAWN, LABEL_CLIENTS } from '../../src/api/names.ts';
import { statusOf } from './sim-kubelet.ts';
import type { Stage } from './stage.ts';

const A_WHILE = 400;
const OTHER_SETTINGS = { etcd: { snapshotCount: 7_000 } };

export const gateScenes = {
  async readsAreNotAnswered(stage: Stage) {
    await stage.create({ size: 3 });
    stage.world.edit(OTHER_SETTINGS);
    await stage.withoutReads(A_WHILE);
    await stage.rest();
  },

  /** Nobody tells since when the pods are ready. */
  async readinessHasNoTime(stage: Stage) {
    await stage.create({ size: 3 });
    for (const pod of stage.world.kube.all('Pod')) {
      const conditions = [{ type: 'Ready', status: 'True' }];
      stage.world.kube.change(pod, { status: { ...statusOf(pod), conditions } });
    }
    stage.world.edit(OTHER_SETTINGS);
    await stage.rest();
  },

  /** A claim bears a member's name and says nothing else; the status is lost, and no quorum tells who is a member. */
  async claimOfNobodyKnowsWhom(stage: Stage) {
    await stage.create({ size: 3 });
    const { etcd } = stage.world;
    const claim = stage.takeStamps('example-1');
    stage.takePod('example-1');
    for (const process of etcd.processes.values()) etcd.set(process, { frozen: true });
    stage.loseStatus();
    stage.skip(70);
    await stage.pass(A_WHILE);
    stage.putBack(claim);
    for (const process of etcd.processes.values()) etcd.set(process, { frozen: false });
    await stage.rest();
  },

  /** Somebody has taken all that its claim said: nothing proves that it could start again on it. */
  async claimSaysNothingInARollout(stage: Stage) {
    await stage.create({ size: 3 });
    const claim = stage.takeStamps('example-1');
    stage.world.edit(OTHER_SETTINGS);
    await stage.blockedBy('ClaimMissing');
    stage.putBack(claim);
    await stage.rest();
  },

  /** It does not answer, and nobody has asked for its restart. */
  async memberIsSilentInARollout(stage: Stage) {
    await stage.create({ size: 3 });
    const silent = stage.follower();
    stage.world.etcd.set(silent, { frozen: true });
    stage.world.edit(OTHER_SETTINGS);
    await stage.pass(2 * A_WHILE);
    stage.world.etcd.set(silent, { frozen: false });
    await stage.rest();
  },

  async clientsAreShutOutWhilePaused(stage: Stage) {
    await stage.create({ size: 3 });
    stage.world.edit({ paused: true });
    const pod = stage.pod('example-1');
    const labels = { ...pod.metadata.labels, [LABEL_CLIENTS]: CLIENTS_WITHDRAWN };
    stage.world.kube.change(pod, { metadata: { ...pod.metadata, labels } });
    await stage.pass(A_WHILE);
    stage.world.edit({ paused: false });
    await stage.rest();
  },

  async quorumIsAwayWhenAReplacementIsAskedFor(stage: Stage) {
    await stage.create({ size: 3 });
    const { name } = stage.follower();
    stage.world.edit({ paused: true });
    await stage.ask('replaceMember', name);
    await stage.until('it is accepted', () =>
      stage.world.operator.requests.some(({ ids }) => ids !== undefined),
    );
    for (const process of stage.followers()) stage.world.etcd.set(process, { frozen: true });
    stage.skip(70);
    await stage.pass(A_WHILE);
    for (const process of stage.world.etcd.processes.values())
      stage.world.etcd.set(process, { frozen: false });
    stage.world.edit({ paused: false });
    await stage.answered();
    await stage.rest();
  },

  async claimsAreToStay(stage: Stage) {
    await stage.create({ size: 3, storage: { retain: 'Retain' } });
    stage.world.edit({ size: 2 });
    await stage.rest();
  },

  async defaultDecidesAboutVolumes(stage: Stage) {
    stage.world.kube.merge('EtcdCluster', 'example', { spec: { storage: { volumeClaimTemplate: null } } });
    await stage.create({ size: 3 });
  },

  /** Nothing says where the data is to be, and there is no default. */
  async nothingOffersVolumes(stage: Stage) {
    const { kube } = stage.world;
    for (const found of kube.all('StorageClass')) kube.remove(found);
    kube.merge('EtcdCluster', 'example', { spec: { storage: { volumeClaimTemplate: null } } });
    await stage.create({ size: 3 });
    await stage.pass(A_WHILE);
  },
};
