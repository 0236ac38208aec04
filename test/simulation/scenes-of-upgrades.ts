/** Scenes about another version: see scenes.ts. */
import type { EtcdClusterSpec, EtcdClusterStatus } from '../../src/api/schemas/types.ts';
import { ANNOTATION_RENDERED } from '../../src/api/names.ts';
import { Breach, CLUSTER } from './invariants.ts';
import { nodeOf } from './sim-nodes.ts';
import type { Stage } from './stage.ts';
import { agreedOn, minor } from './sim-versions.ts';

/** Long enough for everything that a guard would have let through. */
const A_WHILE = 1_200;
/** For so long a member that starts is waited for. */
const PATIENCE_MS = 301_000;
const STEP_BY_STEP: EtcdClusterSpec = { upgrade: { allowIntermediateVersions: true } };

/** Every member runs it, the cluster has arrived in its minor, and the operator has nothing to do. */
async function reached(stage: Stage, version: string): Promise<void> {
  await stage.until(`every member runs ${version}`, () => {
    const processes = [...stage.world.etcd.processes.values()];
    return (
      stage.world.decision.kind === 'idle' &&
      processes.length === stage.world.spec.size &&
      processes.every(
        process => process.version === version && process.serves && agreedOn(process.disk) === minor(version),
      )
    );
  });
}

/** Nothing changes any more, for this reason. */
async function stopped(stage: Stage, reason: string): Promise<void> {
  await stage.until(`the operator stops with ${reason}`, () => stage.world.decision.reason === reason);
  await stage.pass(A_WHILE);
  if (stage.world.decision.reason !== reason) throw new Breach(`it does not stay with ${reason}`);
}

/** From one version to another, while `meanwhile` is so from the moment on when it is asked for. */
async function asked(
  stage: Stage,
  { from, to, ...spec }: { readonly from: string; readonly to: string } & EtcdClusterSpec,
  meanwhile: () => void = () => {},
): Promise<void> {
  await stage.create({ size: 3, ...spec, version: from });
  const since = stage.world.now;
  await stage.until('the cluster is quiet', () => stage.world.now > since + 15_000);
  // The leader of a new cluster raises its version in its own time.
  await reached(stage, from);
  meanwhile();
  stage.world.edit({ version: to });
}

