/** TLS.certManager against a real API server: cert-manager's kind is made by the test, and its work done by it. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { CERTIFICATE, issuedFor } from '../../fakes/kubernetes/cert-manager.ts';
import { TestAuthority } from '../../fakes/certificates.ts';
import {
  awaitCondition,
  awaitRunning,
  createNamespace,
  leaveNamespace,
  manifest,
  openWorld,
  readCluster,
  type World,
} from '../../stack/e2e.ts';
import { poll } from '../../stack/poll.ts';

const NAMESPACE = 'cert-manager';
const at = { namespace: NAMESPACE, name: 'managed' };
const DEFINITION = 'certificates.cert-manager.io';
let world: World;

beforeAll(async () => {
  world = await openWorld();
  await createNamespace(world, NAMESPACE);
});
afterAll(async () => {
  await leaveNamespace(world, NAMESPACE);
  await world?.stack.kubectl('delete', 'crd', DEFINITION, '--ignore-not-found', '--wait=false');
});

/** The kind as cert-manager names it; of its fields the API server here checks nothing. */
const definition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: DEFINITION },
  spec: {
    group: 'cert-manager.io',
    scope: 'Namespaced',
    names: { kind: 'Certificate', plural: 'certificates', singular: 'certificate' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: {
          openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
        },
      },
    ],
  },
};

async function awaitReason(reason: string): Promise<string> {
  const found = await poll(
    async () => {
      const cluster = await readCluster(world, at.namespace, at.name);
      return cluster?.status?.conditions?.find(is => is.type === 'TLSReady' && is.reason === reason);
    },
    { timeoutMs: 90_000 },
  );
  return found.message;
}

test('a cluster waits for cert-manager, asks it, and is made with what it issues', async () => {
  const TLS = { certManager: { issuerRef: { name: 'company' } } };
  await world.kube.apply(manifest(NAMESPACE, at.name, { size: 3, version: '3.6.16', TLS }));
  expect(await awaitReason('CertManagerMissing')).toContain('install cert-manager');
  await world.kube.apply(definition);
  await awaitReason('Issuing');
  const { items } = await poll(async () => {
    const listed = await world.kube.list(CERTIFICATE, { namespace: NAMESPACE });
    return listed.items.length === 4 ? listed : undefined;
  });
  const begun = performance.now();
  const authority = await TestAuthority.create('company');
  for (const certificate of items) await world.kube.apply(await issuedFor(certificate, authority));
  await awaitCondition(world, at, { type: 'TLSReady' });
  const { status } = await awaitRunning(world, at);
  console.log(`certificates issued: healthy after ${((performance.now() - begun) / 1000).toFixed(1)} s`);
  expect(status).toMatchObject({ ready: '3/3', tls: { mode: 'certManager', peer: true, client: true } });
});

test('a Certificate that a user has edited is applied again with the next change of the cluster', async () => {
  const { items } = await world.kube.list(CERTIFICATE, { namespace: NAMESPACE });
  const { name } = items[0]!.metadata;
  const duration = async () => {
    const found = await world.kube.get({ ...CERTIFICATE, namespace: NAMESPACE, name });
    return (found?.['spec'] as { readonly duration: string } | undefined)?.duration;
  };
  const wanted = await duration();
  const edit = ['patch', 'certificate', name, '-n', NAMESPACE, '--type=merge', '-p'];
  await world.stack.kubectl(...edit, '{"spec":{"duration":"24h"}}');
  const change = ['patch', 'etcd', at.name, '-n', NAMESPACE, '--type=merge', '-p'];
  await world.stack.kubectl(...change, '{"spec":{"repair":{"maxReplacementsPerHour":2}}}');
  await poll(async () => (await duration()) === wanted || undefined, { timeoutMs: 90_000 });
  await awaitCondition(world, at, { type: 'TLSReady' });
});
