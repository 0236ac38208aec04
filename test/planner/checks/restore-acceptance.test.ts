/** Whether a backup fits into a cluster, of which nothing is touched before. */
import { expect, it } from 'vitest';
import { parseManifest } from '../../../src/api/derived/backup-manifest.ts';
import { totalLoss } from '../../../src/planner/checks/total-loss.ts';
import { whyNotAccepted } from '../../../src/planner/checks/restore-acceptance.ts';
import type { RestoreOfCluster } from '../../../src/planner/model/restore-of-cluster.ts';
import {
  aCluster,
  aPod,
  aRunningCluster,
  aRunningStatus,
  CLUSTER_ID,
  LONG_AGO,
  NOW,
} from '../../worlds/builders.ts';
import { situationOf } from '../../../src/planner/situation.ts';

const GIB = 2 ** 30;

const restore = (snapshotSize: number): RestoreOfCluster => ({
  name: 'restore',
  uid: 'restore-uid',
  createdAt: NOW,
  source: { location: 's3://backups/1', size: 10, sha256: '', snapshotSize, compression: 'none' },
  confirmClusterId: CLUSTER_ID,
  revisionBump: 0,
});

it('a database that is larger than the quota is refused: its members would refuse the first write', () => {
  expect(whyNotAccepted(situationOf(aRunningCluster()), restore(1))).toBeUndefined();
  const refusal = whyNotAccepted(situationOf(aRunningCluster()), restore(2 * GIB));
  expect(refusal).toMatchObject({ kind: 'refused', reason: 'QuotaTooSmall' });
  expect(refusal?.message).toContain('spec.etcd.quotaBackendBytes');
});

it('volumes must hold the snapshot beside the database that is made of it', () => {
  const status = { ...aRunningStatus(), storage: { kind: 'PersistentVolumeClaim' as const, size: '2Gi' } };
  const situation = situationOf(aRunningCluster({ cluster: aCluster({ status }) }));
  expect(whyNotAccepted(situation, restore(1))).toBeUndefined();
  expect(whyNotAccepted(situation, restore(GIB))).toMatchObject({
    kind: 'refused',
    reason: 'VolumeTooSmall',
    message: expect.stringContaining('but those of example have 2Gi') as unknown,
  });
});

it('of two restores the older one goes first, in whichever order they are listed', () => {
  const named = (name: string, createdAt: string) => ({ ...restore(1), name, uid: `${name}-uid`, createdAt });
  const [older, younger] = [named('second', LONG_AGO), named('first', NOW)];
  for (const restores of [
    [older, younger],
    [younger, older],
  ]) {
    const situation = situationOf({ ...aRunningCluster(), restores });
    expect(whyNotAccepted(situation, older)).toBeUndefined();
    expect(whyNotAccepted(situation, younger)).toMatchObject({
      kind: 'waits',
      reason: 'AnotherRestore',
      message: 'EtcdRestore second restores the cluster example first; delete one of them',
    });
  }
});

it.each([
  ['has ended', { phase: 'Succeeded' }, undefined],
  ['is of another cluster', { token: 'other-77777777-1' }, undefined],
  ['was made for a member and has lost its owner', {}, 'NameTaken'],
])('a pod beside the members that %s', (_, given, expected) => {
  const seen = aRunningCluster();
  const stray = aPod({ name: 'example-7', owned: false, ...given });
  const found = whyNotAccepted(situationOf({ ...seen, pods: [...seen.pods, stray] }), restore(1));
  expect(found?.reason).toBe(expected);
});

it('a cluster whose specification asks for other TLS than it has is not stopped: nothing could be started again', () => {
  const seen = aRunningCluster();
  const { object } = seen.cluster;
  const switched = { ...object, spec: { ...object.spec, TLS: { auto: {} } } };
  const cluster = { ...seen.cluster, object: switched };
  expect(whyNotAccepted(situationOf({ ...seen, cluster }), restore(1))).toMatchObject({
    kind: 'waits',
    reason: 'ModeSwitched',
    message: expect.stringContaining('write the old mode again'),
  });
});

it('a total loss names the restore that keeps the operator from asking for one of its own', () => {
  const seen = aRunningCluster();
  const recovery = { totalLoss: 'RestoreLatestBackup' as const };
  const cluster = { ...seen.cluster, config: { ...seen.cluster.config, recovery } };
  const lost = { ...seen, cluster, pods: [], claims: [] };
  expect(totalLoss({ ...lost, restores: [restore(1)] }).message).toContain(
    'EtcdRestore restore will restore it',
  );
  expect(totalLoss(lost).message).toContain('no backup was restored automatically');
});

const MANIFEST = {
  format: 1,
  backup: { namespace: 'shop', name: 'nightly', uid: 'u' },
  startedAt: NOW,
  entry: { time: NOW, location: 's3://backups/1', revision: 42, keys: 7, verified: 'Checksum' },
  compression: 'none',
  snapshot: { size: 10, sha256: '', storageVersion: '' },
};

it.each<[string, object, boolean]>([
  ['as this release writes it', {}, true],
  ['whose revision is a word', { revision: 'many' }, false],
  ['whose revision is below zero', { revision: -1 }, false],
  ['whose revision no number holds', { revision: 1e300 }, false],
  ['whose number of keys is none', { keys: 1.5 }, false],
  ['whose version is a number', { etcdVersion: 42 }, false],
  ['whose cluster is no text', { clusterID: {} }, false],
  ['that says in no words how it was verified', { verified: 7 }, false],
])('a manifest %s is believed: %s', (_, entry, isBelieved) => {
  const text = JSON.stringify({ ...MANIFEST, entry: { ...MANIFEST.entry, ...entry } });
  expect(parseManifest(text) !== undefined).toBe(isBelieved);
});
