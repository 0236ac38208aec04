/** Scenarios about another version: see scenarios.ts. */
import type { EtcdClusterSpec, EtcdClusterStatus } from '../../src/api/schemas/types.ts';
import { ANNOTATION_RENDERED } from '../../src/api/names.ts';
import { Breach, CLUSTER } from './invariants.ts';
import { nodeOf } from './sim-nodes.ts';
import type { ScriptedWorld } from './scripted-world.ts';
import { agreedOn, minor } from './sim-versions.ts';

/** Long enough for everything that a guard would have let through. */
const A_WHILE = 1_200;
/** For so long a member that starts is waited for. */
const PATIENCE_MS = 301_000;
const STEP_BY_STEP: EtcdClusterSpec = { upgrade: { allowIntermediateVersions: true } };

/** Every member runs it, the cluster has arrived in its minor, and the operator has nothing to do. */
export async function reached(scripted: ScriptedWorld, version: string): Promise<void> {
  await scripted.until(`every member runs ${version}`, () => {
    const processes = [...scripted.world.etcd.processes.values()];
    return (
      scripted.world.decision.kind === 'idle' &&
      processes.length === scripted.world.spec.size &&
      processes.every(
        process => process.version === version && process.serves && agreedOn(process.disk) === minor(version),
      )
    );
  });
}

/** Nothing changes any more, for this reason. */
export async function stopped(scripted: ScriptedWorld, reason: string): Promise<void> {
  await scripted.until(`the operator stops with ${reason}`, () => scripted.world.decision.reason === reason);
  await scripted.pass(A_WHILE);
  // In this moment it may be about to find it out once more.
  await scripted.until(`it stays with ${reason}`, () => scripted.world.decision.reason === reason);
}

/** From one version to another, while `meanwhile` is so from the moment on when it is asked for. */
export async function asked(
  scripted: ScriptedWorld,
  { from, to, ...spec }: { readonly from: string; readonly to: string } & EtcdClusterSpec,
  meanwhile: () => void = () => {},
): Promise<void> {
  await scripted.create({ size: 3, ...spec, version: from });
  const since = scripted.world.now;
  await scripted.until('the cluster is quiet', () => scripted.world.now > since + 15_000);
  // The leader of a new cluster raises its version in its own time.
  await reached(scripted, from);
  meanwhile();
  scripted.world.edit({ version: to });
}

