/** Scenarios about what looks like a member's death and is none: see scenarios.ts. */
import { nodeOf } from './sim-nodes.ts';
import type { ScriptedWorld } from './scripted-world.ts';

/** Long enough for everything that a guard would have let through. */
const A_WHILE = 500;

/** Everything that Kubernetes finds a pod by is taken off it. */
async function unlabelled(scripted: ScriptedWorld): Promise<void> {
  const pod = scripted.pod(scripted.follower().name);
  scripted.world.kube.change(pod, { metadata: { ...pod.metadata, labels: {} } });
  await scripted.pass(A_WHILE);
  await scripted.until('its labels are back', () => {
    const { labels } = scripted.pod(pod.metadata.name).metadata;
    return ['app', 'etcd_cluster', 'etcd_node'].every(key => labels?.[key] === pod.metadata.labels?.[key]);
  });
  await scripted.rest();
}

/** Two of three claims are replaced by what they held yesterday; the third member, which knows better, is away. */
async function exchanged(scripted: ScriptedWorld): Promise<void> {
  await scripted.create({ size: 3 });
  const followers = scripted.followers().map(({ name }) => ({ name, snapshot: scripted.snapshot(name) }));
  const leader = scripted.leader();
  await scripted.pass(A_WHILE);
  scripted.world.etcd.set(leader, { frozen: true });
  for (const { name, snapshot } of followers) scripted.exchange(name, snapshot);
}

export const deathScenarios = {
  async claimsAreExchangedForOlderOnes(scripted: ScriptedWorld) {
    await exchanged(scripted);
    await scripted.blockedBy('ClaimExchanged');
    await scripted.pass(A_WHILE);
  },

  /** As before, and nobody remembers which claims there were: only what is noted on the copies says. */
  async claimsAreExchangedAndTheStatusIsLost(scripted: ScriptedWorld) {
    await exchanged(scripted);
    scripted.loseStatus();
    await scripted.blockedBy('ClaimExchanged');
    await scripted.pass(A_WHILE);
  },

  /** The others know better, and the one that would come back knowing less is replaced. */
  async oneClaimIsExchanged(scripted: ScriptedWorld) {
    await scripted.create({ size: 3, repair: { replaceAfterSeconds: 0 } });
    const { name } = scripted.follower();
    const snapshot = scripted.snapshot(name);
    await scripted.pass(100);
    scripted.exchange(name, snapshot);
    await scripted.until('its member is replaced', () => scripted.voters().every(row => row.name !== name));
    await scripted.rest();
  },

  async podWithoutLabels(scripted: ScriptedWorld) {
    await scripted.create({ size: 3 });
    await unlabelled(scripted);
  },

  async podWithoutLabelsThatHoldsTheData(scripted: ScriptedWorld) {
    scripted.remake({ isEphemeral: true });
    await scripted.createInPods({ size: 3 });
    await unlabelled(scripted);
  },

  /** It is there and runs, and says of itself that it is nobody's. */
  async podWithoutOwnerThatHoldsTheData(scripted: ScriptedWorld) {
    scripted.remake({ isEphemeral: true });
    await scripted.createInPods({ size: 3 });
    const pod = scripted.pod(scripted.follower().name);
    const { ownerReferences, ...metadata } = pod.metadata;
    scripted.world.kube.change(pod, { metadata });
    await scripted.blockedBy('NameTaken');
    await scripted.pass(A_WHILE);
    const found = scripted.pod(pod.metadata.name);
    scripted.world.kube.change(found, {
      metadata: { ...found.metadata, ...(ownerReferences && { ownerReferences }) },
    });
    await scripted.rest();
  },

  /** The volume is there, and its Node is; only the label by which the one names the other is another one. */
  async nodeIsRelabelled(scripted: ScriptedWorld) {
    const { nodes } = scripted.world.kubelet;
    nodes.hasLocalVolumes = true;
    await scripted.create({ size: 3, repair: { replaceAfterSeconds: 0 } });
    const { name } = scripted.follower();
    const node = nodeOf(scripted.pod(name)) ?? '';
    nodes.relabel(node, 'renamed');
    scripted.takePod(name);
    await scripted.pass(A_WHILE);
    nodes.relabel(node);
    await scripted.rest();
  },
};
