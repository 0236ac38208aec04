/** The operator's own client certificate, when it cannot be used: a half-finished rotation, a mistake of a person. */
import 'reflect-metadata';
import { webcrypto } from 'node:crypto';
import * as x509 from '@peculiar/x509';
import { describe, expect, test } from 'vitest';
import { openSource } from '../../src/activities/backup/source.ts';
import { onLeader } from '../../src/activities/cluster/leader.ts';
import { observe } from '../../src/activities/observe/observe.ts';
import { probeMembers } from '../../src/activities/observe/probe.ts';
import { clientAccess, readTlsSecrets } from '../../src/activities/observe/certificate-secrets.ts';
import { API_VERSION } from '../../src/api/names.ts';
import type { EtcdBackup } from '../../src/api/schemas/types.ts';
import type { KubeObject, WritableObject } from '../../src/kube/port.ts';
import { coreosSecrets, secret, staticTls, TestAuthority } from '../fakes/certificates.ts';
import { OperatorWorld } from '../worlds/operator-world.ts';
import { situationOf } from '../../src/planner/situation.ts';

const SPEC = { size: 3, version: '3.6.16' };

function tlsReady(world: OperatorWorld) {
  return world.cluster.status.conditions?.find(({ type }) => type === 'TLSReady');
}

async function put(world: OperatorWorld, object: KubeObject): Promise<void> {
  await world.kube.as('kubectl').apply(object as WritableObject);
}

async function remove(world: OperatorWorld, pod: string): Promise<void> {
  await world.kube.as('kubectl').delete(world.pod(pod));
}

/** Certificate of one pair, key of another: both are good, and they do not belong together. */
async function mismatched(authority: TestAuthority) {
  const [one, other] = [
    await authority.issue({ usages: ['client'] }),
    await authority.issue({ usages: ['client'] }),
  ];
  return { cert: one.cert, key: other.key, ca: authority.pair.cert };
}

/** An RSA pair of so many bits. */
async function selfSigned(bits: number) {
  const algorithm = {
    name: 'RSASSA-PKCS1-v1_5',
    hash: 'SHA-256',
    modulusLength: bits,
    publicExponent: new Uint8Array([1, 0, 1]),
  };
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    name: 'CN=operator',
    keys,
    signingAlgorithm: algorithm,
  });
  const key = x509.PemConverter.encode(
    await webcrypto.subtle.exportKey('pkcs8', keys.privateKey),
    'PRIVATE KEY',
  );
  return { cert: certificate.toString('pem'), key };
}

async function brokenStatic() {
  const world = new OperatorWorld({ spec: { ...SPEC, TLS: staticTls('example') } });
  const authority = await TestAuthority.create('company', world.now);
  const made = await coreosSecrets(authority, 'example', 'shop');
  for (const object of Object.values(made)) await put(world, object);
  await world.run();
  const { cert, key, ca } = await mismatched(authority);
  const texts = { 'etcd-client.crt': cert, 'etcd-client.key': key, 'etcd-client-ca.crt': ca };
  const bad = secret('shop', 'example-operator', texts);
  await put(world, bad);
  return { world, spoil: () => put(world, bad), mend: () => put(world, made.operator) };
}

