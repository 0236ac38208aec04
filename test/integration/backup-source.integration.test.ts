/** Which etcd is backed up when several are named, and how one with certificates and users is reached. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Etcd3 } from 'etcd3';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openSource } from '../../src/activities/backup/source.ts';
import type { EtcdBackup, EtcdBackupSpec } from '../../src/api/schemas/types.ts';
import { createEtcdPort } from '../../src/etcd/adapter.ts';
import { verifiedSnapshot } from '../../src/etcd/verified-snapshot.ts';
import { BackupWorld, SPEC } from '../worlds/backup-world.ts';
import { secret, TestAuthority } from '../fakes/certificates.ts';
import { EtcdProcessCluster } from '../stack/etcd-process.ts';
import { poll } from '../stack/poll.ts';
import { messageOf } from '../../src/api/values/message-of.ts';

const NAMESPACE = 'shop';
const PASSWORD = 'canary-root-password-77b1';
const VERSION = '3.6.16';

const { deps, kube } = new BackupWorld();
const real = {
  ...deps,
  etcd: createEtcdPort(),
  endpointsAllowed: ['127.0.0.1'],
  credentialHosts: ['127.0.0.1'],
};
const clusters: EtcdProcessCluster[] = [];
afterAll(() => Promise.all(clusters.map(cluster => cluster.stop())));

function backup(spec: Partial<EtcdBackupSpec>): EtcdBackup {
  const { clusterRef: _, ...store } = SPEC;
  return {
    apiVersion: 'etcd.database.coreos.com/v1beta2',
    kind: 'EtcdBackup',
    metadata: { name: 'external', namespace: NAMESPACE, uid: 'u-1' },
    spec: { ...store, ...spec },
  };
}

/** The member that is chosen, and whether a snapshot of it proves itself; or why there is none. */
async function chosen(spec: Partial<EtcdBackupSpec>): Promise<string> {
  try {
    const { member, name, revision } = await openSource(real, backup(spec));
    const snapshot = verifiedSnapshot(
      member.snapshot({ signal: new AbortController().signal, deadlineMs: 30_000 }),
    );
    for await (const _ of snapshot.bytes) void _;
    member.close();
    return `${name} at ${revision}, ${snapshot.proof().size > 0 ? 'whole' : 'empty'}`;
  } catch (error) {
    return messageOf(error);
  }
}

test('of several endpoints it is the one with the highest revision; silent ones do not matter', async () => {
  for (let keys = 1; keys <= 2; keys += 1) {
    const cluster = await EtcdProcessCluster.start({ version: VERSION, size: 1 });
    clusters.push(cluster);
    for (let key = 0; key < keys * 5; key += 1) await cluster.put(`key-${key}`, 'value');
  }
  const [older, newer] = clusters.map(cluster => cluster.member(0).clientUrl);
  const etcdEndpoints = [older ?? '', 'http://127.0.0.1:1', newer ?? ''];
  const wanted = `${newer?.replace('http://', '')} at 11, whole`;
  expect(await chosen({ etcdEndpoints })).toBe(wanted);
  expect(await chosen({ etcdEndpoints: etcdEndpoints.toReversed() })).toBe(wanted);
}, 60_000);

test('of an address outside nothing is reported but that it is not reachable, and without an administrator’s word not even that', async () => {
  const etcdEndpoints = ['http://127.0.0.1:1'];
  expect(await chosen({ etcdEndpoints })).toBe(
    'no member can provide a snapshot: 127.0.0.1:1 is not reachable',
  );
  const { endpointsAllowed: _, ...strict } = real;
  const refused = openSource(strict, backup({ etcdEndpoints })).catch((error: Error) => error.message);
  expect(await refused).toContain('is neither a Service with pods in namespace shop nor a pod in it');
});

describe('an etcd with certificates and users', () => {
  let url = '';
  beforeAll(async () => {
    const authority = await TestAuthority.create('company');
    const pair = await authority.issue({ commonName: 'server', addresses: ['127.0.0.1'] });
    const client = await authority.issue({ commonName: 'somebody', usages: ['client'] });
    const cluster = await EtcdProcessCluster.unstarted({ version: VERSION });
    clusters.push(cluster);
    const member = cluster.member(0);
    url = member.clientUrl.replace('http://', 'https://');
    const ca = authority.pair.cert;
    mkdirSync(member.dataDir);
    const written = { cert: pair.cert, key: pair.key, ca };
    for (const [name, text] of Object.entries(written)) {
      writeFileSync(join(member.dataDir, name), text, { mode: 0o600 });
    }
    member.startExactly([
      `--name=${member.name}`,
      `--data-dir=${member.dataDir}/data`,
      `--listen-client-urls=${url}`,
      `--advertise-client-urls=${url}`,
      `--listen-peer-urls=${member.peerUrl}`,
      `--initial-advertise-peer-urls=${member.peerUrl}`,
      `--initial-cluster=${member.name}=${member.peerUrl}`,
      `--listen-metrics-urls=http://127.0.0.1:${member.metricsPort}`,
      `--cert-file=${member.dataDir}/cert`,
      `--key-file=${member.dataDir}/key`,
      `--trusted-ca-file=${member.dataDir}/ca`,
      '--client-cert-auth',
    ]);
    await poll(async () => (await fetch(`http://127.0.0.1:${member.metricsPort}/health`)).ok);
    const etcd = new Etcd3({
      hosts: url,
      credentials: {
        rootCertificate: Buffer.from(ca),
        certChain: Buffer.from(client.cert),
        privateKey: Buffer.from(client.key),
      },
    });
    await etcd.user('root').create(PASSWORD);
    await etcd.user('root').addRole('root');
    await etcd.auth.authEnable();
    etcd.close();
    const keys = { 'etcd-client.crt': client.cert, 'etcd-client.key': client.key, 'etcd-client-ca.crt': ca };
    kube.seed(
      secret(NAMESPACE, 'client', keys),
      secret(NAMESPACE, 'root', { username: 'root', password: PASSWORD }),
      secret(NAMESPACE, 'mistyped', { username: 'root', password: `${PASSWORD}-not` }),
    );
  }, 60_000);

  test('is backed up with both', async () => {
    const named = { etcdEndpoints: [url], clientTLSSecret: 'client', authSecret: 'root' };
    expect(await chosen(named)).toMatch(/ at \d+, whole$/);
  });

  test.each([
    ['clientTLSSecret', { authSecret: 'root' }, /spec\.clientTLSSecret/],
    ['authSecret', { clientTLSSecret: 'client' }, /no member can provide a snapshot/],
    [
      'the right password',
      { clientTLSSecret: 'client', authSecret: 'mistyped' },
      /no member can provide a snapshot/,
    ],
    ['a Secret that exists', { clientTLSSecret: 'client', authSecret: 'nowhere' }, /nowhere does not exist/],
  ])('is not without %s, and no secret is reported', async (_what, spec, message) => {
    const said = await chosen({ etcdEndpoints: [url], ...spec });
    expect(said).toMatch(message);
    expect(said).not.toContain(PASSWORD);
  });
});
