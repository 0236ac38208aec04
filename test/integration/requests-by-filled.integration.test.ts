/** deploy/users/by-filled on an apiserver that has MutatingAdmissionPolicy switched on, beside the policy of deploy/users. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { root } from '../../scripts/run.ts';
import { API_VERSION } from '../../src/api/names.ts';
import type { ClosableKubeClient } from '../../src/kube/client.ts';
import type { KubeObject } from '../../src/kube/port.ts';
import { at } from '../deploy/manifests.ts';
import { type ControlPlane, startControlPlane } from '../stack/control-plane.ts';
import { kubeClientOf } from '../stack/kube-client.ts';
import { poll } from '../stack/poll.ts';

const run = promisify(execFile);
let plane: ControlPlane;
let ana: ClosableKubeClient;

const kubectl = (...args: string[]) => run(plane.kubectl, ['--kubeconfig', plane.kubeconfig, ...args]);

beforeAll(async () => {
  plane = await startControlPlane([
    '--feature-gates=MutatingAdmissionPolicy=true',
    '--runtime-config=admissionregistration.k8s.io/v1beta1=true',
  ]);
  for (const folder of ['crd', 'users', 'users/by-filled'])
    await kubectl('apply', '--server-side', '-k', join(root, 'deploy', folder));
  await kubectl('wait', '--for=condition=Established', 'crd', '--all', '--timeout=60s');
  for (const role of ['etcd-operator-user', 'etcd-admin']) {
    const binding = [`ana-${role}`, '-n', 'default', `--clusterrole=${role}`, '--user=ana'];
    await kubectl('create', 'rolebinding', ...binding);
  }
  ana = kubeClientOf(await plane.kubeconfigFor('ana'));
}, 180_000);

afterAll(async () => {
  await ana?.close();
  await plane?.stop();
});

function ask(name: string, by?: string): Promise<KubeObject> {
  const spec = { clusterRef: { name: 'example' }, action: 'Pause', ...(by !== undefined && { by }) };
  return ana.create({
    apiVersion: API_VERSION,
    kind: 'EtcdRequest',
    metadata: { namespace: 'default', name },
    spec,
  });
}

/** Policies take effect a moment after they are stored. */
async function inForce(): Promise<void> {
  let number = 0;
  const isRefused = () =>
    ask(`forged-${(number += 1)}`, 'bob').then(
      () => false,
      () => true,
    );
  const isFilled = () =>
    ask(`early-${number}`).then(
      () => true,
      () => false,
    );
  await poll(async () => (await isRefused()) && (await isFilled()), { timeoutMs: 60_000 });
}

test('a request in which no one is named gets the name of who creates it, and any other name is refused', async () => {
  await inForce();
  expect(at(await ask('filled'), 'spec', 'by')).toBe('ana');
  expect(at(await ask('named', 'ana'), 'spec', 'by')).toBe('ana');
  await expect(ask('forged', 'bob')).rejects.toThrow('spec.by must be your user name, which is ana');
  await expect(ask('nobody', '')).rejects.toThrow('spec.by');
}, 120_000);

test('an EtcdRestore names the user who creates it or changes what it asks for, or no one', async () => {
  await inForce();
  const restore = (name: string, by?: string): Promise<KubeObject> =>
    ana.create({
      apiVersion: API_VERSION,
      kind: 'EtcdRestore',
      metadata: { namespace: 'default', name },
      spec: {
        etcdCluster: { name: 'example' },
        backupRef: { name: 'nightly' },
        ...(by !== undefined && { by }),
      },
    });
  const forged = 'spec.by must be your user name, which is ana, or be left out';
  await expect(restore('forged', 'bob')).rejects.toThrow(forged);
  expect(at(await restore('nobody'), 'spec', 'by')).toBeUndefined();
  expect(at(await restore('named', 'ana'), 'spec', 'by')).toBe('ana');
  const confirm = ['etcdrestore/named', '--type=merge', '-p', '{"spec":{"confirmClusterID":"8e9e05c5"}}'];
  await expect(kubectl('patch', ...confirm)).rejects.toThrow('spec.by must be your user name');
  await kubectl('annotate', 'etcdrestore/named', 'looked=at');
  const patch = { spec: { confirmClusterID: '8e9e05c5' } };
  const ref = { apiVersion: API_VERSION, kind: 'EtcdRestore', namespace: 'default', name: 'named' };
  expect(at(await ana.patch(ref, patch, { type: 'merge' }), 'spec', 'by')).toBe('ana');
}, 120_000);
