/** Scenarios about clusters that are left alone: the watcher of src/watcher reports changes, or nothing does. See scenarios.ts. */
import {
  ANNOTATION_CLUSTER_ID,
  ANNOTATION_INITIAL_CLUSTER_STATE,
  clientServiceName,
  FINALIZER,
} from '../../src/api/names.ts';
import type { EtcdClusterStatus } from '../../src/api/schemas/types.ts';
import { Breach, CLUSTER } from './invariants.ts';
import type { ScriptedWorld } from './scripted-world.ts';

/** What Kubernetes or the health pages of members report: in milliseconds, of which a pass takes most. */
const SOON_MS = 20_000;
/** What only the members themselves report, which are asked each minute. */
const SURVEYED_MS = 100_000;
/** As long as a lease that is not renewed lasts. */
const UNWATCHED_MS = 11_000;

/** A cluster that nothing is to be done for, and that no pass looks at for hours. */
async function leftAlone(scripted: ScriptedWorld, size: number): Promise<void> {
  scripted.remake({ isWatched: true });
  scripted.world.etcd.strict = false;
  await scripted.create({ size });
  await scripted.until('it is left alone', () => (scripted.world.decision.nextPassSeconds ?? 0) > 600);
  // What was found when the watcher began is enqueued once more after five minutes.
  const since = scripted.world.now;
  await scripted.until('the watcher has begun', () => scripted.world.now > since + 400_000);
}

/** Time passes until it is so, and not more than so many milliseconds. */
async function within(scripted: ScriptedWorld, ms: number, what: string, is: () => boolean): Promise<void> {
  const { world } = scripted;
  const since = world.now;
  await scripted.until(what, is);
  if (world.now > since + ms) throw new Breach(`${what} only after ${world.now - since} ms`);
}

function status({ world }: ScriptedWorld): EtcdClusterStatus {
  return (world.resource?.['status'] ?? {}) as EtcdClusterStatus;
}

export const watchingScenarios = {
  async specificationIsEditedInPeace(scripted: ScriptedWorld) {
    await leftAlone(scripted, 1);
    scripted.world.edit({ size: 2 });
    await within(scripted, SOON_MS, 'a member is added', () => scripted.learner() !== undefined);
    await scripted.rest();
  },

  async podIsDeletedInPeace(scripted: ScriptedWorld) {
    await leftAlone(scripted, 3);
    const { uid } = scripted.pod('example-1').metadata;
    scripted.takePod('example-1');
    const isBack = () => {
      const pod = scripted.world.kube.peek('Pod', 'example-1');
      return pod !== undefined && pod.metadata.uid !== uid;
    };
    await within(scripted, SOON_MS, 'its member is started again', isBack);
    await scripted.rest();
  },

  async stampsAreAlteredInPeace(scripted: ScriptedWorld) {
    await leftAlone(scripted, 1);
    const { kube } = scripted.world;
    const alter = (kind: string, name: string, key: string, value: string | null) => {
      const says = () => kube.peek(kind, name)?.metadata.annotations?.[key];
      const before = says();
      kube.merge(kind, name, { metadata: { annotations: { [key]: value } } });
      return within(scripted, SOON_MS, `${kind} ${name} has its stamp again`, () => says() === before);
    };
    await alter('EtcdCluster', CLUSTER, ANNOTATION_CLUSTER_ID, null);
    await alter('Pod', 'example-0', ANNOTATION_INITIAL_CLUSTER_STATE, 'new');
    await scripted.rest();
  },

  async finalizerIsRemovedWhileNobodyWatches(scripted: ScriptedWorld) {
    await leftAlone(scripted, 1);
    const { kube } = scripted.world;
    scripted.world.handOver(UNWATCHED_MS);
    kube.merge('EtcdCluster', CLUSTER, { metadata: { finalizers: null } });
    const isBack = () => kube.peek('EtcdCluster', CLUSTER)?.metadata.finalizers?.includes(FINALIZER) === true;
    await within(scripted, UNWATCHED_MS + SOON_MS, 'the finalizer is set again', isBack);
    await scripted.rest();
  },

  async serviceIsDeletedWhileNobodyWatches(scripted: ScriptedWorld) {
    await leftAlone(scripted, 1);
    const { kube } = scripted.world;
    const service = clientServiceName(CLUSTER);
    scripted.world.handOver(UNWATCHED_MS);
    kube.delete('Service', service);
    const isBack = () => kube.peek('Service', service) !== undefined;
    await within(scripted, UNWATCHED_MS + SOON_MS, 'the client Service is there again', isBack);
    await scripted.rest();
  },

  async memberIsCutOffInPeace(scripted: ScriptedWorld) {
    await leftAlone(scripted, 3);
    const member = scripted.follower();
    scripted.world.etcd.set(member, { hidden: true });
    const isSaid = () =>
      status(scripted).members?.details?.find(({ name }) => name === member.name)?.health !== 'Healthy';
    await within(scripted, SOON_MS, 'the status says that it does not answer', isSaid);
    scripted.world.etcd.set(member, { hidden: false });
    await within(scripted, SOON_MS, 'the status says that it answers', () => !isSaid());
    await scripted.rest();
  },

  async memberIsAddedInPeace(scripted: ScriptedWorld) {
    await leftAlone(scripted, 3);
    const { etcd } = scripted.world;
    const stranger = etcd.addByHand(scripted.leader(), 'http://stranger.elsewhere:2380', true);
    const isSaid = () => status(scripted).size === 4;
    await within(scripted, SURVEYED_MS, 'the status says that there are four', isSaid);
    etcd.removeByHand(scripted.leader(), stranger);
    await within(scripted, SURVEYED_MS, 'the status says that there are three', () => !isSaid());
    await scripted.rest();
  },
};
