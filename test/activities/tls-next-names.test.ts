/** Certificates that list members by name, and a member that takes the place of another under the next number. */
import { expect, test } from 'vitest';
import type { KubeObject, WritableObject } from '../../src/kube/port.ts';
import { coreosSecrets, secret, staticTls, TestAuthority } from '../fakes/certificates.ts';
import { OperatorWorld } from '../worlds/operator-world.ts';

const HOSTS = [0, 1, 2].map(serial => `example-${serial}.example.shop.svc`);
const NEXT = 'example-3.example.shop.svc';

async function listed(hosts: readonly string[], authority: TestAuthority): Promise<KubeObject> {
  const { cert, key } = await authority.issue({ dnsNames: hosts });
  const data = { 'peer.crt': cert, 'peer.key': key, 'peer-ca.crt': authority.pair.cert };
  return secret('shop', 'example-peer', data);
}

async function running() {
  const TLS = staticTls('example');
  const world = new OperatorWorld({ spec: { size: 3, version: '3.6.16', TLS } });
  const authority = await TestAuthority.create('company', world.now);
  const put = (object: KubeObject) => world.kube.as('kubectl').apply(object as WritableObject);
  const { server, operator } = await coreosSecrets(authority, 'example', 'shop');
  for (const object of [await listed(HOSTS, authority), server, operator]) await put(object);
  await world.run();
  return { world, authority, put };
}

const tlsReady = (world: OperatorWorld) =>
  world.cluster.status.conditions?.find(({ type }) => type === 'TLSReady');
const ids = (world: OperatorWorld) => world.cluster.status.members?.details?.map(({ id }) => id);

test('a lost member stays listed until a certificate has the name of the one that takes its place', async () => {
  const { world, authority, put } = await running();
  const before = ids(world);
  await world.kube.as('kubectl').delete(world.claim('example-1'));
  await world.kube.as('kubectl').delete(world.pod('example-1'));
  const { decision } = await world.run();
  expect(decision).toMatchObject({ kind: 'blocked', reason: 'WrongNames' });
  expect(JSON.stringify(decision)).toContain(NEXT);
  expect(ids(world)).toEqual(before);
  await put(await listed([...HOSTS, NEXT], authority));
  await world.run();
  expect(world.names('Pod')).toEqual(['example-0', 'example-2', 'example-3']);
  expect(tlsReady(world)?.status).toBe('True');
});

test('a member that a user asks to have replaced gets no successor that no certificate names', async () => {
  const { world } = await running();
  const before = ids(world);
  const asked = {
    id: 1,
    kind: 'replaceMember',
    target: 'example-1',
    ids: [before?.[1] ?? ''],
    by: 'eve',
  } as const;
  const { decision } = await world.run({ requests: [asked] });
  expect(decision).toMatchObject({ kind: 'blocked', reason: 'WrongNames' });
  expect(ids(world)).toEqual(before);
});

test('it is said ahead that no member could take the place of another', async () => {
  const { world } = await running();
  expect(tlsReady(world)).toMatchObject({ status: 'True', reason: 'NextNamesMissing' });
  expect(tlsReady(world)?.message).toContain(NEXT);
});
