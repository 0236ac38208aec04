/** What status remembers of before an upgrade to another minor, and the way back that follows from it. */
import { describe, expect, it } from 'vitest';
import type { BeforeUpgrade, EtcdClusterSpec } from '../../../../src/api/schemas/types.ts';
import type { BackupOfCluster } from '../../../../src/planner/model/backups-of-cluster.ts';
import { restoredVersion } from '../../../../src/planner/model/restored-version.ts';
import { recordedBefore } from '../../../../src/planner/operations/upgrade/before.ts';
import { returnByRestore } from '../../../../src/planner/operations/upgrade/way-back.ts';
import { situationOf } from '../../../../src/planner/situation.ts';
import type { Goal } from '../../../../src/planner/model/upgrade-goal.ts';
import { aCluster, aRunningCluster, aRunningStatus } from '../../../worlds/builders.ts';

const BACKUP = { name: 'nightly', location: 's3://b/k_v7', time: '2026-11-21T11:50:00Z', revision: 7 };
const NIGHTLY: BackupOfCluster = {
  name: 'nightly',
  uid: 'u-1',
  newest: { location: BACKUP.location, time: BACKUP.time, revision: 7, verified: 'Checksum' },
  lastRun: undefined,
  nextRun: undefined,
  timeoutSeconds: 600,
};
const go = (from: string, to: string): Goal => ({ kind: 'go', from, to, after: [], notes: [] });

/** Members that run these versions, in their order. */
function recorded({
  goal,
  versions = ['3.5.35', '3.5.35', '3.5.35'],
  before,
  backups = [NIGHTLY],
  wanted = '3.6.16',
}: {
  readonly goal: Goal | undefined;
  readonly versions?: readonly string[];
  readonly before?: BeforeUpgrade;
  readonly backups?: readonly BackupOfCluster[];
  readonly wanted?: string;
}) {
  const spec: EtcdClusterSpec = { size: 3, version: wanted };
  const status = {
    ...aRunningStatus(),
    currentVersion: versions[0] ?? '',
    ...(before && { beforeUpgrade: before }),
  };
  const running = aRunningCluster({ cluster: aCluster({ spec, status }), backups });
  const pods = running.pods.map((pod, index) => ({ ...pod, version: versions[index] }));
  const situation = { ...situationOf({ ...running, pods }), goal: goal ?? ({ kind: 'none' } as const) };
  return recordedBefore(situation);
}

describe('before an upgrade to another minor', () => {
  it('the newest backup is remembered until the first member is upgraded', () => {
    const goal = go('3.5.35', '3.6.16');
    const before = { version: '3.5.35', to: '3.6.16', backup: BACKUP };
    expect(recorded({ goal })).toEqual(before);
    const older = { ...before, backup: { ...BACKUP, location: 's3://b/k_v1' } };
    expect(recorded({ goal, before: older })).toEqual(before);
    expect(recorded({ goal, before: older, versions: ['3.6.16', '3.5.35', '3.5.35'] })).toEqual(older);
  });

  it('a missing backup is remembered as well', () => {
    expect(recorded({ goal: go('3.5.35', '3.6.16'), backups: [] })).toEqual({
      version: '3.5.35',
      to: '3.6.16',
    });
  });

  it('of an upgrade through two minors the first is remembered', () => {
    const versions = ['3.6.16', '3.6.16', '3.6.16'];
    const goal = go('3.6.16', '3.7.3');
    const before = { version: '3.5.35', to: '3.7.3', backup: BACKUP };
    expect(recorded({ goal, versions, before, wanted: '3.7.3' })).toEqual(before);
    // Asked for later it is another upgrade.
    expect(recorded({ goal, versions, before: { ...before, to: '3.6.16' }, wanted: '3.7.3' })).toMatchObject({
      version: '3.6.16',
    });
  });

  it('nothing of it is forgotten with another patch, and all of it when the members are of that minor again', () => {
    const before = { version: '3.5.35', to: '3.6.15', backup: BACKUP };
    const versions = ['3.6.15', '3.6.15', '3.6.15'];
    expect(recorded({ goal: go('3.6.15', '3.6.16'), versions, before })).toEqual(before);
    expect(recorded({ goal: undefined, versions, before })).toEqual(before);
    expect(recorded({ goal: undefined, before })).toBeUndefined();
  });
});

describe('the way back', () => {
  const situation = (wanted: string) => ({
    cluster: aCluster({
      spec: { version: wanted },
      status: {
        ...aRunningStatus(),
        currentVersion: '3.6.16',
        beforeUpgrade: { version: '3.5.35', to: '3.6.16', backup: BACKUP },
      },
    }),
  });

  it('names the version, the backup and the command', () => {
    const back =
      'restore the backup from before the upgrade with "kubectl etcd restore example --before-upgrade"';
    expect(returnByRestore(situation('3.6.16'))).toContain(`set spec.version to 3.5.35 and ${back}`);
    expect(returnByRestore(situation('3.5.35'))).toContain(`(revision 7), ${back}`);
  });

  it('is not offered without a backup', () => {
    const { cluster } = situation('3.6.16');
    const status = { ...cluster.status, beforeUpgrade: { version: '3.5.35', to: '3.6.16' } };
    expect(returnByRestore({ cluster: { ...cluster, status } })).toBeUndefined();
  });

  it.each([
    ['3.5.35', { etcdVersion: '3.5.35' }, '3.5.35'],
    // An object without a manifest says only of which format its data is, and that from 3.6 on.
    ['3.5.35', {}, '3.5.35'],
    // Members of the older minor could not read it.
    ['3.5.35', { etcdVersion: '3.6.16' }, '3.6.16'],
    ['3.5.35', { storageVersion: '3.6.0' }, '3.6.16'],
    // A restore never upgrades, nor does it go to another patch.
    ['3.7.3', { etcdVersion: '3.5.35' }, '3.6.16'],
    ['3.6.15', { etcdVersion: '3.5.35' }, '3.6.16'],
    ['3.4.40', { etcdVersion: '3.4.40' }, '3.6.16'],
  ])('when spec.version is %s, a backup with %o is restored with %s', (wanted, source, version) => {
    expect(restoredVersion(situation(wanted).cluster, source)).toBe(version);
  });
});
