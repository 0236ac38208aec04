import { X509Certificate } from 'node:crypto';
import { connect } from 'node:tls';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { KubeObject } from '../../src/kube/port.ts';
import { issueLeaf } from '../../src/tls/issue.ts';
import { type Access, runApplication } from '../stack/application.ts';
import { coreosSecrets, DAY_MS, secret, staticTls, TestAuthority } from '../fakes/certificates.ts';
import {
  awaitCondition,
  createNamespace,
  leaveNamespace,
  manifest,
  podsOf,
  readCluster,
  openWorld,
  type World,
} from '../stack/e2e.ts';
import { poll } from '../stack/poll.ts';

const NAMESPACE = 'tls';
let world: World;
let authority: TestAuthority;

beforeAll(async () => {
  world = await openWorld();
  await createNamespace(world, NAMESPACE);
  authority = await TestAuthority.create('company');
});
afterAll(() => leaveNamespace(world, NAMESPACE));

/** The condition TLSReady of a cluster, once it has this reason. */
async function tlsReady(name: string, reason: string): Promise<string> {
  const { message } = await poll(
    async () => {
      const cluster = await readCluster(world, NAMESPACE, name);
      return cluster?.status?.conditions?.find(is => is.type === 'TLSReady' && is.reason === reason);
    },
    {
      timeoutMs: 60_000,
      otherwise: async () =>
        `${name} is not ${reason}: ${JSON.stringify((await readCluster(world, NAMESPACE, name))?.status, null, 1)}`,
    },
  );
  return message;
}

/** Of every pod: its uid and how often its container was started again. */
async function lives(name: string): Promise<string[]> {
  const pods = await podsOf(world, NAMESPACE, name);
  return pods.map(pod => {
    const status = pod['status'] as { containerStatuses?: { restartCount: number }[] };
    return `${pod.metadata.name} ${pod.metadata.uid} ${status.containerStatuses?.[0]?.restartCount}`;
  });
}

/** The serial number of the certificate that each member shows on its client port. */
async function shownBy(name: string): Promise<string[]> {
  const pods = await podsOf(world, NAMESPACE, name);
  return Promise.all(
    pods.map(pod => {
      const { podIP } = pod['status'] as { podIP: string };
      return new Promise<string>((resolve, reject) => {
        const socket = connect({ host: podIP, port: 2379, rejectUnauthorized: false }, () => {
          resolve(socket.getPeerCertificate().serialNumber);
          socket.destroy();
        });
        socket.once('error', reject);
      });
    }),
  );
}

/** A write through the client Service by a client that has what is in the Secret. */
const application = (cluster: string, access: Access): Promise<string> =>
  runApplication(world, { namespace: NAMESPACE, name: cluster }, access, 'put', 'through/the/service', 'yes');

async function readSecret(name: string): Promise<Record<'tls.crt' | 'tls.key' | 'ca.crt', string>> {
  const found = await world.kube.get({ apiVersion: 'v1', kind: 'Secret', namespace: NAMESPACE, name });
  const data = (found?.['data'] ?? {}) as Record<string, string>;
  const text = (key: string) => Buffer.from(data[key] ?? '', 'base64').toString();
  return { 'tls.crt': text('tls.crt'), 'tls.key': text('tls.key'), 'ca.crt': text('ca.crt') };
}

/**
 * Puts a certificate of the same authority and names in the place of the members' own, as it would be after 80 of its 85 days.
 * Gives its serial number.
 */
async function bringNearItsEnd(cluster: string): Promise<string> {
  const authority = await readSecret(`${cluster}-client-ca`);
  const current = new X509Certificate((await readSecret(`${cluster}-server-tls`))['tls.crt']);
  const dnsNames = (current.subjectAltName ?? '')
    .split(', ')
    .filter(entry => entry.startsWith('DNS:'))
    .map(entry => entry.slice('DNS:'.length));
  const pair = await issueLeaf(
    { cert: authority['tls.crt'], key: authority['tls.key'] },
    { commonName: 'near its end', usages: ['server', 'client'], dnsNames, addresses: [] },
    { now: Date.now() - 80 * DAY_MS, lasts: 85 * DAY_MS },
  );
  const texts = { 'tls.crt': pair.cert, 'tls.key': pair.key, 'ca.crt': authority['tls.crt'] };
  const { data } = secret(NAMESPACE, '', texts) as unknown as { data: object };
  const ref = { apiVersion: 'v1', kind: 'Secret', namespace: NAMESPACE, name: `${cluster}-server-tls` };
  await world.kube.patch(ref, { data }, { type: 'merge' });
  return new X509Certificate(pair.cert).serialNumber;
}

