/** Scenarios about what keeps the next member from being touched, and where members keep their data: see scenarios.ts. */
import { CLIENTS_WITHDRAWN, LABEL_CLIENTS } from '../../src/api/names.ts';
import { statusOf } from './sim-kubelet.ts';
import type { ScriptedWorld } from './scripted-world.ts';

const A_WHILE = 400;
const OTHER_SETTINGS = { etcd: { snapshotCount: 7_000 } };

export const gateScenarios = {
  async readsAreNotAnswered(scripted: ScriptedWorld) {
    await scripted.create({ size: 3 });
    scripted.world.edit(OTHER_SETTINGS);
    await scripted.withoutReads(A_WHILE);
    await scripted.rest();
  },

  /** Nobody says since when the pods are ready. */
  async readinessHasNoTime(scripted: ScriptedWorld) {
    await scripted.create({ size: 3 });
    for (const pod of scripted.world.kube.all('Pod')) {
      const conditions = [{ type: 'Ready', status: 'True' }];
      scripted.world.kube.change(pod, { status: { ...statusOf(pod), conditions } });
    }
    scripted.world.edit(OTHER_SETTINGS);
    await scripted.rest();
  },

  /** A claim bears a member's name and says nothing else; the status is lost, and no quorum says who is a member. */
  async claimOfNobodyKnowsWhom(scripted: ScriptedWorld) {
    await scripted.create({ size: 3 });
    const { etcd } = scripted.world;
    const claim = scripted.takeStamps('example-1');
    scripted.takePod('example-1');
    for (const process of etcd.processes.values()) etcd.set(process, { frozen: true });
    scripted.loseStatus();
    scripted.skip(70);
    await scripted.pass(A_WHILE);
    scripted.putBack(claim);
    for (const process of etcd.processes.values()) etcd.set(process, { frozen: false });
    await scripted.rest();
  },

  /** Somebody has taken all that its claim said: nothing proves that it could start again on it. */
  async claimSaysNothingInARollout(scripted: ScriptedWorld) {
    await scripted.create({ size: 3 });
    const claim = scripted.takeStamps('example-1');
    scripted.world.edit(OTHER_SETTINGS);
    await scripted.blockedBy('ClaimMissing');
    scripted.putBack(claim);
    await scripted.rest();
  },

  /** It does not answer, and nobody has asked for its restart. */
  async memberIsSilentInARollout(scripted: ScriptedWorld) {
    await scripted.create({ size: 3 });
    const silent = scripted.follower();
    scripted.world.etcd.set(silent, { frozen: true });
    scripted.world.edit(OTHER_SETTINGS);
    await scripted.pass(2 * A_WHILE);
    scripted.world.etcd.set(silent, { frozen: false });
    await scripted.rest();
  },

  async clientsAreShutOutWhilePaused(scripted: ScriptedWorld) {
    await scripted.create({ size: 3 });
    scripted.world.edit({ paused: true });
    const pod = scripted.pod('example-1');
    const labels = { ...pod.metadata.labels, [LABEL_CLIENTS]: CLIENTS_WITHDRAWN };
    scripted.world.kube.change(pod, { metadata: { ...pod.metadata, labels } });
    await scripted.pass(A_WHILE);
    scripted.world.edit({ paused: false });
    await scripted.rest();
  },

  async quorumIsAwayWhenAReplacementIsAskedFor(scripted: ScriptedWorld) {
    await scripted.create({ size: 3 });
    const { name } = scripted.follower();
    scripted.world.edit({ paused: true });
    await scripted.ask('replaceMember', name);
    await scripted.until('it is accepted', () =>
      scripted.world.operator.requests.some(({ ids }) => ids !== undefined),
    );
    for (const process of scripted.followers()) scripted.world.etcd.set(process, { frozen: true });
    scripted.skip(70);
    await scripted.pass(A_WHILE);
    for (const process of scripted.world.etcd.processes.values())
      scripted.world.etcd.set(process, { frozen: false });
    scripted.world.edit({ paused: false });
    await scripted.answered();
    await scripted.rest();
  },

  async claimsAreToStay(scripted: ScriptedWorld) {
    await scripted.create({ size: 3, storage: { retain: 'Retain' } });
    scripted.world.edit({ size: 2 });
    await scripted.rest();
  },

  async defaultDecidesAboutVolumes(scripted: ScriptedWorld) {
    scripted.world.kube.merge('EtcdCluster', 'example', { spec: { storage: { volumeClaimTemplate: null } } });
    await scripted.create({ size: 3 });
  },

  /** Nothing says where the data is to be, and there is no default. */
  async nothingOffersVolumes(scripted: ScriptedWorld) {
    const { kube } = scripted.world;
    for (const found of kube.all('StorageClass')) kube.remove(found);
    kube.merge('EtcdCluster', 'example', { spec: { storage: { volumeClaimTemplate: null } } });
    await scripted.create({ size: 3 });
    await scripted.pass(A_WHILE);
  },
};
