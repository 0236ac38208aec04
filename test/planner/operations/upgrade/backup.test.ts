/** What becomes of the backup that an upgrade has asked for. */
import { describe, expect, it } from 'vitest';
import type { BackupOfCluster } from '../../../../src/planner/model/backups-of-cluster.ts';
import type { Goal } from '../../../../src/planner/model/upgrade-goal.ts';
import { backUpFirst, noteOnBackup } from '../../../../src/planner/operations/upgrade/backup.ts';
import { consented } from '../../../../src/planner/operations/upgrade/consent.ts';
import { situationOf } from '../../../../src/planner/situation.ts';
import { aCluster, anIncarnation, aRunningCluster, aRunningStatus, NOW } from '../../../worlds/builders.ts';

const HOP: Goal = { kind: 'go', from: '3.6.15', to: '3.6.16', after: [], notes: [] };
const minutesAgo = (minutes: number) =>
  new Date(Date.parse(NOW) - minutes * 60_000).toISOString().replace('.000', '');

/** An upgrade that asked for a backup 70 minutes ago. */
function decided(
  given: Partial<BackupOfCluster>,
  isOpen = true,
  {
    snapshotBefore = 'Required',
    beside = [],
    restored,
  }: {
    snapshotBefore?: 'Required' | 'IfPossible';
    beside?: readonly string[];
    restored?: string;
  } = {},
) {
  const backup: BackupOfCluster = {
    name: 'nightly',
    uid: 'u-1',
    asked: minutesAgo(70),
    newest: undefined,
    lastRun: { startedAt: minutesAgo(69), completedAt: minutesAgo(65), outcome: 'Succeeded' },
    nextRun: undefined,
    timeoutSeconds: 600,
    ...given,
  };
  const cluster = aCluster({
    spec: { size: 3, version: HOP.to, upgrade: { snapshotBefore } },
    status: {
      ...aRunningStatus(),
      incarnation: { ...anIncarnation(), ...(restored && { createdAt: restored }) },
    },
  });
  const others = beside.map(name => ({ ...backup, name, uid: `u-${name}` }));
  const situation = situationOf(aRunningCluster({ cluster, backups: [backup, ...others] }));
  return backUpFirst(situation, HOP, { waiting: situation.pods, steps: [], isOpen });
}

describe('an upgrade whose members had to be waited for after its backup was made', () => {
  it('goes on with that backup', () => {
    const newest = { time: minutesAgo(65), location: 's3://b/k_v7', verified: 'Checksum' };
    expect(decided({ newest })).toBeUndefined();
    expect(decided({ newest: { ...newest, time: minutesAgo(75) } })).toBeDefined();
  });

  it('says why a backup that was just made does not count', () => {
    const lastRun = { startedAt: minutesAgo(50), completedAt: minutesAgo(45), outcome: 'Succeeded' } as const;
    expect(decided({ lastRun })).toMatchObject({
      kind: 'blocked',
      message: expect.stringContaining('its backup is not a verified backup of this cluster'),
    });
  });

  it('asks again when the cluster was restored since it asked: the answer had the data of before', () => {
    const lastRun = { startedAt: minutesAgo(50), completedAt: minutesAgo(45), outcome: 'Succeeded' } as const;
    expect(decided({ lastRun }, true, { restored: minutesAgo(40) })).toMatchObject({
      kind: 'operate',
      step: { kind: 'requestBackup', backup: 'nightly' },
    });
  });

  it('says which backup is too old while it cannot begin', () => {
    const newest = { time: minutesAgo(90), location: 's3://b/k_v7', verified: 'Checksum' };
    const lastRun = { startedAt: minutesAgo(90), completedAt: minutesAgo(80), outcome: 'Succeeded' } as const;
    expect(decided({ newest, lastRun, asked: minutesAgo(200) }, false)).toMatchObject({
      kind: 'blocked',
      message: expect.stringContaining(
        `the newest is from ${newest.time}; the operator requests one when nothing else prevents the upgrade`,
      ),
    });
  });

  it('does not wait for a backup that is not required, and asks for none before it can begin', () => {
    expect(decided({ asked: minutesAgo(200) }, false, { snapshotBefore: 'IfPossible' })).toBeUndefined();
    expect(decided({ asked: minutesAgo(200) }, true, { snapshotBefore: 'IfPossible' })).toMatchObject({
      step: { kind: 'requestBackup' },
    });
  });

  it('asks the first by name of those that have made none', () => {
    expect(decided({ asked: minutesAgo(200) }, true, { beside: ['weekly', 'hourly'] })).toMatchObject({
      step: { kind: 'requestBackup', backup: 'hourly' },
    });
  });

  it('asks once more when none was made, as soon as it could begin', () => {
    const lastRun = { startedAt: minutesAgo(69), completedAt: minutesAgo(65), outcome: 'Failed' } as const;
    expect(decided({ lastRun })).toMatchObject({ kind: 'operate', step: { kind: 'requestBackup' } });
    expect(decided({ lastRun }, false)).toMatchObject({ kind: 'blocked' });
  });
});

describe('an upgrade to another minor without a backup', () => {
  const note = (to: string, upgrade: object, backups: readonly BackupOfCluster[] = []) => {
    const cluster = aCluster({ spec: { size: 3, version: to, upgrade }, status: aRunningStatus() });
    return noteOnBackup(situationOf(aRunningCluster({ cluster, backups })), { ...HOP, to });
  };

  it('says before it begins that nothing leads back', () => {
    for (const upgrade of [{}, { snapshotBefore: 'Never' }])
      expect(note('3.7.3', upgrade)).toEqual([
        expect.stringMatching(
          /^no backup: .* nothing returns to the data of before once every member runs 3.7.3$/,
        ),
      ]);
    expect(note('3.6.16', {})).toEqual(['no backup: no EtcdBackup refers to this cluster']);
    expect(note('3.6.16', { snapshotBefore: 'Never' })).toEqual([]);
    // One that was not asked for is not named.
    const newest = { time: minutesAgo(5), location: 's3://b/k_v7', verified: 'Checksum' };
    const nightly = { name: 'nightly', uid: 'u-1', newest, lastRun: undefined, nextRun: undefined };
    const made = [{ ...nightly, timeoutSeconds: 600 }];
    expect(note('3.7.3', { snapshotBefore: 'Never' }, made)).toEqual([]);
    expect(note('3.7.3', {}, made)).toEqual([`newest verified backup: s3://b/k_v7 from ${minutesAgo(5)}`]);
  });

  it('says it to the person who is asked whether it may begin', () => {
    const upgrade = { strategy: 'Supervised' } as const;
    const cluster = aCluster({ spec: { size: 3, version: '3.7.3', upgrade }, status: aRunningStatus() });
    const situation = situationOf(aRunningCluster({ cluster }));
    expect(consented(situation, { ...HOP, to: '3.7.3' }, situation.pods)).toMatchObject({
      obstacle: { message: expect.stringContaining('nothing returns to the data of before') },
    });
  });
});
