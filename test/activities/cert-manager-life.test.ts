import { describe, expect, test } from 'vitest';
import type { KubeObject, WritableObject } from '../../src/kube/port.ts';
import { CERTIFICATE, type CertificateSpec, issuedFor } from '../fakes/kubernetes/cert-manager.ts';
import { secret, TestAuthority } from '../fakes/certificates.ts';
import { fault } from '../fakes/kubernetes/kube.ts';
import { OperatorWorld } from '../worlds/operator-world.ts';

const NAMESPACE = 'shop';
const ASKED = ['client', 'operator', 'peer', 'server'].map(role => `example-${role}-tls`);

function managed(issuerRef: { name: string; kind?: string } = { name: 'company' }): OperatorWorld {
  return new OperatorWorld({ spec: { size: 3, version: '3.6.16', TLS: { certManager: { issuerRef } } } });
}

function tlsReady(world: OperatorWorld) {
  return world.cluster.status.conditions?.find(({ type }) => type === 'TLSReady');
}

function found(world: OperatorWorld, name: string): KubeObject {
  const object = world.kube.peek({ ...CERTIFICATE, namespace: NAMESPACE, name });
  if (object === undefined) throw new Error(`no Certificate ${name}`);
  return object;
}

const asked = (world: OperatorWorld, name: string): CertificateSpec =>
  found(world, name)['spec'] as CertificateSpec;

async function issueAll(world: OperatorWorld, authority: TestAuthority): Promise<void> {
  for (const name of world.names('Certificate')) {
    await world.kube.as('cert-manager').apply(await issuedFor(found(world, name), authority));
  }
}

async function say(world: OperatorWorld, name: string, status: object): Promise<void> {
  const at = { ...CERTIFICATE, namespace: NAMESPACE, name };
  await world.kube.as('cert-manager').patch(at, { status }, { type: 'merge', subresource: 'status' });
}

