/** The backup before an upgrade, on real members: without one `Required` waits and says what to do, and nothing is touched before it is there. */
import { expect, test } from 'vitest';
import { ANNOTATION_IMAGE_REPLACED, API_VERSION } from '../../../src/api/names.ts';
import { parseTimestamp } from '../../../src/api/values/time.ts';
import type { EtcdBackup, EtcdBackupSpec } from '../../../src/api/schemas/types.ts';
import { drilledCluster } from '../../stack/drill/drilled.ts';
import { openOperations } from '../../stack/drill/operations.ts';
import { upgradesOf } from '../../stack/drill/versions.ts';
import { podsOf } from '../../stack/e2e.ts';
import { freshOperators, killOperators } from '../../stack/operator-processes.ts';
import { poll } from '../../stack/poll.ts';

const cluster = drilledCluster('drill-upgrade-backup', 3, { version: '3.6.5' });
const { at, drill, world } = cluster;
const { arrive, blocked, condition, edit, versions } = upgradesOf(cluster);
const BACKUP = 'before-upgrades';

/** An EtcdBackup of the cluster: it makes a backup at once, and one whenever it is asked. A claim that is missing is waited for until its time is over. */
async function backUpTo(
  claim: string,
  { path = 'etcd', suspend = false }: { readonly path?: string; readonly suspend?: boolean } = {},
): Promise<void> {
  const spec: EtcdBackupSpec = {
    clusterRef: { name: at.name },
    storageType: 'File',
    file: { claim, path },
    backupPolicy: { backupIntervalInSecond: 86_400, maxBackups: 3, timeoutInSecond: 15, suspend },
  };
  await world().kube.apply({
    apiVersion: API_VERSION,
    kind: 'EtcdBackup',
    metadata: { namespace: at.namespace, name: BACKUP },
    spec,
  } as Parameters<ReturnType<typeof world>['kube']['apply']>[0]);
}

async function readBackup(): Promise<EtcdBackup> {
  const object = await world().kube.get({
    apiVersion: API_VERSION,
    kind: 'EtcdBackup',
    namespace: at.namespace,
    name: BACKUP,
  });
  return object as unknown as EtcdBackup;
}

/** When the first of all members was given another image, in milliseconds since the epoch. */
async function firstTouched(): Promise<number> {
  const pods = await podsOf(world(), at.namespace, at.name);
  const times = pods.map(
    ({ metadata }) => parseTimestamp(metadata.annotations?.[ANNOTATION_IMAGE_REPLACED]) ?? Number.NaN,
  );
  return Math.min(...times);
}

test('Required without an EtcdBackup waits, says what to make, and touches no member', async () => {
  const pods = await cluster.pods();
  await edit({ version: '3.6.16', upgrade: { snapshotBefore: 'Required' } });
  const message = await blocked('BackupMissing');
  expect(message).toMatch(
    /spec\.upgrade\.snapshotBefore is Required.*create an EtcdBackup with spec\.clusterRef/,
  );
  expect(await versions()).toEqual(['3.6.5', '3.6.5', '3.6.5']);
  expect(await cluster.pods()).toEqual(pods);
});

test('Required with one whose runs fail says why, and touches no member', async () => {
  await backUpTo('nowhere');
  const message = await blocked('BackupFailed', 180_000);
  expect(message).toContain('nowhere');
  expect(await versions()).toEqual(['3.6.5', '3.6.5', '3.6.5']);
});

test('with an EtcdBackup that works the backup is there before the first member is touched', async () => {
  await world().kube.apply({
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { namespace: at.namespace, name: 'backups' },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
  } as Parameters<ReturnType<typeof world>['kube']['apply']>[0]);
  // A drill begins with a cluster of which nothing is asked.
  await edit({ version: '3.6.5' });
  await drill('3.6.5 → 3.6.16 after a backup', async () => {
    await edit({ version: '3.6.16' });
    await backUpTo('backups');
    // As the message of the condition says; a corrected EtcdBackup may also have made one by itself already.
    const { status } = await poll(
      async () => {
        const found = await readBackup();
        return found.status?.workflowID !== undefined && found;
      },
      { timeoutMs: 60_000 },
    );
    await world().temporal(
      'workflow',
      'signal',
      '-w',
      status?.workflowID ?? '',
      '--name',
      'backup',
      '-i',
      '{"by":"ana"}',
    );
    await arrive('3.6.16');
  });
  const [newest] = (await readBackup()).status?.history ?? [];
  expect(newest?.verified).toBe('Checksum');
  expect(parseTimestamp(newest?.time)).toBeLessThan(await firstTouched());
});

test.each([
  { to: '3.6.5', after: 'requestBackup' },
  { to: '3.6.16', after: 'awaitBackup' },
] as const)(
  'IfPossible asks the EtcdBackup that is there once, also when the operators are killed after $after',
  async ({ to, after }) => {
    // An hour is not waited for: the backups are forgotten instead, as when their objects were deleted.
    await cluster.kubectl('delete', 'etcdbackup', BACKUP, '--wait=true');
    await freshOperators(world(), 2);
    const operations = await openOperations(world(), at);
    const before = await operations.newest();
    await drill(
      `to ${to} after a backup that was asked for, operators killed after ${after}`,
      async () => {
        await edit({ upgrade: { snapshotBefore: 'IfPossible' } });
        // It makes none by itself.
        await backUpTo('backups', { path: `etcd-${after}`, suspend: true });
        await edit({ version: to });
        await operations.await('upgradeCluster', before, ({ completed }) => completed.includes(after));
        expect(killOperators(world())).toBeGreaterThan(0);
        await arrive(to);
      },
      { silent: true },
    );
    await operations.close();
    const { metadata, status } = await readBackup();
    const [newest, ...older] = status?.history ?? [];
    console.log(
      `asked at ${metadata.annotations?.['etcd.database.coreos.com/backup-asked']}, newest of ${newest?.time}`,
    );
    expect(older).toEqual([]);
    expect(parseTimestamp(newest?.time)).toBeLessThan(await firstTouched());
    expect(await condition('UpgradeBlocked')).toBeUndefined();
  },
);
