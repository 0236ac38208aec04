/** Scenarios about room in the databases of members: see scenarios.ts. */
import type { EtcdClusterSpec } from '../../src/api/schemas/types.ts';
import { Breach } from './invariants.ts';
import { asked, reached } from './scenarios-of-upgrades.ts';
import type { ScriptedWorld } from './scripted-world.ts';
import type { Process } from './sim-raft.ts';

/** Ticks in which nothing may happen. */
const A_WHILE = 500;
const LARGER = 8_589_934_592;

function all({ world }: ScriptedWorld): readonly Process[] {
  return [...world.etcd.processes.values()];
}

/** Every file is a little larger than the quota; of that so much is free, and so much of what is in use is history. */
function fill(scripted: ScriptedWorld, { free = 0, history = 0 } = {}): void {
  const { etcd, ticks } = scripted.world;
  for (const { disk, quota, clusterId } of all(scripted)) {
    Object.assign(disk, { bytes: 1.01 * quota, free: free * 1.01 * quota, filledAt: ticks });
    etcd.space.setHistory(clusterId, history);
  }
  etcd.space.raise(scripted.follower());
}

async function writable(scripted: ScriptedWorld): Promise<void> {
  const { tried } = scripted.world.etcd.space;
  await scripted.until('writes go through', () => all(scripted).every(({ memberId }) => tried.has(memberId)));
}

/** All but the last member run the new version, and the upgrade waits for a person. */
async function untilTheLast(
  scripted: ScriptedWorld,
  versions: { readonly from: string; readonly to: string },
): Promise<void> {
  const upgrade: EtcdClusterSpec['upgrade'] = { strategy: 'Supervised', allowIntermediateVersions: true };
  await asked(scripted, { ...versions, upgrade });
  await scripted.approve();
  await asksFor(scripted, 'finish');
}

async function asksFor(scripted: ScriptedWorld, what: string): Promise<void> {
  const { operator } = scripted.world;
  await scripted.until(
    `it asks for ${what}`,
    () => operator.consent?.ids.some(id => id.startsWith(what)) === true,
  );
}

