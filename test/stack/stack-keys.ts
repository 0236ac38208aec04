/** The keys of a cluster in a stack, with all that etcd says of each; written and read with etcd's own client, also through TLS. */
import { randomBytes } from 'node:crypto';
import { Etcd3 } from 'etcd3';
import { clientAccess, readTlsSecrets } from '../../src/activities/observe/certificate-secrets.ts';
import { memberHost } from '../../src/api/names.ts';
import type { EtcdCluster } from '../../src/api/schemas/types.ts';
import { isServing } from './drill/endpoints.ts';
import { podsOf, readCluster, type World } from './e2e.ts';
import { poll } from './poll.ts';

interface Place {
  readonly namespace: string;
  readonly name: string;
}

/** What a cluster holds at a revision: one line a key, which differs when anything about the key does. */
export interface KeySpace {
  readonly revision: number;
  readonly keys: readonly string[];
}

/** A client of a ready member, with the operator's certificate when there are any. To be closed. */
export async function connect(world: World, at: Place): Promise<Etcd3> {
  const pod = await poll(async () => (await podsOf(world, at.namespace, at.name)).find(isServing), {
    timeoutMs: 60_000,
  });
  const { podIP } = pod['status'] as { podIP: string };
  const cluster = (await readCluster(world, at.namespace, at.name)) as EtcdCluster;
  const access = clientAccess(await readTlsSecrets(world.kube, cluster));
  if ('unusable' in access) throw new Error(access.unusable);
  const { tls } = access;
  if (tls === undefined) return new Etcd3({ hosts: `http://${podIP}:2379` });
  const serverName = memberHost({ member: pod.metadata.name, cluster: at.name, namespace: at.namespace });
  return new Etcd3({
    hosts: `https://${podIP}:2379`,
    credentials: {
      rootCertificate: Buffer.from(tls.ca),
      certChain: Buffer.from(tls.cert),
      privateKey: Buffer.from(tls.key),
    },
    grpcOptions: { 'grpc.ssl_target_name_override': serverName },
  });
}

const KEYS = 120;

/** Writes what a life leaves: keys of several versions, deleted ones, a lease, bytes that are no text, a compaction. */
export async function live(etcd: Etcd3): Promise<void> {
  const lease = await etcd.leaseClient.leaseGrant({ TTL: 36_000 });
  for (let round = 0; round < 3; round += 1) {
    for (let number = round; number < KEYS; number += round + 1) {
      const key = Buffer.from(`life/${number}`);
      const value = Buffer.from([round, number, 0, 255, 254, ...Buffer.from(`value ${round}`)]);
      await etcd.kv.put({ key, value, ...(number % 10 === 0 && { lease: lease.ID }) });
    }
  }
  for (let number = 0; number < KEYS; number += 7) {
    await etcd.kv.deleteRange({ key: Buffer.from(`life/${number}`) });
  }
  const { header } = await etcd.kv.range({ key: Buffer.from('life/1') });
  await etcd.kv.compact({ revision: String(Number(header.revision) - 20) });
}

/** Everything that the cluster holds, read through a quorum. */
export async function keySpace(etcd: Etcd3): Promise<KeySpace> {
  const all = { key: Buffer.from([0]), range_end: Buffer.from([0]) };
  const { header, kvs } = await etcd.kv.range({ ...all, serializable: false });
  return {
    revision: Number(header.revision),
    keys: kvs.map(
      kv =>
        `${kv.key.toString()} created at ${kv.create_revision}, changed at ${kv.mod_revision}, version ${kv.version}, lease ${kv.lease}: ${kv.value.toString('hex')}`,
    ),
  };
}

/** Users are there from here on: one named root, with this password, and nobody else may do anything. */
export async function requireUsers(etcd: Etcd3, password: string): Promise<void> {
  const root = etcd.user('root');
  await root.create(password);
  await etcd.role('root').create();
  await root.addRole('root');
  await etcd.auth.authEnable();
}

/** So many mebibytes of values that cannot be compressed. */
export async function fill(etcd: Etcd3, mebibytes: number): Promise<void> {
  for (let number = 0; number < mebibytes; number += 1) {
    await etcd
      .put(`fill/${number}`)
      .value(randomBytes(1024 * 1024))
      .exec();
  }
}
