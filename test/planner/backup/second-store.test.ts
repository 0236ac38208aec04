/** What is to be copied, where to, when it is tried again, and what the condition Copied says. */
import { describe, expect, it, test } from 'vitest';
import { keyOfCopy } from '../../../src/api/derived/backup-names.ts';
import { backupWithDefaults } from '../../../src/api/defaults/etcd-backup.ts';
import type {
  BackupEntry,
  EtcdBackup,
  EtcdBackupSpec,
  EtcdBackupStatus,
} from '../../../src/api/schemas/types.ts';
import { secondStoreFaults } from '../../../src/api/validation/store-faults.ts';
import { validateBackup } from '../../../src/api/validation/validate.ts';
import { timestamp } from '../../../src/api/values/time.ts';
import type { BackupObservation } from '../../../src/planner/backup/observation.ts';
import {
  afterAttempt,
  copyEvents,
  copyOf,
  lookAtCopiesInTime,
  missingCopies,
  placeOfCopy,
  planCopies,
  surplusCopies,
  withCopies,
} from '../../../src/planner/backup/second-store.ts';

const NOW = Date.parse('2026-11-28T12:00:00Z');
const MINUTE = 60_000;
const SPEC: EtcdBackupSpec = {
  clusterRef: { name: 'example' },
  storageType: 'S3',
  s3: { path: 'backups/etcd/a' },
  secondStore: { storageType: 'ABS', abs: { path: 'far/copies/a', absSecret: 'azure' } },
};
const two = (hour: number) => String(hour).padStart(2, '0');
const entry = (hour: number, more: Partial<BackupEntry> = {}): BackupEntry => ({
  time: `2026-11-28T${two(hour)}:00:00Z`,
  location: `s3://backups/etcd/a_v${hour}_2026-11-28-${two(hour)}:00:00`,
  verified: 'Checksum',
  ...more,
});
const copy = (hour: number) => ({
  location: `abs://far/copies/a_v${hour}_2026-11-28-${two(hour)}:00:00`,
  verifiedAt: '2026-11-28T11:30:00Z',
});
const inBoth = (hour: number) => entry(hour, { heldIn: 'Both', secondStore: copy(hour) });

function seen(status: EtcdBackupStatus, spec: EtcdBackupSpec = SPEC, deleting = false): BackupObservation {
  const metadata = { namespace: 'shop', name: 'nightly', uid: '0b7e6e34' };
  const object = { metadata, spec, status } as EtcdBackup;
  const config = backupWithDefaults(spec);
  const facts = {
    ...metadata,
    generation: 2,
    deleting,
    hasFinalizer: false,
    createdAt: 0,
    object,
    config,
    status,
  };
  return { now: NOW, backup: facts };
}

const known = (more: object = {}) => ({
  location: 'abs://far/copies/a',
  since: '2026-11-28T09:30:00Z',
  behind: 0,
  lookedAt: '2026-11-28T11:30:00Z',
  generation: 2,
  ...more,
});

