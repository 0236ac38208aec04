/** Restores of clusters that are worse off than others: every volume lost, out of space, with certificates and users. */
import { Etcd3 } from 'etcd3';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { memberHost } from '../../../src/api/names.ts';
import type { EtcdRestore } from '../../../src/api/schemas/types.ts';
import { BackupStory } from '../../stack/backup-story.ts';
import { secret } from '../../fakes/certificates.ts';
import {
  awaitRunning,
  claimsOf,
  createNamespace,
  leaveNamespace,
  manifest,
  openWorld,
  podsOf,
  readCluster,
  type World,
} from '../../stack/e2e.ts';
import { poll } from '../../stack/poll.ts';
import { BACKUP_CLAIM, Restores } from '../../stack/restores.ts';
import { requireUsers } from '../../stack/stack-keys.ts';

const NAMESPACE = 'drill-disaster';
const VERSION = '3.6.16';

let world: World;
let restores: Restores;
beforeAll(async () => {
  world = await openWorld();
  restores = new Restores(world, NAMESPACE);
  await createNamespace(world, NAMESPACE);
  await restores.createClaim();
}, 300_000);
afterAll(() => leaveNamespace(world, NAMESPACE));

const place = (name: string) => ({ namespace: NAMESPACE, name });

/** For a message of a test that failed. */
async function statusOf(name: string): Promise<string> {
  const { status } = (await readCluster(world, NAMESPACE, name)) ?? {};
  return JSON.stringify({ members: status?.members, conditions: status?.conditions });
}

async function restoreInPlace(name: string, cluster: string, backup: string): Promise<EtcdRestore> {
  const { status } = (await readCluster(world, NAMESPACE, cluster)) ?? {};
  await restores.begin(name, {
    etcdCluster: { name: cluster },
    backupRef: { name: backup, at: 'Latest' },
    confirmClusterID: status?.clusterID ?? '',
  });
  const restore = await restores.ended(name);
  expect(restore.status).toMatchObject({ phase: 'Succeeded', succeeded: true });
  await awaitRunning(world, place(cluster));
  return restore;
}

test('every volume is lost: the newest verified backup comes back by itself, and what is lost is reported', async () => {
  const name = 'lost';
  await world.kube.apply(
    manifest(NAMESPACE, name, {
      size: 3,
      version: VERSION,
      recovery: { totalLoss: 'RestoreLatestBackup' },
    }),
  );
  await awaitRunning(world, place(name), 200_000);
  await restores.etcdctl(name, 'put', 'colour', 'green');
  const backup = await restores.backUp('before-the-loss', name);
  await restores.etcdctl(name, 'put', 'colour', 'red');
  const begun = performance.now();
  // In one command: a member whose claim alone is being deleted is replaced, and its successor would have the data.
  const objects = [
    ...(await podsOf(world, NAMESPACE, name)).map(({ metadata }) => `pod/${metadata.name}`),
    ...(await claimsOf(world, NAMESPACE, name)).map(({ metadata }) => `pvc/${metadata.name}`),
  ];
  await world.stack.kubectl('-n', NAMESPACE, 'delete', '--now', '--wait=false', ...objects);
  const rescue = async (): Promise<string | undefined> => {
    const names = await world.stack.kubectl('-n', NAMESPACE, 'get', 'etcdrestore', '-o', 'name');
    return new RegExp(`${name}-total-loss-[0-9a-f]{8}-1$`, 'm').exec(names)?.[0];
  };
  const { status } = await restores.ended(
    await poll(rescue, { timeoutMs: 60_000, otherwise: () => statusOf(name) }),
  );
  console.log(`every volume lost: restored after ${((performance.now() - begun) / 1_000).toFixed(1)} s`);
  expect(status).toMatchObject({ phase: 'Succeeded', succeeded: true });
  await awaitRunning(world, place(name));
  expect(await restores.etcdctl(name, 'get', 'colour', '--print-value-only')).toBe('green');
  const events = await world.stack.kubectl(
    '-n',
    NAMESPACE,
    'get',
    'events',
    '--field-selector=reason=RestoringAfterTotalLoss',
    '-o',
    'jsonpath={.items[*].message}',
  );
  expect(events).toContain(`the backup of ${backup.time}`);
  expect(events).toContain(`above revision ${backup.revision} is lost`);
}, 600_000);