export const spaceScenarios = {
  /** By free pages in one file and in all, by a quota that is raised, by live data and by history; one that is away is waited for. */
  async databasesAreFull(scripted: ScriptedWorld) {
    await scripted.create({ size: 3 });
    fill(scripted, { free: 0.7 });
    await writable(scripted);
    await scripted.rest();
    fill(scripted, { history: 0.8 });
    await scripted.blockedBy('AwaitingApproval');
    await scripted.pass(200);
    await scripted.approve();
    await writable(scripted);
    await scripted.rest();
    fill(scripted);
    await scripted.blockedBy('DatabaseFull');
    scripted.world.edit({ etcd: { quotaBackendBytes: LARGER } });
    await writable(scripted);
    await scripted.rest();
  },

  /** The alarm stands while one has no room, does not answer, or differs. */
  async noSpaceWhileOneHasNoRoom(scripted: ScriptedWorld) {
    await scripted.create({ size: 3 });
    const { etcd } = scripted.world;
    const [one, other] = [scripted.follower(0), scripted.follower(1)];
    Object.assign(one.disk, { bytes: 1.01 * one.quota, filledAt: scripted.world.ticks });
    etcd.space.raise(other);
    await scripted.blockedBy('DatabaseFull');
    one.disk.bytes = undefined;
    etcd.set(one, { hidden: true });
    await scripted.pass(A_WHILE);
    etcd.set(one, { hidden: false, alarm: 'memberID:4711 alarm:CORRUPT ' });
    await scripted.pass(A_WHILE);
    etcd.set(one, { alarm: undefined });
    await scripted.until('it is disarmed', () => etcd.space.alarmsOf(one.clusterId).length === 0);
    await scripted.rest();
  },

  /** The first member has the larger quota when something else is edited: the others get theirs before that one is touched again. */
  async somethingElseIsEditedWhileAQuotaIsRaised(scripted: ScriptedWorld) {
    await scripted.create({ size: 3 });
    const { world } = scripted;
    fill(scripted);
    await scripted.blockedBy('DatabaseFull');
    world.edit({ etcd: { quotaBackendBytes: LARGER } });
    const first = () => all(scripted).find(({ quota, serves }) => quota === LARGER && serves);
    await scripted.until('one has it', () => first() !== undefined);
    const { name = '', clusterId = '' } = first() ?? {};
    const { uid } = scripted.pod(name).metadata;
    world.edit({ etcd: { quotaBackendBytes: LARGER, snapshotCount: 7_000 } });
    await scripted.until('NOSPACE is disarmed', () => {
      const isOver = world.etcd.space.alarmsOf(clusterId).length === 0;
      if (!isOver && world.kube.peek('Pod', name)?.metadata.uid !== uid)
        throw new Breach(`${name} is restarted once more while etcd has no space`);
      return isOver;
    });
    await writable(scripted);
    await scripted.rest();
  },

  /** Room is made as ever while members run two minors, and each that is restarted for it keeps its version. */
  async databasesAreFullInTheMiddleOfAnUpgrade(scripted: ScriptedWorld) {
    await untilTheLast(scripted, { from: '3.6.16', to: '3.7.3' });
    const versions = () => all(scripted).map(({ name, version }) => `${name} ${version}`);
    const before = versions().toSorted().join();
    fill(scripted, { free: 0.7 });
    await writable(scripted);
    fill(scripted, { history: 0.8 });
    await asksFor(scripted, 'history');
    await scripted.approve();
    await writable(scripted);
    fill(scripted);
    await scripted.blockedBy('DatabaseFull');
    scripted.world.edit({ etcd: { quotaBackendBytes: LARGER } });
    await scripted.until('the quota has reached every member', () => {
      const other = versions().find(each => !before.includes(each));
      if (other !== undefined) throw new Breach(`a larger quota changes a version: ${other}`);
      return all(scripted).length === 3 && all(scripted).every(({ quota }) => quota === LARGER);
    });
    await writable(scripted);
    await asksFor(scripted, 'finish');
    await scripted.approve();
    // A pod that was made in between is started once more before its member may leave 3.6, and the person is asked again after that.
    await scripted.about('stopMember');
    await asksFor(scripted, 'finish');
    await scripted.approve();
    await reached(scripted, '3.7.3');
  },

  /** After a compaction these members would have different hashes, and etcd would take one of them for corrupt: the operator asks for none. */
  async historyFillsADatabaseOfTwoReleases(scripted: ScriptedWorld) {
    await untilTheLast(scripted, { from: '3.5.15', to: '3.5.35' });
    fill(scripted, { history: 0.8 });
    await scripted.blockedBy('DatabaseFull');
    scripted.world.edit({ etcd: { quotaBackendBytes: LARGER } });
    await writable(scripted);
  },

  /** What would mend the member is not held up by files that are to be defragmented when it is well, and then they are, before the others get it. */
  async memberIsBrokenWhileFilesAreNearlyFull(scripted: ScriptedWorld) {
    await scripted.create({ size: 3, maintenance: { defragment: {} } });
    const { world } = scripted;
    const { name } = scripted.follower();
    world.kubelet.stuck.add(name);
    scripted.takePod(name);
    for (const { disk } of all(scripted)) Object.assign(disk, { bytes: 1_900_000_000, free: 1_500_000_000 });
    await scripted.until('it is made again', () => world.kube.peek('Pod', name) !== undefined);
    const { uid } = scripted.pod(name).metadata;
    await scripted.blockedBy('MembersUnhealthy');
    world.edit({ etcd: { snapshotCount: 7_000 } });
    await scripted.until(
      'it is mended',
      () => ![uid, undefined].includes(world.kube.peek('Pod', name)?.metadata.uid),
    );
    world.kubelet.stuck.clear();
    await scripted.until('all are defragmented', () =>
      all(scripted).every(({ disk }) => disk.bytes === undefined || disk.free === 0),
    );
    await scripted.rest();
  },
};