describe('a copy', () => {
  it('has the key of its backup below the path of the second store', () => {
    expect(keyOfCopy('etcd/a_v5_2026-11-28-10:00:00', 'etcd/a', 'x/y')).toBe('x/y_v5_2026-11-28-10:00:00');
    expect(keyOfCopy('etcd/a', 'etcd/a', 'x')).toBe('x');
    expect(keyOfCopy('etcd/another', 'etcd/a', 'x')).toBeUndefined();
    expect(placeOfCopy({ spec: SPEC }, entry(10))?.location).toBe(copy(10).location);
    const { secondStore: _, ...without } = SPEC;
    expect(placeOfCopy({ spec: without }, entry(10))).toBeUndefined();
  });

  it('is one of the store that is named now, and of no other', () => {
    expect(copyOf({ spec: SPEC }, inBoth(10))).toEqual(copy(10));
    const moved = { ...SPEC, secondStore: { storageType: 'ABS', abs: { path: 'near/copies/a' } } } as const;
    expect(copyOf({ spec: moved }, inBoth(10))).toBeUndefined();
    const { secondStore: _, ...without } = SPEC;
    expect(copyOf({ spec: without }, inBoth(10))).toBeUndefined();
    expect(copyOf({ spec: SPEC }, entry(10))).toBeUndefined();
    const endpoint = { ...copy(10), endpoint: 'https://elsewhere.example' };
    const there = {
      ...SPEC,
      secondStore: { storageType: 'ABS', abs: { path: 'far/copies/a', endpoint: 'https://here.example' } },
    } as const;
    expect(copyOf({ spec: there }, entry(10, { secondStore: endpoint }))).toBeUndefined();
  });

  it('is missing of what is verified, finished, of this path, and still in the first store', () => {
    const history = [
      entry(11),
      inBoth(10),
      entry(9, { verified: '' }),
      entry(8, { heldIn: 'Second' }),
      entry(7, { location: 's3://backups/another' }),
      entry(6),
    ].map(each => each);
    const progress = { startedAt: entry(11).time };
    const missing = (status: EtcdBackupStatus) => missingCopies(seen(status).backup).map(({ time }) => time);
    expect(missing({ history })).toEqual([entry(11).time, entry(6).time]);
    expect(missing({ history, progress })).toEqual([entry(6).time]);
  });

  it('beyond the retention goes by what the second store has', () => {
    const spec = { ...SPEC, backupPolicy: { maxBackups: 1, backupIntervalInSecond: 60 } };
    const locations = (status: EtcdBackupStatus) =>
      surplusCopies(seen(status, spec)).map(({ location }) => location);
    expect(locations({ history: [inBoth(11), entry(10), inBoth(10)] })).toEqual([inBoth(10).location]);
    expect(locations({ history: [entry(11), inBoth(10)] })).toEqual([]);
    const locked = entry(10, { heldIn: 'Second', secondStore: { ...copy(10), locked: true } });
    expect(locations({ history: [inBoth(11), locked] })).toEqual([]);
  });
});

describe('copying', () => {
  const isPlanned = (status: EtcdBackupStatus, spec: EtcdBackupSpec = SPEC) =>
    planCopies(seen(status, spec), {}) !== undefined;

  it('begins when the second store was never looked at, lacks a backup, or was last looked at a day ago', () => {
    expect(isPlanned({})).toBe(true);
    expect(isPlanned({ history: [entry(11)], secondStore: known() })).toBe(true);
    expect(isPlanned({ history: [inBoth(11)], secondStore: known() })).toBe(false);
    expect(
      isPlanned({ history: [inBoth(11)], secondStore: known({ lookedAt: '2026-11-27T11:59:59Z' }) }),
    ).toBe(true);
  });

  it('begins when a copy is beyond the retention', () => {
    const spec = { ...SPEC, backupPolicy: { maxBackups: 1, backupIntervalInSecond: 60 } };
    expect(isPlanned({ history: [inBoth(11), inBoth(10)], secondStore: known() }, spec)).toBe(true);
  });

  it('begins again only when it is time, or when the specification has changed', () => {
    const failing = { failures: 2, retryAt: timestamp(NOW + MINUTE), reason: 'SecondStoreFull' };
    const history = [entry(11)];
    expect(isPlanned({ history, secondStore: known(failing) })).toBe(false);
    expect(isPlanned({ history, secondStore: known({ ...failing, generation: 1 }) })).toBe(true);
    expect(isPlanned({ history, secondStore: known({ ...failing, retryAt: timestamp(NOW) }) })).toBe(true);
  });

  it('begins neither without a second store, nor with a wrong one, nor for a specification that is refused', () => {
    const { secondStore: _, ...without } = SPEC;
    expect(isPlanned({}, without)).toBe(false);
    expect(
      isPlanned({}, { ...SPEC, secondStore: { storageType: 'S3', s3: { path: 'backups/etcd/a/b' } } }),
    ).toBe(false);
    expect(isPlanned({}, { ...SPEC, backupPolicy: { schedule: 'never' } })).toBe(false);
  });

  it('begins neither while it is paused nor when the EtcdBackup is being deleted', () => {
    expect(planCopies(seen({}), { paused: { by: 'ana' } })).toBeUndefined();
    expect(planCopies(seen({}, SPEC, true), {})).toBeUndefined();
  });

  it('leaves a volume to the backup that is being made', () => {
    const spec: EtcdBackupSpec = { ...SPEC, storageType: 'File', file: { claim: 'backups', path: 'a' } };
    expect(isPlanned({ progress: { startedAt: timestamp(NOW) } }, spec)).toBe(false);
    expect(isPlanned({ progress: { startedAt: timestamp(NOW) } })).toBe(true);
    expect(isPlanned({}, spec)).toBe(true);
  });

  it('is looked at again when the next attempt is due', () => {
    const idle = { kind: 'idle', nextPassSeconds: 3_600 } as const;
    const retry = { ...known({ retryAt: timestamp(NOW + 2 * MINUTE) }) };
    const at = (secondStore: object) =>
      lookAtCopiesInTime(idle, seen({ history: [inBoth(11)], secondStore } as EtcdBackupStatus));
    expect(at(retry)).toMatchObject({ nextPassSeconds: 120 });
    expect(at(known())).toEqual(idle);
    expect(lookAtCopiesInTime({ kind: 'gone' }, seen({}))).toEqual({ kind: 'gone' });
    expect(lookAtCopiesInTime(idle, seen({}))).toMatchObject({ nextPassSeconds: 60 });
    const { secondStore: _, ...without } = SPEC;
    expect(lookAtCopiesInTime(idle, seen({}, without))).toEqual(idle);
  });

  it('is put off longer with every failure, up to half an hour, and forgets them when it succeeds', () => {
    const fault = { reason: 'SecondStoreUnavailable', message: 'away' } as const;
    const at = { now: NOW, generation: 2 };
    const waits = [1, 2, 3, 9].map(failures => {
      const { retryAt = '' } = afterAttempt(known({ failures: failures - 1 }), fault, at);
      return (Date.parse(retryAt) - NOW) / MINUTE;
    });
    expect(waits).toEqual([1, 2, 4, 30]);
    expect(
      afterAttempt(known({ failures: 3, retryAt: 'x', reason: 'x', message: 'x' }), undefined, at),
    ).toEqual(known({ lookedAt: timestamp(NOW) }));
  });
});

