/** The authorities of a living cluster are exchanged: etcd reads them only when it starts. */
import { describe, expect, it, test } from 'vitest';
import type { KubeObject, WritableObject } from '../../src/kube/port.ts';
import { ANNOTATION_AUTHORITIES } from '../../src/api/names.ts';
import { coreosSecrets, secret, staticTls, TestAuthority } from '../fakes/certificates.ts';
import { fault } from '../fakes/kubernetes/kube.ts';
import { OperatorWorld } from '../worlds/operator-world.ts';

const SPEC = { size: 3, version: '3.6.16' };
const MEMBERS = ['example-0', 'example-1', 'example-2'];
const CA_KEYS = ['peer-ca.crt', 'server-ca.crt', 'etcd-client-ca.crt'];
type Secrets = Readonly<Record<string, KubeObject>>;

function tlsReady(world: OperatorWorld) {
  return world.cluster.status.conditions?.find(({ type }) => type === 'TLSReady');
}

async function put(world: OperatorWorld, secrets: Secrets): Promise<void> {
  for (const object of Object.values(secrets)) await world.kube.as('kubectl').apply(object as WritableObject);
}

/** The same certificates, with these authorities beside them. */
function trusting(secrets: Secrets, ...authorities: readonly TestAuthority[]): Secrets {
  const bundle = Buffer.from(authorities.map(({ pair }) => pair.cert).join('\n')).toString('base64');
  const withBundle = (object: KubeObject): KubeObject => {
    const data = Object.entries(object['data'] as Record<string, string>);
    const changed = data.map(([key, value]) => [key, CA_KEYS.includes(key) ? bundle : value]);
    return { ...object, data: Object.fromEntries(changed) };
  };
  return Object.fromEntries(Object.entries(secrets).map(([role, object]) => [role, withBundle(object)]));
}

const uids = (world: OperatorWorld) =>
  MEMBERS.map(name => world.kube.peek(world.pod(name))?.metadata.uid ?? `${name} is not there`);

async function secured() {
  const world = new OperatorWorld({ spec: { ...SPEC, TLS: staticTls('example') } });
  const [old, next] = await Promise.all(
    ['company', 'successor'].map(name => TestAuthority.create(name, world.now)),
  );
  const before = await coreosSecrets(old!, 'example', 'shop');
  const after = await coreosSecrets(next!, 'example', 'shop');
  await put(world, before);
  await world.run();
  expect(tlsReady(world)).toMatchObject({ status: 'True', reason: 'Ready' });
  return { world, old: old!, next: next!, before, after };
}

describe('the authority of a living cluster with TLS.static', () => {
  test('that is exchanged at once is a fault, and no member is restarted', async () => {
    const { world, after, before } = await secured();
    const pods = uids(world);
    await put(world, after);
    await world.run();
    expect(tlsReady(world)).toMatchObject({ status: 'False', reason: 'AuthorityExchanged' });
    expect(tlsReady(world)?.message).toContain('example-0, example-1, example-2');
    expect(tlsReady(world)?.message).toContain('peer-ca.crt');
    expect(uids(world)).toEqual(pods);
    await put(world, before);
    await world.run();
    expect(tlsReady(world)).toMatchObject({ status: 'True', reason: 'Ready' });
    expect(uids(world)).toEqual(pods);
  });

  test('is brought to the members one by one, then used, then alone', async () => {
    const { world, old, next, before, after } = await secured();
    const first = uids(world);
    await put(world, trusting(before, old, next));
    await world.run();
    const second = uids(world);
    expect(second.filter(uid => first.includes(uid))).toEqual([]);
    expect(tlsReady(world)).toMatchObject({ status: 'True', reason: 'Ready' });
    await put(world, trusting(after, old, next));
    await world.run();
    expect(tlsReady(world)).toMatchObject({ status: 'True', reason: 'Ready' });
    expect(uids(world)).toEqual(second);
    await put(world, after);
    await world.run();
    expect(uids(world).filter(uid => second.includes(uid))).toEqual([]);
    expect(tlsReady(world)).toMatchObject({ status: 'True', reason: 'Ready' });
    expect(world.cluster.status.members?.details?.map(({ name }) => name)).toEqual(MEMBERS);
  });

  test('that signs before all members trust it stops the rollout until the certificate is put back', async () => {
    const { world, old, next, before, after } = await secured();
    const pods = uids(world);
    await put(world, trusting(after, old, next));
    expect((await world.run()).decision).toMatchObject({ kind: 'blocked', reason: 'AuthorityExchanged' });
    expect(uids(world)).toEqual(pods);
    await put(world, trusting(before, old, next));
    await world.run();
    expect(uids(world).filter(uid => pods.includes(uid))).toEqual([]);
    expect(tlsReady(world)).toMatchObject({ status: 'True', reason: 'Ready' });
  });

  test('is exchanged while the cluster sleeps, and all wake with it', async () => {
    const { world, after } = await secured();
    await put(world, after);
    await world.run();
    expect(tlsReady(world)?.reason).toBe('AuthorityExchanged');
    for (const hibernated of [true, false]) {
      await world.kube.as('kubectl').patch(world.resource, { spec: { hibernated } }, { type: 'merge' });
      await world.run();
    }
    expect(tlsReady(world)).toMatchObject({ status: 'True', reason: 'Ready' });
    expect(world.names('Pod')).toEqual(MEMBERS);
  });

  test.each([
    ['has no note of it', null],
    ['has a note that somebody damaged', '{"peer": "x"'],
  ])('is no fault of a pod that %s: what it trusts is not known', async (_, note) => {
    const { world, after } = await secured();
    const metadata = { annotations: { [ANNOTATION_AUTHORITIES]: note } };
    for (const name of MEMBERS)
      await world.kube.as('kubectl').patch(world.pod(name), { metadata }, { type: 'merge' });
    const pods = uids(world);
    await put(world, after);
    await world.run();
    expect(tlsReady(world)).toMatchObject({ status: 'True', reason: 'Ready' });
    expect(uids(world)).toEqual(pods);
  });
});