describe('a client certificate of the operator whose key is another one’s', () => {
  test('is said with its Secret, and what does not match', async () => {
    const { world, mend } = await brokenStatic();
    await world.look();
    expect(tlsReady(world)).toMatchObject({ status: 'False', reason: 'KeyMismatch' });
    expect(tlsReady(world)?.message).toContain('etcd-client.key of Secret example-operator');
    expect(tlsReady(world)?.message).toContain('the private key does not match the certificate');
    const health = world.cluster.status.members?.details?.map(member => member.health);
    expect(health).toEqual(['Unknown', 'Unknown', 'Unknown']);
    await mend();
    await world.run();
    expect(tlsReady(world)).toMatchObject({ status: 'True', reason: 'Ready' });
    expect(world.cluster.status.members?.ready).toHaveLength(3);
  });

  test('keeps no pod that is gone from being started again', async () => {
    const { world } = await brokenStatic();
    await remove(world, 'example-1');
    world.kubelet.settle();
    await world.run();
    expect(world.names('Pod')).toEqual(['example-0', 'example-1', 'example-2']);
    expect(tlsReady(world)?.reason).toBe('KeyMismatch');
  });

  test('is issued again with TLS.auto', async () => {
    const world = new OperatorWorld({ spec: { ...SPEC, TLS: { auto: {} } } });
    await world.run();
    const { cert, key } = await mismatched(await TestAuthority.create('stranger', world.now));
    const ref = { apiVersion: 'v1', kind: 'Secret', namespace: 'shop', name: 'example-operator-tls' };
    const { data } = secret('shop', 'x', { 'tls.crt': cert, 'tls.key': key }) as unknown as { data: object };
    await world.kube.as('kubectl').patch(ref, { data }, { type: 'merge' });
    expect((await world.look()).decision).toMatchObject({
      kind: 'operate',
      step: { kind: 'issueCertificates', secrets: ['example-operator-tls'] },
    });
    expect((await world.run()).decision).toMatchObject({ kind: 'idle' });
    expect(tlsReady(world)).toMatchObject({ status: 'True', reason: 'Ready' });
  });

  test('fails a step that would ask the leader, with the reason', async () => {
    const { world, mend, spoil } = await brokenStatic();
    await mend();
    const seen = await observe(world.deps, world.ref);
    await spoil();
    if (seen === undefined) throw new Error('the cluster is gone');
    await expect(
      onLeader(world.deps, situationOf(seen.observation), leader => leader.status()),
    ).rejects.toMatchObject({
      type: 'PreconditionChanged',
      message: expect.stringMatching(/Secret example-operator cannot be used: etcd-client\.key/),
    });
    expect(world.etcd.open).toBe(0);
  });
});

test('a backup of such a cluster reports it, and is tried again', async () => {
  const { world } = await brokenStatic();
  const backup = {
    apiVersion: API_VERSION,
    kind: 'EtcdBackup',
    metadata: { name: 'nightly', namespace: 'shop', uid: 'b1' },
    spec: { clusterRef: { name: 'example' } },
  } as unknown as EtcdBackup;
  const deps = { ...world.deps, endpointsAllowed: ['10.0.0.9'] };
  await expect(openSource(deps, backup)).rejects.toMatchObject({
    name: 'BackupFailure',
    retry: 'later',
    message: expect.stringMatching(/in Secret example-operator cannot be used: etcd-client\.key: /),
  });
});

test('one that OpenSSL refuses for a reason of its own is a fault of the certificate, too', async () => {
  const { world } = await brokenStatic();
  const weak = await selfSigned(1024);
  const texts = {
    'etcd-client.crt': weak.cert,
    'etcd-client.key': weak.key,
    'etcd-client-ca.crt': weak.cert,
  };
  await put(world, secret('shop', 'example-operator', texts));
  await world.look();
  expect(tlsReady(world)?.status).toBe('False');
  expect(tlsReady(world)?.message).toMatch(/Secret example-operator .*key too small/i);
  expect(JSON.stringify(world.cluster)).not.toContain('PRIVATE KEY');
});

test('a member that cannot be dialled is one that does not answer, and the others are asked', async () => {
  const world = new OperatorWorld({ spec: SPEC });
  await world.run();
  const { observation } = (await observe(world.deps, world.ref)) ?? {};
  const access = clientAccess(await readTlsSecrets(world.kube, world.cluster));
  const [first, ...others] = observation?.pods ?? [];
  const refusing = {
    member: (target: Parameters<typeof world.etcd.member>[0]) => {
      if (target.host === first?.ip) throw new Error('no such material');
      return world.etcd.member(target);
    },
  };
  const { probes, membership } = await probeMembers(
    refusing,
    { name: 'example', namespace: 'shop', domain: 'cluster.local', access },
    observation?.pods ?? [],
  );
  expect(probes[first?.name ?? '']).toEqual({ answered: false, message: 'no such material' });
  expect(others.map(({ name }) => probes[name]?.answered)).toEqual([true, true]);
  expect(membership.known).toBe(true);
  expect(world.etcd.open).toBe(0);
});
