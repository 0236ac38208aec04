import { describe, expect, test } from 'vitest';
import type { KubeObject, WritableObject } from '../../src/kube/port.ts';
import { issueLeaf } from '../../src/tls/issue.ts';
import { coreosSecrets, DAY_MS, secret, staticTls, TestAuthority } from '../fakes/certificates.ts';
import { OperatorWorld } from '../worlds/operator-world.ts';

const SPEC = { size: 3, version: '3.6.16' };

function secured(): OperatorWorld {
  return new OperatorWorld({ spec: { ...SPEC, TLS: staticTls('example') } });
}

function tlsReady(world: OperatorWorld) {
  return world.cluster.status.conditions?.find(({ type }) => type === 'TLSReady');
}

function putSecret(world: OperatorWorld, object: KubeObject): Promise<unknown> {
  return world.kube.as('kubectl').apply(object as WritableObject);
}

async function secretsAt(world: OperatorWorld) {
  return coreosSecrets(await TestAuthority.create('company', world.now), 'example', 'shop');
}

function argsOf(world: OperatorWorld, pod: string): readonly string[] {
  const spec = world.kube.peek(world.pod(pod))?.['spec'] as { containers: [{ args: string[] }] } | undefined;
  return spec?.containers[0].args ?? [];
}

function textOf(world: OperatorWorld, name: string, key: string): string {
  const object = world.kube.peek({ apiVersion: 'v1', kind: 'Secret', namespace: 'shop', name });
  const data = (object?.['data'] ?? {}) as Record<string, string>;
  return Buffer.from(data[key] ?? '', 'base64').toString();
}

describe('a cluster with TLS.static', () => {
  test('is not begun without its Secrets, and is created once they are there', async () => {
    const world = secured();
    expect((await world.run()).decision).toMatchObject({ kind: 'blocked', reason: 'SecretMissing' });
    expect(tlsReady(world)).toMatchObject({ status: 'False', reason: 'SecretMissing' });
    expect(tlsReady(world)?.message).toContain('Secret example-peer in namespace shop');
    expect([
      ...world.names('Pod'),
      ...world.names('Service'),
      ...world.names('PersistentVolumeClaim'),
    ]).toEqual([]);
    expect(world.cluster.status.incarnation).toBeUndefined();
    for (const object of Object.values(await secretsAt(world))) await putSecret(world, object);
    expect((await world.run()).decision).toMatchObject({ kind: 'idle' });
    expect(tlsReady(world)).toMatchObject({ status: 'True', reason: 'Ready' });
    expect(argsOf(world, 'example-0')).toContain('--listen-client-urls=https://0.0.0.0:2379');
    expect(world.cluster.status.incarnation?.members[0]?.peerURL).toBe(
      'https://example-0.example.shop.svc:2380',
    );
  });

  test('takes the keys of cert-manager, and keeps to the keys that its pods mount', async () => {
    const world = secured();
    const made = await secretsAt(world);
    const standard = (object: KubeObject) => {
      const [cert = '', key = '', ca = ''] = Object.values(object['data'] as Record<string, string>);
      return { ...object, data: { 'tls.crt': cert, 'tls.key': key, 'ca.crt': ca } };
    };
    for (const object of Object.values(made)) await putSecret(world, standard(object));
    await world.run();
    expect(world.cluster.status.tls?.certificates?.map(({ keys }) => keys)).toEqual(
      Array(3).fill('Standard'),
    );
    const spec = world.kube.peek(world.pod('example-0'))?.['spec'] as { volumes: unknown[] };
    expect(JSON.stringify(spec.volumes)).toContain('"key":"ca.crt","path":"ca.crt"');
    const { namespace } = world.ref;
    await world.kube
      .as('kubectl')
      .delete({ apiVersion: 'v1', kind: 'Secret', namespace, name: 'example-server' });
    await putSecret(world, made.server);
    await world.run();
    expect(tlsReady(world)).toMatchObject({ reason: 'KeyMissing' });
    expect(tlsReady(world)?.message).toContain('tls.crt, tls.key, ca.crt');
  });

  test('lives on when a Secret breaks, says so, and recovers', async () => {
    const world = secured();
    const made = await secretsAt(world);
    for (const object of Object.values(made)) await putSecret(world, object);
    await world.run();
    const texts = { 'server.crt': 'x', 'server.key': 'y', 'server-ca.crt': 'z' };
    await putSecret(world, secret('shop', 'example-server', texts));
    await world.run();
    expect(tlsReady(world)).toMatchObject({ status: 'False', reason: 'Malformed' });
    expect(world.names('Pod')).toEqual(['example-0', 'example-1', 'example-2']);
    await putSecret(world, made.server);
    await world.run();
    expect(tlsReady(world)?.status).toBe('True');
  });

  test('does not grow by a member that its certificates do not know', async () => {
    const world = secured();
    const authority = await TestAuthority.create('company', world.now);
    const made = await coreosSecrets(authority, 'example', 'shop');
    const hosts = [0, 1, 2].map(serial => `example-${serial}.example.shop.svc`);
    const { cert, key } = await authority.issue({ dnsNames: hosts });
    const peer = { 'peer.crt': cert, 'peer.key': key, 'peer-ca.crt': authority.pair.cert };
    await putSecret(world, secret('shop', 'example-peer', peer));
    await putSecret(world, made.server);
    await putSecret(world, made.operator);
    await world.run();
    expect(tlsReady(world)).toMatchObject({ status: 'True' });
    await world.kube.as('kubectl').patch(world.resource, { spec: { size: 4 } }, { type: 'merge' });
    expect((await world.run()).decision).toMatchObject({ kind: 'blocked', reason: 'WrongNames' });
    expect(tlsReady(world)?.message).toContain('not valid for example-3.example.shop.svc');
    expect(world.names('Pod')).toHaveLength(3);
    await putSecret(world, made.peer);
    await world.run();
    expect(world.names('Pod')).toContain('example-3');
  });

  test('is not switched to plain text or back while it lives', async () => {
    const world = secured();
    for (const object of Object.values(await secretsAt(world))) await putSecret(world, object);
    await world.run();
    await world.kube.as('kubectl').patch(world.resource, { spec: { TLS: null } }, { type: 'merge' });
    expect((await world.run()).decision).toMatchObject({ kind: 'blocked', reason: 'ModeSwitched' });
    expect(tlsReady(world)?.message).toContain(
      'spec.TLS asks for plain text, but this cluster was made with TLS.static (peer and client traffic)',
    );
    const plain = new OperatorWorld({ spec: SPEC });
    await plain.run();
    const TLS = { auto: {} };
    await plain.kube.as('kubectl').patch(plain.resource, { spec: { TLS } }, { type: 'merge' });
    expect((await plain.run()).decision).toMatchObject({ kind: 'blocked', reason: 'ModeSwitched' });
  });
});