export const upgradeScenes = {
  async patchIsAskedFor(stage: Stage) {
    await asked(stage, { from: '3.6.15', to: '3.6.16' });
    await reached(stage, '3.6.16');
  },

  async twoMinorsAreAskedFor(stage: Stage) {
    stage.world.isQuiet = true;
    await asked(stage, { from: '3.5.35', to: '3.7.3', ...STEP_BY_STEP });
    await reached(stage, '3.7.3');
  },

  /** The leader takes its time to raise the version of the cluster. */
  async clusterArrivesLate(stage: Stage) {
    stage.world.isQuiet = true;
    await asked(stage, { from: '3.5.35', to: '3.7.3', ...STEP_BY_STEP }, () => {
      stage.world.etcd.raises = false;
    });
    await stage.until('all run 3.6', () => versions(stage).every(version => version === '3.6.16'));
    await stage.pass(A_WHILE);
    stage.world.etcd.raises = true;
    await reached(stage, '3.7.3');
  },

  /** What removals and promotions of an old 3.5 left on the disks is mended by the newest 3.5 only. */
  async oldReleaseLeftItsMark(stage: Stage) {
    await asked(stage, { from: '3.5.3', to: '3.6.16', ...STEP_BY_STEP }, () => {
      for (const { disk } of stage.world.etcd.processes.values()) disk.stain = 'zombie';
    });
    await reached(stage, '3.6.16');
  },

  /** Kubernetes does not notice. */
  async memberIsAwayBeforeAnUpgrade(stage: Stage) {
    await asked(stage, { from: '3.6.15', to: '3.6.16' }, () => {
      // The others are touched before it.
      const away = stage.follower(1);
      stage.world.kubelet.nodes.down.add(nodeOf(stage.pod(away.name)) ?? '');
      stage.world.etcd.set(away, { frozen: true });
    });
    await stage.pass(A_WHILE);
  },

  /** One more member and another version are asked for at once. */
  async memberJoinsWhenAnUpgradeIsAskedFor(stage: Stage) {
    await asked(stage, { from: '3.6.15', to: '3.6.16' }, () => stage.world.edit({ size: 4 }));
    await reached(stage, '3.6.16');
  },

  async memberHasOtherKeys(stage: Stage) {
    await asked(stage, { from: '3.6.15', to: '3.6.16' }, () =>
      stage.world.etcd.set(stage.follower(0), { corrupt: true }),
    );
    await stage.pass(A_WHILE);
  },

  async databaseIsNearlyFull(stage: Stage) {
    await asked(stage, { from: '3.6.15', to: '3.6.16' }, () => {
      stage.follower(1).disk.bytes = 1.9 * 2 ** 30;
    });
    await stage.pass(A_WHILE);
  },

  /** It is slow to apply what it gets. */
  async memberLagsBeforeAnUpgrade(stage: Stage) {
    await asked(stage, { from: '3.6.15', to: '3.6.16' });
    const { disk } = stage.follower(1);
    for (let tick = 0; tick < A_WHILE; tick += 1) {
      for (let write = 0; write < 2; write += 1) stage.world.etcd.write();
      disk.log.length = Math.min(disk.log.length, Math.max(disk.commit, stage.leader().disk.log.length - 40));
      await stage.pass(1);
    }
  },

  async memberWasRestartedJustNow(stage: Stage) {
    await asked(stage, { from: '3.6.15', to: '3.6.16' }, () => {
      const { host, name } = stage.follower(1);
      stage.world.etcd.stop(host);
      stage.world.kube.change(stage.pod(name), { status: {} });
    });
    await reached(stage, '3.6.16');
  },

  async upgradedMembersAreToSoak(stage: Stage) {
    await asked(stage, { from: '3.6.15', to: '3.6.16', upgrade: { soakSeconds: 60 } });
    await reached(stage, '3.6.16');
  },

  async imageIsMissing(stage: Stage) {
    await asked(stage, { from: '3.6.16', to: '3.6.99' }, () =>
      stage.world.kubelet.duds.set('3.6.99', 'missing'),
    );
    await stopped(stage, 'RolledBack');
    stage.world.edit({ version: '3.6.16' });
    await reached(stage, '3.6.16');
  },

  async versionCrashes(stage: Stage) {
    await asked(stage, { from: '3.5.35', to: '3.6.99' }, () =>
      stage.world.kubelet.duds.set('3.6.99', 'crashes'),
    );
    await stopped(stage, 'RolledBack');
    stage.world.edit({ version: '3.6.16' });
    await reached(stage, '3.6.16');
  },

  async versionHangs(stage: Stage) {
    await asked(stage, { from: '3.6.16', to: '3.6.99' }, () =>
      stage.world.kubelet.duds.set('3.6.99', 'hangs'),
    );
    await stage.until('one tries it', () => versions(stage).includes('3.6.99'));
    stage.world.now += PATIENCE_MS;
    await stopped(stage, 'RolledBack');
  },

  async versionCrashesAndIsLeftThere(stage: Stage) {
    const upgrade = { rollbackOnFailure: false };
    await asked(stage, { from: '3.6.15', to: '3.6.99', upgrade }, () =>
      stage.world.kubelet.duds.set('3.6.99', 'crashes'),
    );
    await stopped(stage, 'UpgradeFailed');
    stage.world.edit({ version: '3.6.16' });
    await reached(stage, '3.6.16');
  },

  async mindIsChangedInTheMiddle(stage: Stage) {
    await asked(stage, { from: '3.5.35', to: '3.6.16' });
    await stage.until('one is upgraded', () => versions(stage).includes('3.6.16'));
    stage.world.edit({ version: '3.5.35' });
    await reached(stage, '3.5.35');
  },

  async mindIsChangedAtTheEnd(stage: Stage) {
    await asked(stage, { from: '3.5.35', to: '3.6.16' });
    await stage.until('all are upgraded', () => versions(stage).every(version => version === '3.6.16'));
    stage.world.edit({ version: '3.5.35' });
    await stage.pass(2 * A_WHILE);
  },

  /** The last member is upgraded, and the operator cannot reach it: it does not see that the cluster is of the new minor. */
  async mindIsChangedTooLate(stage: Stage) {
    const { etcd } = stage.world;
    await asked(stage, { from: '3.5.35', to: '3.6.16' });
    await stage.until('the cluster is one of 3.6', () => {
      const processes = [...etcd.processes.values()];
      const old = processes.filter(({ version }) => version === '3.5.35');
      for (const process of processes)
        if (old.length === 0 && !process.serves && !process.hidden) etcd.set(process, { hidden: true });
      return processes.every(({ disk }) => agreedOn(disk) === '3.6');
    });
    stage.world.edit({ version: '3.5.35' });
    await stage.pass(A_WHILE);
    for (const process of etcd.processes.values()) etcd.set(process, { hidden: false });
    await stopped(stage, 'AcrossMinorDown');
  },

  async upgradeIsSupervised(stage: Stage) {
    await asked(stage, { from: '3.5.35', to: '3.6.16', upgrade: { strategy: 'Supervised' } });
    await stopped(stage, 'AwaitingApproval');
    for (const word of ['begin', 'finish']) {
      await stage.until(`the operator asks whether to ${word}`, () => {
        const { consent } = stage.world.operator;
        if (consent?.ids.includes(word) !== true) return false;
        stage.world.operator.approve(consent);
        return true;
      });
    }
    await reached(stage, '3.6.16');
  },

  /** Every member runs the new version, and bits rot on one disk. */
  async keysDifferInTheEnd(stage: Stage) {
    await asked(stage, { from: '3.6.15', to: '3.6.16' });
    await stage.until('all are upgraded', () => versions(stage).every(version => version === '3.6.16'));
    const rotten = stage.follower(0);
    stage.world.etcd.set(rotten, { corrupt: true });
    await stopped(stage, 'DataDiffers');
    stage.world.etcd.set(rotten, { corrupt: false });
    await reached(stage, '3.6.16');
  },

  /** A member that has come up with the new version falls while the last one is looked at. */
  async memberFallsInTheEnd(stage: Stage) {
    await asked(stage, { from: '3.6.15', to: '3.6.16' });
    await stage.until('all are seen upgraded', () => {
      const { members } = (stage.world.resource?.['status'] ?? {}) as EtcdClusterStatus;
      return members?.details?.every(({ version }) => version === '3.6.16') === true;
    });
    stage.world.kubelet.duds.set('3.6.16', 'crashes');
    const { host, name } = stage.follower(0);
    stage.world.etcd.stop(host);
    stage.world.kube.change(stage.pod(name), { status: {} });
    await stopped(stage, 'UpgradeFailed');
    stage.world.edit({ version: '3.6.15' });
    await reached(stage, '3.6.15');
  },

  async backupIsRequired(stage: Stage) {
    await asked(stage, { from: '3.5.35', to: '3.6.16', upgrade: { snapshotBefore: 'Required' } });
    await stopped(stage, 'BackupMissing');
  },

  /** Somebody has begun by hand: one pod has the image of the next minor. */
  async upgradeWasBegunByHand(stage: Stage) {
    await stage.create({ size: 3, version: '3.5.35' });
    const { name } = stage.follower(0);
    const pod = stage.pod(name);
    const spec = pod['spec'] as { readonly containers: readonly { readonly image: string }[] };
    const containers = spec.containers.map(container => ({
      ...container,
      image: container.image.replace('3.5.35', '3.6.16'),
    }));
    stage.world.kube.change(pod, { spec: { ...spec, containers } });
    await stage.until('it runs', () => versions(stage).includes('3.6.16'));
    stage.world.edit({ version: '3.6.16' });
    await reached(stage, '3.6.16');
  },

  /** The node of a member is lost in the middle of an upgrade. */
  async memberIsLostInTheMiddle(stage: Stage) {
    await asked(stage, { from: '3.5.35', to: '3.6.16', repair: { replaceAfterSeconds: 0 } });
    await stage.until('one is upgraded', () => versions(stage).includes('3.6.16'));
    const { name } = stage.follower(1);
    stage.takePod(name);
    stage.takeClaim(name);
    await reached(stage, '3.6.16');
  },

  /** Its members' pods hold the data: a change that needs other pods cannot come with a version. */
  async dataIsInPodsThatWouldHaveToGo(stage: Stage) {
    stage.remake({ isEphemeral: true });
    await stage.createInPods({ size: 3, version: '3.6.15' });
    stage.world.edit({ version: '3.6.16', etcd: { snapshotCount: 7_000 } });
    await stopped(stage, 'EphemeralMembers');
    stage.world.kube.merge('EtcdCluster', CLUSTER, { spec: { etcd: { snapshotCount: 0 } } });
    await reached(stage, '3.6.16');
  },

  /** What a pod was made of somebody has taken off it: it may need another one. */
  async podTellsNothingOfItself(stage: Stage) {
    await asked(stage, { from: '3.6.15', to: '3.6.16' }, () => {
      const pod = stage.pod(stage.follower().name);
      const { [ANNOTATION_RENDERED]: _, ...annotations } = pod.metadata.annotations ?? {};
      stage.world.kube.change(pod, { metadata: { ...pod.metadata, annotations } });
    });
    await reached(stage, '3.6.16');
  },

  /** A learner of somebody else's is there. */
  async strangerIsThereBeforeAnUpgrade(stage: Stage) {
    await asked(stage, { from: '3.6.15', to: '3.6.16' }, () => {
      stage.world.etcd.addByHand(stage.leader(), 'http://stranger.elsewhere:2380', true);
    });
    await stage.pass(A_WHILE);
    if (stage.world.decision.reason !== 'ForeignMember') throw new Breach('nobody is told of the stranger');
    const stranger = stage.learner();
    stage.world.etcd.removeByHand(stage.leader(), stranger?.id ?? '');
    await reached(stage, '3.6.16');
  },

  /** Nobody knows any more what was under way. */
  async statusIsLostInTheMiddle(stage: Stage) {
    await asked(stage, { from: '3.5.35', to: '3.7.3', ...STEP_BY_STEP });
    await stage.until('one is upgraded', () => versions(stage).includes('3.6.16'));
    stage.loseStatus();
    const old = stage.followers().find(({ version }) => version === '3.5.35');
    stage.takePod(old?.name ?? '');
    await stopped(stage, 'VersionsDiffer');
    stage.world.edit({ version: '3.6.16' });
    await reached(stage, '3.6.16');
  },
};

function versions(stage: Stage): string[] {
  return [...stage.world.etcd.processes.values()].map(({ version }) => version);
}
