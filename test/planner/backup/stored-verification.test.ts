/** Which stored backup a verification is of, and what it may be called afterwards. */
import { describe, expect, it, test } from 'vitest';
import { backupWithDefaults } from '../../../src/api/defaults/etcd-backup.ts';
import type { EtcdBackup, EtcdBackupStatus } from '../../../src/api/schemas/types.ts';
import {
  verdictEvents,
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

const OF_CLUSTER = { clusterRef: { name: 'example' } } as const;

function planned(
  status: EtcdBackupStatus,
  location?: string,
  {
    of = OF_CLUSTER,
    deleting = false,
    cluster,
  }: { of?: Partial<EtcdBackup['spec']>; deleting?: boolean; cluster?: string } = {},
) {
  const spec: EtcdBackup['spec'] = { ...of, storageType: 'S3', s3: { path: 'backups/etcd' } };
  const metadata = { namespace: 'shop', name: 'nightly', uid: '0b7e6e34' };
  const backup = {
    ...metadata,
    generation: 1,
    deleting,
    hasFinalizer: false,
    createdAt: 0,
    object: { metadata, spec } as EtcdBackup,
    config: backupWithDefaults(spec),
    status,
  };
  const verify = {
    uid: 'a request',
    ...(location !== undefined && { location }),
    ...(cluster !== undefined && { cluster }),
  };
  return planVerification({ backup, cluster: 'there' }, { verify });
}

describe('the backup that is meant', () => {
  it('is the newest, or the one that is named', () => {
    const status = { history: [FIRST, SECOND] };
    expect(planned(status)).toEqual({ kind: 'ready', location: SECOND.location, level: 'Structure' });
    expect(planned(status, FIRST.location)).toMatchObject({ location: FIRST.location });
  });

  it('is none that only the second store has', () => {
    const history = [{ ...SECOND, heldIn: 'Second' as const }];
    expect(planned({ history })).toEqual({
      kind: 'refused',
      message: expect.stringContaining(`${SECOND.location} is only in the second store`),
    });
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

describe('a verification is refused', () => {
  const status = { history: [FIRST] };

  it('of an EtcdBackup that is being deleted', () => {
    expect(planned(status, undefined, { deleting: true })).toEqual({
      kind: 'refused',
      message: 'EtcdBackup shop/nightly is being deleted',
    });
  });

  it('of an EtcdBackup of another cluster, or of an etcd outside of Kubernetes', () => {
    expect(planned(status, undefined, { cluster: 'other' })).toMatchObject({
      message: 'EtcdBackup shop/nightly is of EtcdCluster example, not of EtcdCluster other',
    });
    const of = { etcdEndpoints: ['http://etcd:2379'] };
    expect(planned(status, undefined, { of, cluster: 'other' })).toMatchObject({
      message: 'EtcdBackup shop/nightly is of the etcd at spec.etcdEndpoints, not of EtcdCluster other',
    });
  });
});

test('a verdict is an event once', () => {
  const verification = {
    request: 'a request',
    location: FIRST.location,
    level: 'Structure',
    startedAt: FIRST.time,
    completedAt: SECOND.time,
    outcome: 'Verified',
  } as const;
  const after = { verification };
  expect(verdictEvents({}, after)).toMatchObject([{ reason: 'StoredBackupVerified' }]);
  expect(verdictEvents({ verification: { ...verification, request: 'another' } }, after)).toHaveLength(1);
  expect(verdictEvents(after, after)).toEqual([]);
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
  expect(verdictOutcome(wanted, { verified: '', doubt: 'no object' }).message).toBe(
    `${FIRST.location}: nothing verified only: no object`,
  );
});
