/** Scenes about versions that are refused, and backups that come before an upgrade: see scenes.ts. */
import { BACKUP } from './sim-backups.ts';
import { CLUSTER } from './invariants.ts';
import { agreedOn } from './sim-versions.ts';
import type { Stage } from './stage.ts';

const HOURS = 2 * 3_600;

/** A cluster whose EtcdBackup has made its last backup too long ago. */
async function backedUpLongAgo(stage: Stage): Promise<void> {
  await stage.create({ size: 3, version: '3.6.15' });
  stage.world.backups.take(CLUSTER, stage.leader());
  stage.skip(HOURS);
  await stage.rest();
  stage.world.edit({ version: '3.6.16' });
}

async function arrived(stage: Stage): Promise<void> {
  await stage.until('every member runs 3.6.16', () =>
    [...stage.world.etcd.processes.values()].every(({ version }) => version === '3.6.16'),
  );
  await stage.rest();
}

export const adviceScenes = {
  /** What nobody offers, and what there is no way to: each is said, and nothing is touched. */
  async versionsAreRefused(stage: Stage) {
    await stage.create({ size: 1, version: '3.5.25' });
    for (const [version, reason] of [
      ['3.4.1', 'VersionUnsupported'],
      ['3.5.1', 'ForbiddenVersion'],
      ['3.6.16', 'BelowFloor'],
      ['3.7.3', 'SkipsMinor'],
    ] as const) {
      stage.world.edit({ version });
      await stage.until(`${version} is refused`, () =>
        ['BelowFloor', reason].includes(stage.world.decision.reason ?? ''),
      );
    }
    stage.world.edit({ version: '3.5.24' });
    await stage.until('it is older', () =>
      [...stage.world.etcd.processes.values()].some(({ version }) => version === '3.5.24'),
    );
    await stage.rest();
  },

  async settingsAreGoneInTheNextMinor(stage: Stage) {
    const etcdEnv = [{ name: 'ETCD_EXPERIMENTAL_COMPACTION_BATCH_LIMIT', value: '1000' }];
    await stage.create({ size: 1, version: '3.6.16', pod: { etcdEnv } });
    stage.world.edit({ version: '3.7.3' });
    await stage.blockedBy('SettingsGone');
    stage.world.edit({ pod: { etcdEnv: [] }, version: '3.6.16' });
    await stage.rest();
  },

  /** The leader does not raise the version of the cluster, and that is said after a while. */
  async clusterDoesNotArrive(stage: Stage) {
    await stage.create({ size: 1, version: '3.5.35' });
    await stage.until('it has arrived in 3.5', () => agreedOn(stage.leader().disk) === '3.5');
    stage.world.etcd.raises = false;
    stage.world.edit({ version: '3.6.16' });
    await stage.about('awaitAgreement');
    stage.skip(400);
    await stage.blockedBy('ClusterVersionBehind');
    stage.world.etcd.raises = true;
    await stage.rest();
  },

  async backupIsMadeBeforeAnUpgrade(stage: Stage) {
    await backedUpLongAgo(stage);
    await stage.about('awaitBackup');
    stage.world.now += 1_000;
    stage.world.backups.take(CLUSTER, stage.leader());
    stage.world.backups.ran('Succeeded');
    await arrived(stage);
  },

  async backupBeforeAnUpgradeFails(stage: Stage) {
    await backedUpLongAgo(stage);
    stage.world.edit({ upgrade: { snapshotBefore: 'Required' } });
    await stage.about('awaitBackup');
    stage.world.now += 1_000;
    stage.world.backups.ran('Failed');
    await stage.blockedBy('BackupFailed');
    stage.world.kube.delete('EtcdBackup', BACKUP);
    await stage.blockedBy('BackupMissing');
    stage.world.edit({ upgrade: { snapshotBefore: 'Never' } });
    await arrived(stage);
  },
};