test('the backup was taken when there was no space left: its alarms are taken back, and it can be written to', async () => {
  const name = 'full';
  await world.kube.apply(manifest(NAMESPACE, name, { size: 1, version: VERSION }));
  await awaitRunning(world, place(name), 200_000);
  await restores.etcdctl(name, 'put', 'colour', 'green');
  // There is room, so the operator would disarm it.
  await world.kube.apply(manifest(NAMESPACE, name, { size: 1, version: VERSION, paused: true }));
  await raiseAlarm(name);
  await expect(restores.etcdctl(name, 'put', 'colour', 'red')).rejects.toThrow('database space exceeded');
  await restores.backUp('when-full', name);
  await world.kube.apply(manifest(NAMESPACE, name, { size: 1, version: VERSION, paused: false }));
  await restoreInPlace('unfull', name, 'when-full');
  expect(await restores.etcdctl(name, 'alarm', 'list')).toBe('');
  expect(await restores.etcdctl(name, 'get', 'colour', '--print-value-only')).toBe('green');
  await restores.etcdctl(name, 'put', 'colour', 'blue');
}, 600_000);

test('a cluster with certificates and users: both are there afterwards', async () => {
  const name = 'sealed';
  await world.kube.apply(manifest(NAMESPACE, name, { size: 3, version: VERSION, TLS: { auto: {} } }));
  await awaitRunning(world, place(name), 200_000);
  const root = await secured(name, `${name}-operator-tls`);
  try {
    await root.put('colour').value('green');
    await requireUsers(root, 'a password');
  } finally {
    root.close();
  }
  await restores.backUp('of-sealed', name);
  await restoreInPlace('sealed-again', name, 'of-sealed');
  const [known, unknown] = [
    await secured(name, `${name}-operator-tls`),
    await secured(name, `${name}-client-tls`),
  ];
  try {
    expect(await known.get('colour').string()).toBe('green');
    await known.put('colour').value('blue');
    await expect(unknown.get('colour').string()).rejects.toThrow(/permission denied|user name/);
  } finally {
    known.close();
    unknown.close();
  }
}, 600_000);