describe('the status', () => {
  const said = (status: EtcdBackupStatus, spec: EtcdBackupSpec = SPEC) =>
    withCopies(seen(status, spec), status);
  const condition = (status: EtcdBackupStatus) => status.conditions?.find(({ type }) => type === 'Copied');

  it('says which store has each backup, how many are missing, and since when', () => {
    const status = said({
      history: [entry(11), entry(10), inBoth(9), entry(8, { heldIn: 'Second', secondStore: copy(8) })],
      secondStore: known(),
    });
    expect(status.history?.map(({ heldIn }) => heldIn)).toEqual(['First', 'First', 'Both', 'Second']);
    expect(status.secondStore).toMatchObject({ behind: 2, behindSince: entry(10).time });
    expect(condition(status)).toMatchObject({
      reason: 'Copying',
      message: '2 of 4 backups are not in abs://far/copies/a, since 2026-11-28T10:00:00Z',
    });
  });

  it('counts what was there before the second store was named from then on', () => {
    const status = said({ history: [entry(8)], secondStore: known() });
    expect(status.secondStore).toMatchObject({ behind: 1, behindSince: known().since });
    expect(said({ history: [entry(8)] }).secondStore).toMatchObject({
      since: timestamp(NOW),
      behindSince: timestamp(NOW),
    });
  });

  it('begins anew with another second store', () => {
    const spec = { ...SPEC, secondStore: { storageType: 'GCS', gcs: { path: 'far/copies/a' } } } as const;
    const status = said({ history: [inBoth(9)], secondStore: known({ failures: 3 }) }, spec);
    expect(status.history).toEqual([{ ...entry(9), heldIn: 'First' }]);
    expect(status.secondStore).toMatchObject({ behind: 1, since: timestamp(NOW) });
    expect(status.secondStore).not.toHaveProperty('failures');
  });

  it('knows that another first store does not have what the former one had', () => {
    const spec: EtcdBackupSpec = { ...SPEC, s3: { path: 'new/etcd/a' } };
    expect(said({ history: [inBoth(9)] }, spec).history).toMatchObject([{ heldIn: 'Second' }]);
  });

  it('says that all is copied, and what is nowhere else', () => {
    const alone = entry(8, { heldIn: 'Second', secondStore: copy(8) });
    const status = said({ history: [inBoth(9), alone], secondStore: known() });
    expect(condition(status)).toMatchObject({
      status: 'True',
      reason: 'AllCopied',
      message: 'abs://far/copies/a has 2 backups, 1 of them only there: the first store does not have them',
    });
    expect(condition(said({ history: [inBoth(9)], secondStore: known() }))?.message).toBe(
      'abs://far/copies/a has 1 backups',
    );
  });

  it('does not know before the second store was looked at', () => {
    expect(condition(said({}))).toMatchObject({ status: 'Unknown', reason: 'NotLookedAt' });
  });

  it('says why copies are behind, also where none is missing', () => {
    const failing = known({ reason: 'SecondStoreRefuses', message: 'denied', retryAt: 'later' });
    expect(condition(said({ history: [inBoth(9)], secondStore: failing }))?.message).toBe(
      'denied; the operator tries again at later',
    );
    expect(condition(said({ history: [entry(9)], secondStore: failing }))?.message).toBe(
      `1 of 1 backups is not in abs://far/copies/a, since ${known().since}: denied; the operator tries again at later`,
    );
    const silent = known({ reason: 'SecondStoreRefuses' });
    expect(condition(said({ secondStore: silent } as EtcdBackupStatus))?.message).toBe('no reason was given');
  });

  it('says nothing of copies where there is no second store', () => {
    const { secondStore: _, ...without } = SPEC;
    const status = said({ ...said({ history: [inBoth(9)], secondStore: known() }) }, without);
    expect(status).toEqual({ history: [entry(9)], conditions: [] });
  });

  it('names the server where the specification does', () => {
    const spec = { ...SPEC, secondStore: { storageType: 'GCS', gcs: { path: 'far/a' } } } as const;
    expect(said({}, spec).secondStore?.location).toBe('gs://far/a at https://storage.googleapis.com');
  });
});

