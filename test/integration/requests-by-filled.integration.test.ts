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
  const binding = ['ana', '-n', 'default', '--clusterrole=etcd-operator-user', '--user=ana'];
  await kubectl('create', 'rolebinding', ...binding);
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

test('a request in which nobody is named gets the name of who creates it, and any other name is refused', async () => {
  await inForce();
  expect(at(await ask('filled'), 'spec', 'by')).toBe('ana');
  expect(at(await ask('named', 'ana'), 'spec', 'by')).toBe('ana');
  await expect(ask('forged', 'bob')).rejects.toThrow('spec.by must be your user name, which is ana');
  await expect(ask('nobody', '')).rejects.toThrow('spec.by');
}, 120_000);
