/** Scenes about what looks like a member's death and is none: see scenes.ts. */
import { nodeOf } from './sim-nodes.ts';
import type { Stage } from './stage.ts';

/** Long enough for everything that a guard would have let through. */
const A_WHILE = 500;

/** Everything that Kubernetes finds a pod by is taken off it. */
async function unlabelled(stage: Stage): Promise<void> {
  const pod = stage.pod(stage.follower().name);
  stage.world.kube.change(pod, { metadata: { ...pod.metadata, labels: {} } });
  await stage.pass(A_WHILE);
  await stage.until('its labels are back', () => {
    const { labels } = stage.pod(pod.metadata.name).metadata;
    return ['app', 'etcd_cluster', 'etcd_node'].every(key => labels?.[key] === pod.metadata.labels?.[key]);
  });
  await stage.rest();
}

/** Two of three claims are replaced by what they held yesterday; the third member, which knows better, is away. */
async function exchanged(stage: Stage): Promise<void> {
  await stage.create({ size: 3 });
  const followers = stage.followers().map(({ name }) => ({ name, snapshot: stage.snapshot(name) }));
  const leader = stage.leader();
  await stage.pass(A_WHILE);
  stage.world.etcd.set(leader, { frozen: true });
  for (const { name, snapshot } of followers) stage.exchange(name, snapshot);
}

export const deathScenes = {
  async claimsAreExchangedForOlderOnes(stage: Stage) {
    await exchanged(stage);
    await stage.blockedBy('ClaimExchanged');
    await stage.pass(A_WHILE);
  },

  /** As before, and nobody remembers which claims there were: only what is noted on the copies tells. */
  async claimsAreExchangedAndTheStatusIsLost(stage: Stage) {
    await exchanged(stage);
    stage.loseStatus();
    await stage.blockedBy('ClaimExchanged');
    await stage.pass(A_WHILE);
  },

  /** The others know better, and the one that would come back knowing less is replaced. */
  async oneClaimIsExchanged(stage: Stage) {
    await stage.create({ size: 3, repair: { replaceAfterSeconds: 0 } });
    const { name } = stage.follower();
    const snapshot = stage.snapshot(name);
    await stage.pass(100);
    stage.exchange(name, snapshot);
    await stage.until('its member is replaced', () => stage.voters().every(row => row.name !== name));
    await stage.rest();
  },

  async podWithoutLabels(stage: Stage) {
    await stage.create({ size: 3 });
    await unlabelled(stage);
  },

  async podWithoutLabelsThatHoldsTheData(stage: Stage) {
    stage.remake({ isEphemeral: true });
    await stage.createInPods({ size: 3 });
    await unlabelled(stage);
  },

  /** It is there and runs, and says of itself that it is nobody's. */
  async podWithoutOwnerThatHoldsTheData(stage: Stage) {
    stage.remake({ isEphemeral: true });
    await stage.createInPods({ size: 3 });
    const pod = stage.pod(stage.follower().name);
    const { ownerReferences, ...metadata } = pod.metadata;
    stage.world.kube.change(pod, { metadata });
    await stage.blockedBy('NameTaken');
    await stage.pass(A_WHILE);
    const found = stage.pod(pod.metadata.name);
    stage.world.kube.change(found, {
      metadata: { ...found.metadata, ...(ownerReferences && { ownerReferences }) },
    });
    await stage.rest();
  },

  /** The volume is there, and its Node is; only the label by which the one names the other is another one. */
  async nodeIsRelabelled(stage: Stage) {
    const { nodes } = stage.world.kubelet;
    nodes.hasLocalVolumes = true;
    await stage.create({ size: 3, repair: { replaceAfterSeconds: 0 } });
    const { name } = stage.follower();
    const node = nodeOf(stage.pod(name)) ?? '';
    nodes.relabel(node, 'renamed');
    stage.takePod(name);
    await stage.pass(A_WHILE);
    nodes.relabel(node);
    await stage.rest();
  },
};