describe('variants of an exchange', () => {
  test('another authority of the same name is another one', async () => {
    const { world } = await secured();
    const namesake = await TestAuthority.create('company', world.now);
    await put(world, await coreosSecrets(namesake, 'example', 'shop'));
    await world.run();
    expect(tlsReady(world)).toMatchObject({ status: 'False', reason: 'AuthorityExchanged' });
  });

  test('Secrets of other names, with certificates of another authority, are not brought to the members', async () => {
    const { world, after, before, old, next } = await secured();
    const pods = uids(world);
    const renamed = (secrets: Secrets): Secrets =>
      Object.fromEntries(
        Object.entries(secrets).map(([role, object]) => [
          role,
          { ...object, metadata: { ...object.metadata, name: `${object.metadata.name}-2` } },
        ]),
      );
    await put(world, renamed(after));
    const member = { peerSecret: 'example-peer-2', serverSecret: 'example-server-2' };
    const TLS = { static: { member, operatorSecret: 'example-operator-2' } };
    await world.kube.as('kubectl').patch(world.resource, { spec: { TLS } }, { type: 'merge' });
    expect((await world.run()).decision).toMatchObject({ kind: 'blocked', reason: 'AuthorityExchanged' });
    expect(uids(world)).toEqual(pods);
    await put(world, renamed(trusting(before, old, next)));
    await world.run();
    expect(uids(world).filter(uid => pods.includes(uid))).toEqual([]);
    expect(tlsReady(world)?.status).toBe('True');
  });

  test('comes to the same when the operator is killed at any call while authorities are brought', async () => {
    const whole = await secured();
    const begun = whole.world.calls;
    await put(whole.world, trusting(whole.before, whole.old, whole.next));
    await whole.world.run();
    const calls = whole.world.calls - begun;
    // Each world makes a dozen keys.
    for (let at = 1; at <= calls; at += Math.ceil(calls / 4)) {
      const { world, before, old, next } = await secured();
      const pods = uids(world);
      await put(world, trusting(before, old, next));
      world.kill({ at });
      await world.run();
      expect([at, tlsReady(world)?.reason]).toEqual([at, 'Ready']);
      expect(uids(world).filter(uid => pods.includes(uid))).toEqual([]);
    }
  }, 120_000);
});

test('with TLS.auto nothing is signed by an authority that a user put in the place of the one that members trust', async () => {
  const world = new OperatorWorld({ spec: { ...SPEC, TLS: { auto: {} } } });
  await world.run();
  const peek = (name: string) =>
    world.kube.peek({ apiVersion: 'v1', kind: 'Secret', namespace: 'shop', name });
  const before = peek('example-peer-tls')?.['data'];
  const own = peek('example-peer-ca')?.['data'] as object;
  const { pair } = await TestAuthority.create('stranger', world.now);
  const { data } = secret('shop', 'x', { 'tls.crt': pair.cert, 'tls.key': pair.key }) as { data?: object };
  const ref = { apiVersion: 'v1', kind: 'Secret', namespace: 'shop', name: 'example-peer-ca' };
  await world.kube.as('kubectl').patch(ref, { data }, { type: 'merge' });
  await world.run();
  expect(peek('example-peer-tls')?.['data']).toEqual(before);
  expect(tlsReady(world)).toMatchObject({ status: 'False', reason: 'AuthorityExchanged' });
  expect(tlsReady(world)?.message).toContain('Secret example-peer-ca');
  await world.kube.as('kubectl').patch(ref, { data: own }, { type: 'merge' });
  await world.run();
  expect(tlsReady(world)).toMatchObject({ status: 'True', reason: 'Ready' });
  expect(peek('example-peer-tls')?.['data']).toEqual(before);
});