test('events say that copies cannot be made and that they are made again, and nothing of every backup', () => {
  const of = (reason?: string) =>
    ({
      conditions:
        reason === undefined
          ? []
          : [{ type: 'Copied', status: 'False', reason, message: reason, lastTransitionTime: '' }],
    }) as EtcdBackupStatus;
  const reasons = (before?: string, after?: string) =>
    copyEvents(of(before), of(after)).map(({ reason }) => reason);
  expect(reasons(undefined, 'NotLookedAt')).toEqual([]);
  expect(reasons('AllCopied', 'Copying')).toEqual([]);
  expect(reasons('Copying', 'AllCopied')).toEqual([]);
  expect(reasons('Copying', 'SecondStoreFull')).toEqual(['SecondStoreFull']);
  expect(reasons('SecondStoreFull', 'SecondStoreFull')).toEqual([]);
  expect(reasons('SecondStoreFull', 'AllCopied')).toEqual(['AllCopied']);
  expect(reasons('SecondStoreFull', undefined)).toEqual([]);
});

describe('a second store that makes no sense', () => {
  it.each<[string, EtcdBackupSpec['secondStore'], string]>([
    ['of an unknown type', { storageType: 'Tape' as 'S3' }, 'spec.secondStore.storageType "Tape" is unknown'],
    ['without its block', { storageType: 'GCS' }, 'needs the block spec.secondStore.gcs'],
    ['that is the first one', { storageType: 'S3', s3: { path: 'backups/etcd/a' } }, 'in the same bucket'],
    ['in its bucket', { storageType: 'S3', s3: { path: 'backups/x' } }, 'or at another endpoint'],
    [
      'below its path with another Secret',
      { storageType: 'S3', s3: { path: 'backups/etcd/ab', awsSecret: 'x' } },
      'would be lost together',
    ],
  ])('%s fails no backup, and its message says what to write', (_, secondStore, words) => {
    const spec = { ...SPEC, secondStore } as EtcdBackupSpec;
    expect(validateBackup({ spec }).blocking).toEqual([]);
    expect(secondStoreFaults(spec).join()).toContain(words);
    expect(
      withCopies(seen({}, spec), {})
        .conditions?.map(({ message }) => message)
        .join() ?? '',
    ).toContain(secondStore?.storageType === 'S3' ? words : '');
  });

  it('is one on the same claim', () => {
    const file = { claim: 'backups', path: 'a' };
    const spec: EtcdBackupSpec = {
      storageType: 'File',
      file,
      secondStore: { storageType: 'File', file: { ...file, path: 'b' } },
    };
    expect(secondStoreFaults(spec)).toEqual([expect.stringMatching(/must be another claim.*same claim/)]);
  });

  it('is not one at another server, in another region, or in another account with another path', () => {
    const fine = (s3: object) =>
      secondStoreFaults({ ...SPEC, secondStore: { storageType: 'S3', s3 } } as EtcdBackupSpec);
    expect(fine({ path: 'backups/etcd/a', endpoint: 'https://far.example' })).toEqual([]);
    expect(fine({ path: 'backups/b', awsSecret: 'other' })).toEqual([]);
    expect(secondStoreFaults(SPEC)).toEqual([]);
  });
});
