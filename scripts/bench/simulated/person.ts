import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { KubeClient } from '../../../src/kube/port.ts';
import type { ControlPlane } from '../../../test/stack/control-plane.ts';
import { kubeClientOf } from '../../../test/stack/kube-client.ts';

/**
 * Acts as somebody who may do everything and is none of system:masters: the API server serves others in between, as it does not with
 * those (Kubernetes docs, API Priority and Fairness).
 * @param name is given the rights; once in the life of a control plane
 */
export async function asPerson<Result>(
  plane: ControlPlane,
  name: string,
  act: (kube: KubeClient) => Promise<Result>,
): Promise<Result> {
  const binding = ['create', 'clusterrolebinding', name, '--clusterrole=cluster-admin', `--user=${name}`];
  await promisify(execFile)(plane.kubectl, ['--kubeconfig', plane.kubeconfig, ...binding]);
  const kube = kubeClientOf(await plane.kubeconfigFor(name), { fieldManager: name, connections: 32 });
  try {
    return await act(kube);
  } finally {
    await kube.close();
  }
}
