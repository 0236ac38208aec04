/** Which stored backup a verification is of, and what it may be called afterwards. */
import { describe, expect, it, test } from 'vitest';
import { backupWithDefaults } from '../../../src/api/defaults/etcd-backup.ts';
import type { EtcdBackup, EtcdBackupStatus } from '../../../src/api/schemas/types.ts';
import {
  verdictOutcome,
  planVerification,
  verifiedAfter,
} from '../../../src/planner/backup/stored-verification.ts';

const entry = (day: number) => ({
  time: `2026-11-${day}T10:00:00Z`,
  location: `s3://backups/etcd_v${day}`,
});
const FIRST = entry(20);
const SECOND = entry(21);

function planned(status: EtcdBackupStatus, location?: string) {
  const spec: EtcdBackup['spec'] = {
    clusterRef: { name: 'example' },
    storageType: 'S3',
    s3: { path: 'backups/etcd' },
  };
  const metadata = { namespace: 'shop', name: 'nightly', uid: '0b7e6e34' };
  const backup = {
    ...metadata,
    generation: 1,
    deleting: false,
    hasFinalizer: false,
    createdAt: 0,
    object: { metadata, spec } as EtcdBackup,
    config: backupWithDefaults(spec),
    status,
  };
  const verify = { uid: 'a request', ...(location !== undefined && { location }) };
  return planVerification({ backup, cluster: 'there' }, { verify });
}

describe('the backup that is meant', () => {
  it('is the newest, or the one that is named', () => {
    const status = { history: [FIRST, SECOND] };
    expect(planned(status)).toEqual({ kind: 'ready', location: SECOND.location, level: 'Structure' });
    expect(planned(status, FIRST.location)).toMatchObject({ location: FIRST.location });
  });

  it('is none that its run has not finished', () => {
    const progress = { startedAt: SECOND.time, written: true };
    expect(planned({ history: [FIRST, SECOND], progress })).toMatchObject({ location: FIRST.location });
    expect(planned({ history: [SECOND], progress })).toEqual({
      kind: 'refused',
      message: 'the only backup of EtcdBackup nightly is not finished',
    });
    expect(planned({ history: [FIRST, SECOND], progress }, SECOND.location)).toEqual({
      kind: 'refused',
      message: `${SECOND.location} is not finished: the run that writes it is under way`,
    });
  });
});

test.each([
  ['Checksum', { verified: 'Structure' }, 'Structure'],
  ['Restore', { verified: 'Structure' }, 'Restore'],
  ['', { verified: 'Structure' }, 'Structure'],
  ['Restore', { verified: '', fault: 'bad' }, ''],
  ['Checksum', { verified: '', doubt: 'nothing was read' }, 'Checksum'],
] as const)('a backup called "%s" with the verdict %o is called "%s"', (before, verdict, after) => {
  expect(verifiedAfter(before, verdict)).toBe(after);
});

test('less than was asked for is said as that', () => {
  const wanted = { level: 'Restore', location: FIRST.location } as const;
  expect(verdictOutcome(wanted, { verified: 'Restore' }).outcome).toBe('Verified');
  expect(verdictOutcome(wanted, { verified: 'Structure', doubt: 'no hash' })).toEqual({
    outcome: 'PartlyVerified',
    message: `${FIRST.location}: Structure verified only: no hash`,
  });
});