test('a cluster all of whose Secrets are deleted gets new authorities while it sleeps, and wakes on its data', async () => {
  const world = new OperatorWorld({ spec: { size: 3, version: '3.6.16', TLS: { auto: {} } } });
  await world.run();
  await world.run();
  const { clusterID } = world.cluster.status;
  const claims = world.kube.all('PersistentVolumeClaim').map(({ metadata }) => metadata.uid);
  for (const { metadata } of world.kube.all('Secret'))
    await world.kube
      .as('kubectl')
      .delete({ apiVersion: 'v1', kind: 'Secret', namespace: 'shop', name: metadata.name });
  await world.run();
  expect(tlsReady(world)).toMatchObject({
    reason: 'AuthorityLost',
    message: expect.stringContaining('spec.hibernated'),
  });
  for (const hibernated of [true, false]) {
    await world.kube.as('kubectl').patch(world.resource, { spec: { hibernated } }, { type: 'merge' });
    await world.run();
  }
  expect(tlsReady(world)).toMatchObject({ status: 'True', reason: 'Ready' });
  expect(world.cluster.status).toMatchObject({ clusterID, ready: '3/3' });
  expect(world.kube.all('PersistentVolumeClaim').map(({ metadata }) => metadata.uid)).toEqual(claims);
});

describe('a cluster of TLS.auto without its Secrets that is woken', () => {
  const edit = (world: OperatorWorld, spec: object) =>
    world.kube.as('kubectl').patch(world.resource, { spec }, { type: 'merge' });

  async function forgotten(which = /./): Promise<OperatorWorld> {
    const world = new OperatorWorld({ spec: { size: 3, version: '3.6.16', TLS: { auto: {} } } });
    await world.run();
    await world.run();
    for (const { metadata } of world.kube.all('Secret').filter(({ metadata: { name } }) => which.test(name)))
      await world.kube
        .as('kubectl')
        .delete({ apiVersion: 'v1', kind: 'Secret', namespace: 'shop', name: metadata.name });
    await world.run();
    await edit(world, { hibernated: true });
    return world;
  }

  const isBack = (world: OperatorWorld) => {
    expect(tlsReady(world)).toMatchObject({ status: 'True', reason: 'Ready' });
    expect(world.cluster.status.ready).toBe('3/3');
  };

  it.each([
    ['of all', /./],
    ['of one authority', /peer-ca/],
  ])('as soon as no pod is left gets new authorities before its members start: %s', async (_, which) => {
    const world = await forgotten(which);
    while (world.names('Pod').length > 0) await world.step();
    await edit(world, { hibernated: false });
    await world.run();
    isBack(world);
  });

  it('while they are being issued gets them all the same', async () => {
    const world = await forgotten();
    await world.runUntil('issueCertificates');
    await edit(world, { hibernated: false });
    await world.run();
    isBack(world);
  });

  it('and whose issuing failed gets them when it can', async () => {
    const world = await forgotten();
    while (world.names('Pod').length > 0) await world.step();
    const allow = world.kube.intercept(({ verb, kind }) => {
      if (verb === 'create' && kind === 'Secret') throw fault(403, 'Forbidden');
    });
    await edit(world, { hibernated: false });
    for (let pass = 0; pass < 4; pass += 1) await world.step().catch(() => undefined);
    allow();
    await world.run();
    isBack(world);
  });
});

test('what is lost with an authority is reported once, and no one is asked to create what the operator issues', async () => {
  const world = new OperatorWorld({ spec: { size: 3, version: '3.6.16', TLS: { auto: {} } } });
  await world.run();
  await world.run();
  for (const { metadata } of world.kube.all('Secret'))
    await world.kube
      .as('kubectl')
      .delete({ apiVersion: 'v1', kind: 'Secret', namespace: 'shop', name: metadata.name });
  await world.run();
  const { message = '' } = tlsReady(world) ?? {};
  expect(message).toMatch(/^Secrets example-peer-ca and example-client-ca, the authorities of /);
  expect(message.split('spec.hibernated to true')).toHaveLength(2);
  expect(message).not.toContain('create it');
});