export const upgradeScenarios = {
  async patchIsAskedFor(scripted: ScriptedWorld) {
    await asked(scripted, { from: '3.6.15', to: '3.6.16' });
    await reached(scripted, '3.6.16');
  },

  async twoMinorsAreAskedFor(scripted: ScriptedWorld) {
    scripted.world.isQuiet = true;
    await asked(scripted, { from: '3.5.35', to: '3.7.3', ...STEP_BY_STEP });
    await scripted.until('all run 3.6', () => versions(scripted).every(version => version === '3.6.16'));
    await reached(scripted, '3.7.3');
  },

  /** The leader takes its time to raise the version of the cluster. */
  async clusterArrivesLate(scripted: ScriptedWorld) {
    scripted.world.isQuiet = true;
    await asked(scripted, { from: '3.5.35', to: '3.7.3', ...STEP_BY_STEP }, () => {
      scripted.world.etcd.raises = false;
    });
    await scripted.until('all run 3.6', () => versions(scripted).every(version => version === '3.6.16'));
    await scripted.pass(A_WHILE);
    scripted.world.etcd.raises = true;
    await reached(scripted, '3.7.3');
  },

  /** What removals and promotions of an old 3.5 left on the disks is fixed by the newest 3.5 only. */
  async oldReleaseLeftItsMark(scripted: ScriptedWorld) {
    await asked(scripted, { from: '3.5.3', to: '3.6.16', ...STEP_BY_STEP }, () => {
      for (const { disk } of scripted.world.etcd.processes.values()) disk.stain = 'zombie';
    });
    await reached(scripted, '3.6.16');
  },

  /** Kubernetes does not notice. */
  async memberIsAwayBeforeAnUpgrade(scripted: ScriptedWorld) {
    await asked(scripted, { from: '3.6.15', to: '3.6.16' }, () => {
      // The others are touched before it.
      const away = scripted.follower(1);
      scripted.world.kubelet.nodes.down.add(nodeOf(scripted.pod(away.name)) ?? '');
      scripted.world.etcd.set(away, { frozen: true });
    });
    await scripted.pass(A_WHILE);
  },

  /** One more member and another version are asked for at once. */
  async memberJoinsWhenAnUpgradeIsAskedFor(scripted: ScriptedWorld) {
    await asked(scripted, { from: '3.6.15', to: '3.6.16' }, () => scripted.world.edit({ size: 4 }));
    await reached(scripted, '3.6.16');
  },

  async memberHasOtherKeys(scripted: ScriptedWorld) {
    await asked(scripted, { from: '3.6.15', to: '3.6.16' }, () =>
      scripted.world.etcd.set(scripted.follower(0), { corrupt: true }),
    );
    await scripted.pass(A_WHILE);
  },

  async databaseIsNearlyFull(scripted: ScriptedWorld) {
    await asked(scripted, { from: '3.6.15', to: '3.6.16' }, () => {
      scripted.follower(1).disk.bytes = 1.9 * 2 ** 30;
    });
    await scripted.pass(A_WHILE);
  },

  /** It is slow to apply what it gets. */
  async memberLagsBeforeAnUpgrade(scripted: ScriptedWorld) {
    await asked(scripted, { from: '3.6.15', to: '3.6.16' });
    const { disk } = scripted.follower(1);
    const at = disk.commit;
    for (let tick = 0; tick < A_WHILE; tick += 1) {
      for (let write = 0; write < 2; write += 1) scripted.world.etcd.write();
      // It takes nothing more.
      disk.log.length = Math.min(disk.log.length, at);
      disk.commit = Math.min(disk.commit, at);
      await scripted.pass(1);
    }
  },

  async memberWasRestartedJustNow(scripted: ScriptedWorld) {
    await asked(scripted, { from: '3.6.15', to: '3.6.16' }, () => {
      const { host, name } = scripted.follower(1);
      scripted.world.etcd.stop(host);
      scripted.world.kube.change(scripted.pod(name), { status: {} });
    });
    await reached(scripted, '3.6.16');
  },

  async upgradedMembersAreToSoak(scripted: ScriptedWorld) {
    await asked(scripted, { from: '3.6.15', to: '3.6.16', upgrade: { soakSeconds: 60 } });
    await reached(scripted, '3.6.16');
  },

  async imageIsMissing(scripted: ScriptedWorld) {
    await asked(scripted, { from: '3.6.16', to: '3.6.99' }, () =>
      scripted.world.kubelet.duds.set('3.6.99', 'missing'),
    );
    await stopped(scripted, 'RolledBack');
    scripted.world.edit({ version: '3.6.16' });
    await reached(scripted, '3.6.16');
  },

  async versionCrashes(scripted: ScriptedWorld) {
    await asked(scripted, { from: '3.5.35', to: '3.6.99' }, () =>
      scripted.world.kubelet.duds.set('3.6.99', 'crashes'),
    );
    await stopped(scripted, 'RolledBack');
    scripted.world.edit({ version: '3.6.16' });
    await reached(scripted, '3.6.16');
  },

  async versionHangs(scripted: ScriptedWorld) {
    await asked(scripted, { from: '3.6.16', to: '3.6.99' }, () =>
      scripted.world.kubelet.duds.set('3.6.99', 'hangs'),
    );
    await scripted.until('one tries it', () => versions(scripted).includes('3.6.99'));
    scripted.world.now += PATIENCE_MS;
    await stopped(scripted, 'RolledBack');
  },

  async versionCrashesAndIsLeftThere(scripted: ScriptedWorld) {
    const upgrade = { rollbackOnFailure: false };
    await asked(scripted, { from: '3.6.15', to: '3.6.99', upgrade }, () =>
      scripted.world.kubelet.duds.set('3.6.99', 'crashes'),
    );
    await stopped(scripted, 'UpgradeFailed');
    scripted.world.edit({ version: '3.6.16' });
    await reached(scripted, '3.6.16');
  },

  async mindIsChangedInTheMiddle(scripted: ScriptedWorld) {
    await asked(scripted, { from: '3.5.35', to: '3.6.16' });
    await scripted.until('one is upgraded', () => versions(scripted).includes('3.6.16'));
    scripted.world.edit({ version: '3.5.35' });
    await reached(scripted, '3.5.35');
  },

  /** Members of two versions are one thing at a time: the size is changed when all run the new one. */
  async sizeIsChangedInTheMiddle(scripted: ScriptedWorld) {
    await asked(scripted, { from: '3.5.35', to: '3.6.16' });
    await scripted.until('one is upgraded', () => versions(scripted).includes('3.6.16'));
    scripted.world.edit({ size: 5 });
    await reached(scripted, '3.6.16');
    await scripted.rest();
  },

  async mindIsChangedAtTheEnd(scripted: ScriptedWorld) {
    await asked(scripted, { from: '3.5.35', to: '3.6.16' });
    await scripted.until('all are upgraded', () => versions(scripted).every(version => version === '3.6.16'));
    scripted.world.edit({ version: '3.5.35' });
    await scripted.pass(2 * A_WHILE);
  },

  /** The last member is upgraded, and the operator cannot reach it: it does not see that the cluster is of the new minor. */
  async mindIsChangedTooLate(scripted: ScriptedWorld) {
    const { etcd } = scripted.world;
    await asked(scripted, { from: '3.5.35', to: '3.6.16' });
    await scripted.until('the cluster is one of 3.6', () => {
      const processes = [...etcd.processes.values()];
      const old = processes.filter(({ version }) => version === '3.5.35');
      for (const process of processes)
        if (old.length === 0 && !process.serves && !process.hidden) etcd.set(process, { hidden: true });
      return processes.every(({ disk }) => agreedOn(disk) === '3.6');
    });
    scripted.world.edit({ version: '3.5.35' });
    await scripted.pass(A_WHILE);
    for (const process of etcd.processes.values()) etcd.set(process, { hidden: false });
    // The way back is etcd's downgrade now.
    await reached(scripted, '3.5.35');
  },

  async upgradeIsSupervised(scripted: ScriptedWorld) {
    await asked(scripted, { from: '3.5.35', to: '3.6.16', upgrade: { strategy: 'Supervised' } });
    await stopped(scripted, 'AwaitingApproval');
    for (const word of ['begin', 'finish']) {
      await scripted.until(`the operator asks whether to ${word}`, () => {
        const { consent } = scripted.world.operator;
        if (consent?.ids.includes(word) !== true) return false;
        scripted.world.operator.approve(consent);
        return true;
      });
    }
    await reached(scripted, '3.6.16');
  },

  /** Every member runs the new version, and bits rot on one disk. */
  async keysDifferInTheEnd(scripted: ScriptedWorld) {
    await asked(scripted, { from: '3.6.15', to: '3.6.16' });
    await scripted.until('all are upgraded', () => versions(scripted).every(version => version === '3.6.16'));
    const rotten = scripted.follower(0);
    scripted.world.etcd.set(rotten, { corrupt: true });
    await stopped(scripted, 'CorruptMember');
    scripted.world.etcd.set(rotten, { corrupt: false });
    scripted.skip(3_601);
    await reached(scripted, '3.6.16');
  },

  /** One member does not say what its keys come to: no member is restarted until it does. */
  async keysCannotBeCompared(scripted: ScriptedWorld) {
    await asked(scripted, { from: '3.6.15', to: '3.6.16' });
    const isStopped = () => scripted.world.decision.reason === 'DataNotCompared';
    for (let tick = 0; tick < A_WHILE && !isStopped(); tick += 1) await scripted.withoutReads(1, 'hashKv');
    if (!isStopped()) throw new Breach('it goes on without having compared them');
    await reached(scripted, '3.6.16');
  },

  /** A member that has come up with the new version falls while the last one is looked at. */
  async memberFallsInTheEnd(scripted: ScriptedWorld) {
    await asked(scripted, { from: '3.6.15', to: '3.6.16' });
    await scripted.until('all are seen upgraded', () => {
      const { members } = (scripted.world.resource?.['status'] ?? {}) as EtcdClusterStatus;
      return members?.details?.every(({ version }) => version === '3.6.16') === true;
    });
    scripted.world.kubelet.duds.set('3.6.16', 'crashes');
    const { host, name } = scripted.follower(0);
    scripted.world.etcd.stop(host);
    scripted.world.kube.change(scripted.pod(name), { status: {} });
    await stopped(scripted, 'UpgradeFailed');
    scripted.world.edit({ version: '3.6.15' });
    await reached(scripted, '3.6.15');
  },

  async backupIsRequired(scripted: ScriptedWorld) {
    await asked(scripted, { from: '3.5.35', to: '3.6.16', upgrade: { snapshotBefore: 'Required' } });
    await stopped(scripted, 'BackupMissing');
  },

  /** Somebody has begun by hand: one pod has the image of the next minor. */
  async upgradeWasBegunByHand(scripted: ScriptedWorld) {
    await scripted.create({ size: 3, version: '3.5.35' });
    const { name } = scripted.follower(0);
    const pod = scripted.pod(name);
    const spec = pod['spec'] as { readonly containers: readonly { readonly image: string }[] };
    const containers = spec.containers.map(container => ({
      ...container,
      image: container.image.replace('3.5.35', '3.6.16'),
    }));
    scripted.world.kube.change(pod, { spec: { ...spec, containers } });
    await scripted.until('it runs', () => versions(scripted).includes('3.6.16'));
    scripted.world.edit({ version: '3.6.16' });
    await reached(scripted, '3.6.16');
  },

  /** The node of a member is lost in the middle of an upgrade. */
  async memberIsLostInTheMiddle(scripted: ScriptedWorld) {
    await asked(scripted, { from: '3.5.35', to: '3.6.16', repair: { replaceAfterSeconds: 0 } });
    await scripted.until('one is upgraded', () => versions(scripted).includes('3.6.16'));
    const { name } = scripted.follower(1);
    scripted.takePod(name);
    scripted.takeClaim(name);
    await reached(scripted, '3.6.16');
  },

  /** Its members' pods hold the data: a change that needs other pods cannot come with a version. */
  async dataIsInPodsThatWouldHaveToGo(scripted: ScriptedWorld) {
    scripted.remake({ isEphemeral: true });
    await scripted.createInPods({ size: 3, version: '3.6.15' });
    scripted.world.edit({ version: '3.6.16', etcd: { snapshotCount: 7_000 } });
    await stopped(scripted, 'EphemeralMembers');
    scripted.world.kube.merge('EtcdCluster', CLUSTER, { spec: { etcd: { snapshotCount: 0 } } });
    await reached(scripted, '3.6.16');
  },

  /** What a pod was made of somebody has taken off it: it may need another one. */
  async podTellsNothingOfItself(scripted: ScriptedWorld) {
    await asked(scripted, { from: '3.6.15', to: '3.6.16' }, () => {
      const pod = scripted.pod(scripted.follower().name);
      const { [ANNOTATION_RENDERED]: _, ...annotations } = pod.metadata.annotations ?? {};
      scripted.world.kube.change(pod, { metadata: { ...pod.metadata, annotations } });
    });
    await reached(scripted, '3.6.16');
  },

  /** A learner of somebody else's is there. */
  async strangerIsThereBeforeAnUpgrade(scripted: ScriptedWorld) {
    await asked(scripted, { from: '3.6.15', to: '3.6.16' }, () => {
      scripted.world.etcd.addByHand(scripted.leader(), 'http://stranger.elsewhere:2380', true);
    });
    await scripted.pass(A_WHILE);
    if (scripted.world.decision.reason !== 'ForeignMember')
      throw new Breach('the foreign member is not reported');
    const stranger = scripted.learner();
    scripted.world.etcd.removeByHand(scripted.leader(), stranger?.id ?? '');
    await reached(scripted, '3.6.16');
  },

  /** Nobody knows any more what was under way. */
  async statusIsLostInTheMiddle(scripted: ScriptedWorld) {
    await asked(scripted, { from: '3.5.35', to: '3.7.3', ...STEP_BY_STEP });
    await scripted.until('one is upgraded', () => versions(scripted).includes('3.6.16'));
    scripted.loseStatus();
    const old = scripted.followers().find(({ version }) => version === '3.5.35');
    scripted.takePod(old?.name ?? '');
    await stopped(scripted, 'VersionsDiffer');
    scripted.world.edit({ version: '3.6.16' });
    await reached(scripted, '3.6.16');
  },
};

export function versions(scripted: ScriptedWorld): string[] {
  return [...scripted.world.etcd.processes.values()].map(({ version }) => version);
}