describe('a cluster with TLS.certManager', () => {
  test('says of good certificates that a ClusterIssuer signs for all namespaces', async () => {
    const world = managed({ name: 'company', kind: 'ClusterIssuer' });
    await world.run();
    await issueAll(world, await TestAuthority.create('company', world.now));
    await world.run();
    expect(tlsReady(world)).toMatchObject({ status: 'True', reason: 'SharedIssuer' });
    expect(tlsReady(world)?.message).toMatch(
      /ClusterIssuer company .* common name root is the superuser.* until /,
    );
  });

  test('asks for its certificates, waits, and is created with them', async () => {
    const world = managed();
    expect((await world.run()).decision).toMatchObject({ kind: 'blocked', reason: 'Issuing' });
    expect(world.names('Certificate')).toEqual(ASKED);
    expect(world.names('Pod')).toEqual([]);
    const spec = asked(world, 'example-server-tls');
    expect(spec.issuerRef).toEqual({ name: 'company', kind: 'Issuer', group: 'cert-manager.io' });
    expect(spec.privateKey).toMatchObject({ rotationPolicy: 'Always' });
    expect(spec.dnsNames).toEqual(
      expect.arrayContaining(['*.example.shop.svc', 'example-client.shop.svc', 'localhost']),
    );
    const condition = { type: 'Ready', status: 'False', message: 'Issuer company not found' };
    await say(world, 'example-peer-tls', { conditions: [condition] });
    await world.run();
    expect(tlsReady(world)).toMatchObject({ status: 'False', reason: 'Issuing' });
    expect(tlsReady(world)?.message).toContain(
      'cert-manager has not issued Secret example-peer-tls, the peer certificate of the members: Issuer company not found',
    );
    await issueAll(world, await TestAuthority.create('company', world.now));
    expect((await world.run()).decision).toMatchObject({ kind: 'idle' });
    expect(tlsReady(world)).toMatchObject({ status: 'True', reason: 'Ready' });
    expect(world.names('Pod')).toHaveLength(3);
    expect(world.cluster.status.tls).toMatchObject({ mode: 'certManager', peer: true, client: true });
    const pod = world.kube.peek(world.pod('example-0'))?.['spec'] as { containers: [{ args: string[] }] };
    expect(pod.containers[0].args).toContain('--listen-client-urls=https://0.0.0.0:2379');
    expect(JSON.stringify(pod)).not.toContain('skip-client-san-verification');
  });

  test('says of an issuer that leaves its authority out that it does', async () => {
    const world = managed();
    await world.run();
    await issueAll(world, await TestAuthority.create('company', world.now));
    for (const name of ASKED) {
      await say(world, name, { conditions: [{ type: 'Ready', status: 'True' }] });
      world.kube.mutate({ apiVersion: 'v1', kind: 'Secret', namespace: NAMESPACE, name }, made => {
        Reflect.deleteProperty(made['data'] as object, 'ca.crt');
      });
    }
    expect((await world.run()).decision).toMatchObject({ kind: 'blocked', reason: 'KeyMissing' });
    expect(tlsReady(world)?.message).toContain(
      'cert-manager has issued Secret example-peer-tls, the peer certificate of the members, without ca.crt: set spec.TLS.certManager to an issuer',
    );
  });

  test('whose issuer is changed asks it when no member runs, and wakes with its authority', async () => {
    const world = managed();
    await world.run();
    await issueAll(world, await TestAuthority.create('company', world.now));
    await world.run();
    const issuerRef = { name: 'other', kind: 'ClusterIssuer' };
    const edit = (spec: object) =>
      world.kube.as('kubectl').patch(world.resource, { spec }, { type: 'merge' });
    await edit({ TLS: { certManager: { issuerRef } } });
    expect((await world.run()).decision).toMatchObject({ kind: 'blocked', reason: 'IssuerChanged' });
    for (const name of ASKED) expect(asked(world, name).issuerRef).toMatchObject({ name: 'company' });
    expect(tlsReady(world)).toMatchObject({ status: 'True', reason: 'IssuerChanged' });
    await edit({ hibernated: true });
    await world.run();
    for (const name of ASKED) expect(asked(world, name).issuerRef).toMatchObject(issuerRef);
    await issueAll(world, await TestAuthority.create('other', world.now));
    await edit({ hibernated: false });
    expect((await world.run()).decision).toMatchObject({ kind: 'idle' });
    expect(world.names('Pod')).toHaveLength(3);
    expect(tlsReady(world)).toMatchObject({ status: 'True', reason: 'SharedIssuer' });
  });

  test('whose issuer is changed, and whose Certificate a user deletes so that it is created again', async () => {
    const world = managed();
    await world.run();
    await issueAll(world, await TestAuthority.create('company', world.now));
    for (const name of ASKED)
      world.kube.mutate({ apiVersion: 'v1', kind: 'Secret', namespace: NAMESPACE, name }, made => {
        made.metadata.annotations = {
          ...made.metadata.annotations,
          'cert-manager.io/issuer-name': 'company',
        };
      });
    await world.run();
    const spec = { TLS: { certManager: { issuerRef: { name: 'other' } } } };
    await world.kube.as('kubectl').patch(world.resource, { spec }, { type: 'merge' });
    for (const name of ASKED)
      await world.kube.as('kubectl').delete({ ...CERTIFICATE, namespace: NAMESPACE, name });
    expect((await world.run()).decision).toMatchObject({ kind: 'blocked', reason: 'IssuerChanged' });
    expect(world.names('Certificate')).toEqual([]);
    await world.kube.as('kubectl').patch(world.resource, { spec: { hibernated: true } }, { type: 'merge' });
    await world.run();
    expect(world.names('Certificate')).toEqual(ASKED);
  });

  test('whose certificates come from another authority by themselves says who does not trust them', async () => {
    const world = managed();
    await world.run();
    await issueAll(world, await TestAuthority.create('company', world.now));
    await world.run();
    await issueAll(world, await TestAuthority.create('company renewed with another key', world.now));
    await world.run();
    expect(tlsReady(world)).toMatchObject({ status: 'False', reason: 'AuthorityExchanged' });
    expect(tlsReady(world)?.message).toContain('issue it from the previous authority again');
  });

  test('gets a Certificate back that a user deleted', async () => {
    const world = managed();
    await world.run();
    await issueAll(world, await TestAuthority.create('company', world.now));
    await world.run();
    const at = { ...CERTIFICATE, namespace: NAMESPACE, name: 'example-peer-tls' };
    await world.kube.as('kubectl').delete(at);
    expect((await world.run()).decision).toMatchObject({ kind: 'idle' });
    expect(world.names('Certificate')).toEqual(ASKED);
  });

  test('says that cert-manager is not installed, and continues when it is', async () => {
    const world = managed();
    let installed = false;
    world.kube.intercept(({ kind }) => {
      if (kind === 'Certificate' && !installed) throw fault(404, 'NotFound');
    });
    expect((await world.run()).decision).toMatchObject({ kind: 'blocked', reason: 'CertManagerMissing' });
    expect(tlsReady(world)).toMatchObject({ status: 'False', reason: 'CertManagerMissing' });
    expect(tlsReady(world)?.message).toContain('does not serve cert-manager.io/v1: install cert-manager');
    expect(world.names('Pod')).toEqual([]);
    installed = true;
    expect((await world.run()).decision).toMatchObject({ kind: 'blocked', reason: 'Issuing' });
  });

  test.each([
    ['Secret', secret(NAMESPACE, 'example-client-tls', { 'tls.crt': 'mine' })],
    [
      'Certificate',
      { ...CERTIFICATE, metadata: { namespace: NAMESPACE, name: 'example-client-tls' }, spec: {} },
    ],
  ])('takes no one else’s %s for its own', async (kind, object) => {
    const world = managed();
    await world.kube.as('kubectl').apply(object as WritableObject);
    expect((await world.run()).decision).toMatchObject({ kind: 'blocked', reason: 'NameTaken' });
    expect(tlsReady(world)?.message).toContain(
      `${kind} example-client-tls in namespace shop is not owned by`,
    );
    expect(world.names('Pod')).toEqual([]);
  });

  test('comes to the same when the operator is killed at any call while it asks', async () => {
    const whole = managed();
    await whole.run();
    for (let at = 1; at <= whole.calls; at += 1) {
      const world = managed();
      world.kill({ at });
      await world.runUntilKilled();
      expect([at, (await world.run()).decision]).toMatchObject([at, { kind: 'blocked', reason: 'Issuing' }]);
      expect(world.names('Certificate')).toEqual(ASKED);
    }
  }, 60_000);
});