describe('a cluster with TLS.auto', () => {
  const auto = () => new OperatorWorld({ spec: { ...SPEC, TLS: { auto: {} } } });
  const ISSUED = ['peer-ca', 'client-ca', 'peer-tls', 'server-tls', 'operator-tls', 'client-tls'];

  test('gets two authorities and its certificates, and one for applications', async () => {
    const world = auto();
    expect((await world.run()).decision).toMatchObject({ kind: 'idle' });
    expect(world.names('Secret').sort()).toEqual(ISSUED.map(name => `example-${name}`).sort());
    expect(tlsReady(world)).toMatchObject({ status: 'True', reason: 'Ready' });
    expect(textOf(world, 'example-client-tls', 'ca.crt')).toBe(textOf(world, 'example-client-ca', 'tls.crt'));
    expect(textOf(world, 'example-peer-tls', 'ca.crt')).toBe(textOf(world, 'example-peer-ca', 'tls.crt'));
    expect(argsOf(world, 'example-1')).toContain('--peer-skip-client-san-verification=true');
  });

  test('has them renewed before they expire, by the same authority', async () => {
    const world = auto();
    await world.run();
    const before = textOf(world, 'example-server-tls', 'tls.crt');
    const authority = textOf(world, 'example-client-ca', 'tls.crt');
    world.now += 50 * DAY_MS;
    await world.run();
    expect(textOf(world, 'example-server-tls', 'tls.crt')).toBe(before);
    world.now += 15 * DAY_MS;
    await world.run();
    expect(textOf(world, 'example-server-tls', 'tls.crt')).not.toBe(before);
    expect(textOf(world, 'example-client-ca', 'tls.crt')).toBe(authority);
    expect(tlsReady(world)).toMatchObject({ status: 'True', reason: 'Ready' });
  });

  test.each(ISSUED.slice(2))('gets %s back when a user deletes it', async name => {
    const world = auto();
    await world.run();
    const ref = { apiVersion: 'v1', kind: 'Secret', namespace: 'shop', name: `example-${name}` };
    await world.kube.as('kubectl').delete(ref);
    await world.run();
    expect(world.kube.peek(ref)).toBeDefined();
    expect(tlsReady(world)?.status).toBe('True');
  });

  test('is never given another authority once it has formed', async () => {
    const world = auto();
    await world.run();
    const name = 'example-client-ca';
    await world.kube.as('kubectl').delete({ apiVersion: 'v1', kind: 'Secret', namespace: 'shop', name });
    await world.run();
    expect(world.names('Secret')).not.toContain(name);
    expect(tlsReady(world)).toMatchObject({ status: 'False', reason: 'AuthorityLost' });
  });

  test('says a year ahead that an authority ends', async () => {
    const world = auto();
    await world.run();
    world.now += (9 * 365 - 40) * DAY_MS;
    await world.run();
    expect(tlsReady(world)).toMatchObject({ status: 'True', reason: 'Ready' });
    world.now += 80 * DAY_MS;
    await world.run();
    expect(tlsReady(world)).toMatchObject({ status: 'True', reason: 'ExpiresSoon' });
    expect(tlsReady(world)?.message).toContain('the authority in Secret example-peer-ca expires on 2036-11-');
  });

  test('takes no one else’s Secret for its own', async () => {
    const world = auto();
    await putSecret(world, secret('shop', 'example-client-tls', { 'tls.crt': 'mine' }));
    expect((await world.run()).decision).toMatchObject({ kind: 'blocked', reason: 'NameTaken' });
    expect(textOf(world, 'example-client-tls', 'tls.crt')).toBe('mine');
    expect(world.names('Pod')).toEqual([]);
  });

  test('comes to the same when the operator is killed while it issues them', async () => {
    const whole = auto();
    await whole.step();
    // Every fifth: each world makes a dozen keys.
    for (let at = 1; at <= whole.calls; at += 5) {
      const world = auto();
      world.kill({ at });
      await world.runUntilKilled();
      let issuing = true;
      while (issuing) {
        const { decision } = await world.step();
        issuing = decision.kind === 'operate' && decision.step.kind === 'issueCertificates';
      }
      expect([at, tlsReady(world)?.status]).toEqual([at, 'True']);
      expect(world.names('Secret')).toHaveLength(ISSUED.length);
    }
  }, 60_000);
});

