/** Scenarios about versions that are refused, and backups that come before an upgrade: see scenarios.ts. */
import { BACKUP } from './sim-backups.ts';
import { CLUSTER } from './invariants.ts';
import { agreedOn } from './sim-versions.ts';
import type { ScriptedWorld } from './scripted-world.ts';

const HOURS = 2 * 3_600;

/** A cluster whose EtcdBackup has made its last backup too long ago. */
async function backedUpLongAgo(scripted: ScriptedWorld): Promise<void> {
  await scripted.create({ size: 3, version: '3.6.15' });
  scripted.world.backups.take(CLUSTER, scripted.leader());
  scripted.skip(HOURS);
  await scripted.rest();
  scripted.world.edit({ version: '3.6.16' });
}

async function arrived(scripted: ScriptedWorld): Promise<void> {
  await scripted.until('every member runs 3.6.16', () =>
    [...scripted.world.etcd.processes.values()].every(({ version }) => version === '3.6.16'),
  );
  await scripted.rest();
}

export const adviceScenarios = {
  /** What nobody offers, and what there is no way to: each is said, and nothing is touched. */
  async versionsAreRefused(scripted: ScriptedWorld) {
    await scripted.create({ size: 1, version: '3.5.25' });
    for (const [version, reason] of [
      ['3.4.1', 'VersionUnsupported'],
      ['3.5.1', 'ForbiddenVersion'],
      ['3.6.16', 'BelowFloor'],
      ['3.7.3', 'SkipsMinor'],
    ] as const) {
      scripted.world.edit({ version });
      await scripted.until(`${version} is refused`, () =>
        ['BelowFloor', reason].includes(scripted.world.decision.reason ?? ''),
      );
    }
    scripted.world.edit({ version: '3.5.24' });
    await scripted.until('it is older', () =>
      [...scripted.world.etcd.processes.values()].some(({ version }) => version === '3.5.24'),
    );
    await scripted.rest();
  },

  async settingsAreGoneInTheNextMinor(scripted: ScriptedWorld) {
    const etcdEnv = [{ name: 'ETCD_EXPERIMENTAL_COMPACTION_BATCH_LIMIT', value: '1000' }];
    await scripted.create({ size: 1, version: '3.6.16', pod: { etcdEnv } });
    scripted.world.edit({ version: '3.7.3' });
    await scripted.blockedBy('SettingsGone');
    scripted.world.edit({ pod: { etcdEnv: [] }, version: '3.6.16' });
    await scripted.rest();
  },

  /** The leader does not raise the version of the cluster, and that is said after a while. */
  async clusterDoesNotArrive(scripted: ScriptedWorld) {
    await scripted.create({ size: 1, version: '3.5.35' });
    await scripted.until('it has arrived in 3.5', () => agreedOn(scripted.leader().disk) === '3.5');
    scripted.world.etcd.raises = false;
    scripted.world.edit({ version: '3.6.16' });
    await scripted.about('awaitAgreement');
    scripted.skip(400);
    await scripted.blockedBy('ClusterVersionBehind');
    scripted.world.etcd.raises = true;
    await scripted.rest();
  },

  async backupIsMadeBeforeAnUpgrade(scripted: ScriptedWorld) {
    await backedUpLongAgo(scripted);
    await scripted.about('awaitBackup');
    scripted.world.now += 1_000;
    scripted.world.backups.take(CLUSTER, scripted.leader());
    scripted.world.backups.ran('Succeeded');
    await arrived(scripted);
  },

  async backupBeforeAnUpgradeFails(scripted: ScriptedWorld) {
    await backedUpLongAgo(scripted);
    scripted.world.edit({ upgrade: { snapshotBefore: 'Required' } });
    await scripted.about('awaitBackup');
    scripted.world.now += 1_000;
    scripted.world.backups.ran('Failed');
    await scripted.blockedBy('BackupFailed');
    scripted.world.kube.delete('EtcdBackup', BACKUP);
    await scripted.blockedBy('BackupMissing');
    scripted.world.edit({ upgrade: { snapshotBefore: 'Never' } });
    await arrived(scripted);
  },
};
