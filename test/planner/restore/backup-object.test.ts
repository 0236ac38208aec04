/** Which object a person means, for every way to name one. */
import { describe, expect, it } from 'vitest';
import { API_VERSION } from '../../../src/api/names.ts';
import type { EtcdBackup, EtcdRestore } from '../../../src/api/schemas/types.ts';
import { copyOfObject, objectOf } from '../../../src/planner/restore/backup-object.ts';

const restore = (spec: object): EtcdRestore =>
  ({
    apiVersion: API_VERSION,
    kind: 'EtcdRestore',
    metadata: { name: 'back', namespace: 'shop', uid: 'u-1' },
    spec: { etcdCluster: { name: 'example' }, ...spec },
  }) as unknown as EtcdRestore;

const entry = (time: string, revision: number, verified = 'Checksum') => ({
  time,
  revision,
  verified,
  location: `s3://backups/etcd_v${revision}`,
});

const NIGHTLY = {
  metadata: { name: 'nightly', namespace: 'shop', uid: 'u-2' },
  spec: { storageType: 'S3', s3: { path: 'backups/etcd', awsSecret: '' } },
  status: {
    history: [
      entry('2026-11-20T10:00:00Z', 20),
      entry('2026-11-22T10:00:00Z', 40, ''),
      entry('2026-11-21T10:00:00Z', 30),
      { time: '2026-11-19T10:00:00Z', verified: 'Checksum', location: 's3://backups/etcd_old' },
    ],
  },
} as unknown as EtcdBackup;

it.each([
  ['S3', { s3: { path: 'b/k' } }, 's3://b/k'],
  ['ABS', { abs: { path: 'b/k' } }, 'abs://b/k'],
  ['GCS', { gcs: { path: 'b/k' } }, 'gs://b/k'],
  ['OSS', { oss: { path: 'b/k' } }, 'oss://b/k'],
  ['File', { file: { claim: 'b', path: 'k' } }, 'file://b/k'],
])('one in a store: %s', (backupStorageType, block, location) => {
  const object = objectOf(restore({ backupStorageType, ...block }), undefined);
  expect(object).toEqual({ spec: { storageType: backupStorageType, ...block }, key: 'k', location });
});

it.each([
  ['no way at all', {}, undefined, 'neither spec.backupRef nor spec.backupStorageType'],
  ['an empty type', { backupStorageType: '' }, undefined, 'neither spec.backupRef nor'],
  ['no bucket', { backupStorageType: 'S3', s3: { path: 'k' } }, undefined, 'no path of the form bucket/key'],
  ['nobody', { backupRef: { name: 'nobody' } }, undefined, 'EtcdBackup shop/nobody does not exist'],
  ['before the first', { backupRef: { name: 'nightly', at: 7 } }, NIGHTLY, 'no verified backup that matches'],
  ['no time', { backupRef: { name: 'nightly', at: 'noon' } }, NIGHTLY, 'no verified backup that matches'],
  [
    'a store that is another by now',
    { backupRef: { name: 'nightly' } },
    { ...NIGHTLY, spec: { storageType: 'S3', s3: { path: 'others/etcd', awsSecret: '' } } } as EtcdBackup,
    'is not in the store that EtcdBackup nightly now uses',
  ],
  ['no history', { backupRef: { name: 'nightly' } }, { ...NIGHTLY, status: {} } as EtcdBackup, 'no verified'],
])('nothing for %s', (_, spec, backup, message) => {
  expect(objectOf(restore(spec), backup)).toMatchObject({
    reason: 'BackupNotFound',
    message: expect.stringContaining(message),
  });
});

it.each([
  ['the newest that is verified', 'Latest', 'etcd_v30'],
  ['the newest until a time', '2026-11-21T09:00:00Z', 'etcd_v20'],
  ['the newest up to a revision', '29', 'etcd_v20'],
  ['one whose revision is not known, by its time', '2026-11-19T12:00:00Z', 'etcd_old'],
])('of a backup: %s', (_, at, key) => {
  const object = objectOf(restore({ backupRef: { name: 'nightly', at } }), NIGHTLY);
  expect(object).toMatchObject({ key, location: `s3://backups/${key}` });
});

it('is the one that holds most, also when the clock was ahead for a while', () => {
  const ofCluster = (time: string, revision: number, clusterID = 'c0ffee') => ({
    ...entry(time, revision),
    clusterID,
  });
  const history = [
    ofCluster('2027-11-21T10:00:00Z', 30),
    ofCluster('2026-11-21T11:00:00Z', 40),
    ofCluster('2026-11-21T10:00:00Z', 900, 'beef'),
  ];
  const backup = { ...NIGHTLY, status: { history } } as unknown as EtcdBackup;
  for (const at of ['Latest', 40]) {
    expect(objectOf(restore({ backupRef: { name: 'nightly', at } }), backup)).toMatchObject({
      location: 's3://backups/etcd_v40',
    });
  }
});

const held = (chosen: object, spec: object = {}): EtcdRestore =>
  ({ ...restore({ backupRef: { name: 'nightly', ...spec } }), status: { chosen } }) as EtcdRestore;