test('no key and no certificate leaves the activity that reads it', async () => {
  const reported: unknown[] = [];
  const world = new OperatorWorld({ spec: { ...SPEC, TLS: { auto: {} } } });
  for (let pass = 0; pass < 20; pass += 1) {
    world.kubelet.settle();
    reported.push(await world.step());
  }
  const material = (
    await Promise.all(world.names('Secret').map(async name => textOf(world, name, 'tls.key')))
  ).filter(text => text !== '');
  expect(material).toHaveLength(6);
  const cert = textOf(world, 'example-server-tls', 'tls.crt');
  // A certificate that the authority did not make is reported as a fault, with names only.
  const stranger = await TestAuthority.create('stranger', world.now);
  const pair = await issueLeaf(
    stranger.pair,
    { commonName: 'x', usages: ['client'], dnsNames: [], addresses: [] },
    { now: world.now, lasts: DAY_MS },
  );
  const ca = stranger.pair.cert;
  const texts = { 'tls.crt': pair.cert, 'tls.key': pair.key, 'ca.crt': ca };
  const { data } = secret('shop', 'x', texts) as unknown as { data: object };
  const ref = { apiVersion: 'v1', kind: 'Secret', namespace: 'shop', name: 'example-operator-tls' };
  await world.kube.as('kubectl').patch(ref, { data }, { type: 'merge' });
  reported.push(await world.look(), world.cluster, world.events, world.passes);
  const everything = JSON.stringify(reported);
  expect(everything).toContain('example-operator-tls');
  for (const text of [...material, cert, pair.key, pair.cert, ca]) {
    for (const line of text.split('\n').filter(entry => entry.length > 40))
      expect(everything).not.toContain(line);
  }
  expect(everything).not.toMatch(/-----BEGIN|PRIVATE KEY/);
});

describe('two clocks that differ', () => {
  const auto = { spec: { ...SPEC, TLS: { auto: {} } } };
  const monthsAhead = 200 * DAY_MS;
  const certOf = (world: OperatorWorld) => textOf(world, 'example-server-tls', 'tls.crt');

  test('renew nothing, whichever of them is wrong, and say so', async () => {
    const world = new OperatorWorld(auto);
    await world.run();
    const before = certOf(world);
    world.now += monthsAhead;
    for (const aheadMs of [-monthsAhead, monthsAhead]) {
      world.clockAheadMs = aheadMs;
      const { decision } = await world.run();
      expect(decision).toMatchObject({ kind: 'blocked', reason: 'ClocksDiffer' });
      expect(tlsReady(world)).toMatchObject({ status: 'Unknown', reason: 'ClocksDiffer' });
      expect(certOf(world)).toBe(before);
    }
    world.clockAheadMs = 0;
    expect((await world.run()).decision).toMatchObject({ kind: 'idle' });
    expect(certOf(world)).not.toBe(before);
    expect(tlsReady(world)).toMatchObject({ status: 'True', reason: 'Ready' });
  });

  test('do not keep members from being started again', async () => {
    const world = new OperatorWorld(auto);
    await world.run();
    world.now += 70 * DAY_MS;
    world.clockAheadMs = -70 * DAY_MS;
    await world.kube.as('kubectl').delete(world.pod('example-1'));
    await world.run();
    expect(world.names('Pod')).toContain('example-1');
    expect(tlsReady(world)).toMatchObject({ reason: 'ClocksDiffer' });
  });

  test('are no matter while nothing is due', async () => {
    const world = new OperatorWorld(auto);
    await world.run();
    world.clockAheadMs = monthsAhead;
    expect((await world.run()).decision).toMatchObject({ kind: 'idle' });
    expect(tlsReady(world)).toMatchObject({ status: 'True', reason: 'Ready' });
  });

  test('begin no cluster, and say why', async () => {
    const world = new OperatorWorld(auto);
    world.clockAheadMs = 2 * 3_600_000;
    expect((await world.run()).decision).toMatchObject({ kind: 'blocked', reason: 'ClocksDiffer' });
    expect(tlsReady(world)?.message).toContain('120 minutes ahead');
    expect(world.names('Secret')).toEqual([]);
  });
});