test('a cluster with users and no certificates is backed up with a Secret, and restored into a cluster with certificates only', async () => {
  const name = 'users';
  const story = new BackupStory(world, NAMESPACE);
  await world.kube.apply(manifest(NAMESPACE, name, { size: 1, version: VERSION }));
  await awaitRunning(world, place(name), 200_000);
  await restores.etcdctl(name, 'put', 'colour', 'green');
  const password = 'a password';
  await story.through(name, etcd => requireUsers(etcd, password));
  await world.kube.apply(secret(NAMESPACE, 'users-root', { username: 'root', password }));
  const pods = async () => (await podsOf(world, NAMESPACE, name)).map(({ metadata }) => metadata.uid);
  const before = await pods();
  const from = { authSecret: 'users-root', storageType: 'File' } as const;
  const plain = { ...from, file: { claim: BACKUP_CLAIM, path: 'etcd/users' } };
  const zipped = { ...from, file: { claim: BACKUP_CLAIM, path: 'etcd/users-zipped' } };
  await restores.backUp('of-users', name, plain);
  await restores.backUp('of-users-zipped', name, { ...zipped, compression: 'zstd' });
  const confirmClusterID = (await readCluster(world, NAMESPACE, name))?.status?.clusterID ?? '';
  const inPlace = (cluster: string, confirmed?: string) => ({
    etcdCluster: { name: cluster },
    backupRef: { name: 'of-users-zipped', at: 'Latest' },
    confirmClusterID: confirmed ?? '',
  });
  const forget = (restore: string) => world.stack.kubectl('-n', NAMESPACE, 'delete', 'etcdrestore', restore);
  await restores.begin('users-back', inPlace(name, confirmClusterID));
  await restores.until('users-back', ({ step }) => step?.includes('TLS.auto') === true);
  await forget('users-back');
  expect(await pods()).toEqual(before);

  const open = 'no-users';
  await world.kube.apply(manifest(NAMESPACE, open, { size: 1, version: VERSION }));
  const { status } = await awaitRunning(world, place(open), 200_000);
  await restores.etcdctl(open, 'put', 'colour', 'red');
  await restores.begin('plain', {
    ...inPlace(open, status?.clusterID),
    backupRef: { name: 'of-users', at: 'Latest' },
  });
  await restores.until('plain', ({ step }) => step?.includes('authentication enabled') === true);
  await forget('plain');
  // What is compressed is not looked into: the restored member itself says it, and the old one comes back.
  await restores.begin('zipped', inPlace(open, status?.clusterID));
  await restores.until('zipped', ({ step }) => step?.includes('user name is empty') === true);
  await forget('zipped');
  await poll(
    async () => (await readCluster(world, NAMESPACE, open))?.status?.clusterID === status?.clusterID,
    {
      timeoutMs: 120_000,
    },
  );
  await awaitRunning(world, place(open));
  expect(await restores.etcdctl(open, 'get', 'colour', '--print-value-only')).toBe('red');

  const copy = 'users-copy';
  await restores.begin(copy, {
    etcdCluster: { name: copy },
    backupRef: { name: 'of-users-zipped', at: 'Latest' },
    clusterTemplate: { size: 3, version: VERSION, TLS: { auto: {} } },
  });
  expect((await restores.ended(copy)).status).toMatchObject({ phase: 'Succeeded', succeeded: true });
  await awaitRunning(world, place(copy));
  expect(await story.through(copy, etcd => etcd.get('colour').string())).toBe('green');
}, 900_000);

async function firstMember(cluster: string): Promise<{ member: string; address: string }> {
  const [pod] = await podsOf(world, NAMESPACE, cluster);
  if (pod === undefined) throw new Error(`${cluster} has no pod`);
  return { member: pod.metadata.name, address: `${(pod['status'] as { podIP: string }).podIP}:2379` };
}

/** What etcd does itself when a member's database has reached its quota. */
async function raiseAlarm(cluster: string): Promise<void> {
  const { address } = await firstMember(cluster);
  const maintenance = `http://${address}/v3/maintenance`;
  const post = (call: string, body: object): Promise<Response> =>
    fetch(`${maintenance}/${call}`, { method: 'POST', body: JSON.stringify(body) });
  const { header } = (await (await post('status', {})).json()) as { header: { member_id: string } };
  await post('alarm', { action: 'ACTIVATE', memberID: header.member_id, alarm: 'NOSPACE' });
}

/** A client of the first member, with the certificate that the Secret holds. */
async function secured(cluster: string, secret: string): Promise<Etcd3> {
  const object = await poll(() =>
    world.kube.get({ apiVersion: 'v1', kind: 'Secret', namespace: NAMESPACE, name: secret }),
  );
  const data = object['data'] as Readonly<Record<string, string>>;
  const [ca, cert, key] = ['ca.crt', 'tls.crt', 'tls.key'].map(part =>
    Buffer.from(data[part] ?? '', 'base64'),
  );
  const { member, address } = await firstMember(cluster);
  return new Etcd3({
    hosts: `https://${address}`,
    credentials: {
      rootCertificate: ca ?? Buffer.alloc(0),
      certChain: cert ?? Buffer.alloc(0),
      privateKey: key ?? Buffer.alloc(0),
    },
    grpcOptions: {
      'grpc.ssl_target_name_override': memberHost({ member, cluster, namespace: NAMESPACE }),
    },
  });
}