describe('what was confirmed is never replaced by another backup', () => {
  it.each([
    [
      'the one that is named, though a newer one exists',
      { location: 's3://backups/etcd_v20' },
      's3://backups/etcd_v20',
    ],
    ['the newest', { at: 'Latest' }, 's3://backups/etcd_v30'],
  ])('%s', (_, spec, location) => {
    expect(objectOf(restore({ backupRef: { name: 'nightly', ...spec } }), NIGHTLY)).toMatchObject({
      location,
    });
  });

  it.each([
    ['one that is not verified', { location: 's3://backups/etcd_v40' }, {}, 'is not verified'],
    [
      'one that is not there any more',
      { location: 's3://backups/etcd_v9' },
      {},
      'has no backup s3://backups/etcd_v9',
    ],
  ])('nothing in the place of %s', (_, backupRef, spec, message) => {
    const object = objectOf(restore({ backupRef: { name: 'nightly', ...backupRef }, ...spec }), NIGHTLY);
    expect(object).toMatchObject({ reason: 'BackupNotFound', message: expect.stringContaining(message) });
  });

  it('nothing in the place of one with another checksum', () => {
    const [first, ...others] = NIGHTLY.status?.history ?? [];
    const history = [{ ...first, sha256: 'b'.repeat(64) }, ...others];
    const backup = { ...NIGHTLY, status: { history } } as EtcdBackup;
    const named = { backupRef: { name: 'nightly', location: first?.location }, sha256: 'a'.repeat(64) };
    expect(objectOf(restore(named), backup)).toMatchObject({
      reason: 'BackupNotFound',
      message: expect.stringContaining('but spec.sha256 is aaa'),
    });
    expect(objectOf(restore({ ...named, sha256: 'b'.repeat(64) }), backup)).toMatchObject({
      location: first?.location,
    });
  });

  it('what Latest meant when it was looked at first', () => {
    const chosen = { name: 'nightly', at: 'Latest', location: 's3://backups/etcd_v20' };
    expect(objectOf(held(chosen), NIGHTLY)).toMatchObject({ location: 's3://backups/etcd_v20' });
    // Somebody means another one by now.
    expect(objectOf(held(chosen, { at: 35 }), NIGHTLY)).toMatchObject({ location: 's3://backups/etcd_v30' });
    expect(objectOf(held({ ...chosen, name: 'weekly' }), NIGHTLY)).toMatchObject({
      location: 's3://backups/etcd_v30',
    });
  });
});

describe('the copy in the second store', () => {
  const NAMED = { backupRef: { name: 'nightly' } };
  const SECOND = { storageType: 'ABS', abs: { path: 'far/copies' } } as const;
  const COPY = 'abs://far/copies_v30';
  const sha256 = 'c'.repeat(64);
  /** With a copy of the newest backup that is verified. */
  const copied = (more: object = {}): EtcdBackup => {
    const history = (NIGHTLY.status?.history ?? []).map(each =>
      each.revision === 30
        ? { ...each, sha256, secondStore: { location: COPY, verifiedAt: '2026-11-21T11:00:00Z' } }
        : each,
    );
    return { ...NIGHTLY, spec: { ...NIGHTLY.spec, secondStore: SECOND }, status: { history }, ...more };
  };

  it('is known by the checksum that was recorded of the backup', () => {
    expect(copyOfObject(restore(NAMED), copied())).toMatchObject({
      spec: SECOND,
      key: 'copies_v30',
      location: COPY,
      store: 'Second',
      sha256,
    });
    expect(objectOf(restore(NAMED), copied())).toMatchObject({ store: 'First' });
  });

  it('is known after the history was lost, from when the backup was chosen', () => {
    const chosen = { name: 'nightly', at: 'Latest', location: 's3://backups/etcd_v30', sha256, copy: COPY };
    const begun = { ...restore(NAMED), status: { chosen } } as EtcdRestore;
    expect(copyOfObject(begun, copied({ status: {} }))).toMatchObject({ location: COPY, sha256 });
  });

  it('is where a restore goes on that has begun with it', () => {
    const status = { source: { location: COPY, store: 'Second' } };
    const begun = { ...restore(NAMED), status } as unknown as EtcdRestore;
    expect(objectOf(begun, NIGHTLY, COPY)).toMatchObject({
      reason: 'BackupNotFound',
      message: expect.stringContaining('is not in the store that EtcdBackup nightly now uses'),
    });
    expect(objectOf(begun, copied(), COPY)).toMatchObject({
      spec: SECOND,
      key: 'copies_v30',
      store: 'Second',
    });
  });

  it.each<[string, EtcdRestore, EtcdBackup | undefined]>([
    ['of an object that the restore names itself', restore({ backupStorageType: 'S3' }), copied()],
    ['of an EtcdBackup that is gone', restore(NAMED), undefined],
    ['of an EtcdBackup with one store', restore(NAMED), NIGHTLY],
    ['of a backup that was not copied', restore({ backupRef: { name: 'nightly', at: 20 } }), copied()],
    ['of no backup', restore({ backupRef: { name: 'nightly', at: 7 } }), copied()],
  ])('is none %s', (_, asked, backup) => {
    expect(copyOfObject(asked, backup)).toBeUndefined();
  });
});