async function secretsOf(cluster: string): Promise<KubeObject[]> {
  const { items } = await world.kube.list(
    { apiVersion: 'v1', kind: 'Secret' },
    { namespace: NAMESPACE, labelSelector: `etcd_cluster=${cluster}` },
  );
  return items;
}

async function remove(name: string): Promise<void> {
  await world.stack.kubectl('-n', NAMESPACE, 'delete', 'etcd', name, '--timeout=90s');
}

async function apply(...objects: readonly KubeObject[]): Promise<void> {
  for (const object of objects) await world.kube.apply(object);
}

describe('TLS.static', () => {
  test('waits for its Secrets, says what is wrong with them, and continues by itself', async () => {
    const { peer, server, operator } = await coreosSecrets(authority, 'careful', NAMESPACE);
    await apply(
      manifest(NAMESPACE, 'careful', { size: 3, version: '3.6.16', TLS: staticTls('careful') }),
      peer,
      operator,
    );
    expect(await tlsReady('careful', 'SecretMissing')).toContain('Secret careful-server');
    const data = server['data'] as Record<string, string>;
    const torn = (await coreosSecrets(authority, 'careful', NAMESPACE)).server['data'] as typeof data;
    await apply({ ...server, data: { ...data, 'server.key': torn['server.key'] ?? '' } });
    expect(await tlsReady('careful', 'KeyMismatch')).toContain('server.key of Secret careful-server');
    expect(await podsOf(world, NAMESPACE, 'careful')).toEqual([]);
    await apply(server);
    const cluster = await awaitCondition(
      world,
      { namespace: NAMESPACE, name: 'careful' },
      { type: 'Healthy' },
    );
    expect(cluster.status?.tls).toMatchObject({ mode: 'static', peer: true, client: true });
    expect(cluster.status?.tls?.certificates?.every(({ notAfter }) => notAfter !== undefined)).toBe(true);
    expect(JSON.stringify(cluster.status)).not.toContain('BEGIN');
  });

  test('lets applications in through the Service with a certificate, and no one without one', async () => {
    const keys = { ca: 'etcd-client-ca.crt', cert: 'etcd-client.crt', key: 'etcd-client.key' };
    expect(await application('careful', { secretName: 'careful-operator', keys })).toBe('Succeeded: OK');
    const pods = await podsOf(world, NAMESPACE, 'careful');
    const addresses = pods.map(pod => (pod['status'] as { podIP: string }).podIP);
    expect(addresses).toHaveLength(3);
    for (const ip of addresses) await expect(fetch(`http://${ip}:2379/health`)).rejects.toThrow();
  });

  test('takes renewed certificates up without a restart', async () => {
    const before = await lives('careful');
    const shown = await shownBy('careful');
    await apply((await coreosSecrets(authority, 'careful', NAMESPACE)).server);
    await poll(async () => (await shownBy('careful')).every(serial => !shown.includes(serial)), {
      timeoutMs: 150_000,
    });
    expect(await lives('careful')).toEqual(before);
    await awaitCondition(world, { namespace: NAMESPACE, name: 'careful' }, { type: 'Healthy' });
    await remove('careful');
  });
});

describe('TLS.auto', () => {
  const at = { namespace: NAMESPACE, name: 'effortless' };
  const keys = { ca: 'ca.crt', cert: 'tls.crt', key: 'tls.key' };

  test('needs nothing else, and publishes a Secret for applications', async () => {
    await apply(manifest(NAMESPACE, at.name, { size: 3, version: '3.6.16', TLS: { auto: {} } }));
    await awaitCondition(world, at, { type: 'Healthy' });
    await tlsReady(at.name, 'Ready');
    expect(await application(at.name, { secretName: `${at.name}-client-tls`, keys })).toBe('Succeeded: OK');
  });

  test('stays secure when it grows', async () => {
    await apply(manifest(NAMESPACE, at.name, { size: 5, version: '3.6.16', TLS: { auto: {} } }));
    await poll(async () => (await readCluster(world, NAMESPACE, at.name))?.status?.ready === '5/5', {
      timeoutMs: 120_000,
    });
    await awaitCondition(world, at, { type: 'Healthy' });
    expect(await shownBy(at.name)).toHaveLength(5);
  });

  test('renews a certificate that is near its end, without a restart', async () => {
    const before = await lives(at.name);
    const old = [...(await shownBy(at.name)), await bringNearItsEnd(at.name)];
    await poll(
      async () => {
        const shown = await shownBy(at.name);
        return shown.length === 5 && !shown.some(serial => old.includes(serial));
      },
      { timeoutMs: 200_000 },
    );
    expect(await lives(at.name)).toEqual(before);
    expect(await application(at.name, { secretName: `${at.name}-client-tls`, keys })).toBe('Succeeded: OK');
    await remove(at.name);
    await poll(async () => (await secretsOf(at.name)).length === 0, { timeoutMs: 60_000 });
  });
});
