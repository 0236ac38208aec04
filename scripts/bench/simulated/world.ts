/** A real apiserver with the manifests of deploy/, a real Temporal, simulated nodes, and the operator as it is deployed. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createKubeClient } from '../../../src/kube/client.ts';
import { FileCredentials } from '../../../src/kube/credentials.ts';
import { type KubeClient, silentLogger } from '../../../src/kube/port.ts';
import { startControlPlane } from '../../../test/stack/control-plane.ts';
import { type OperatorProcess, startOperatorProcess } from '../../../test/stack/operator-process.ts';
import { poll } from '../../../test/stack/poll.ts';
import { startTemporal } from '../../../test/stack/temporal-server.ts';
import { root, runNode } from '../../run.ts';
import { SimulatedKubelet } from './kubelet.ts';

export interface SimulatedWorld {
  readonly kube: KubeClient;
  readonly temporalAddress: string;
  /** Starts a replica, compiled, with the rights that deploy/ gives it. */
  readonly startOperator: () => Promise<OperatorProcess>;
  readonly stop: () => Promise<void>;
}

const execute = promisify(execFile);
const ACCOUNT = 'system:serviceaccount:etcd-operator:etcd-operator';

/** @param namespace is made for the clusters */
export async function startSimulatedWorld(namespace: string): Promise<SimulatedWorld> {
  await runNode([join(root, 'scripts/build.ts')], { inherit: true });
  const [plane, temporal] = await Promise.all([startControlPlane(), startTemporal({ searchAttributes: {} })]);
  const credentials = new FileCredentials({ source: { file: plane.kubeconfig }, logger: silentLogger });
  const kube = createKubeClient({ credentials });
  const kubectl = (...args: string[]) => execute(plane.kubectl, ['--kubeconfig', plane.kubeconfig, ...args]);
  await kubectl('apply', '--server-side', '-k', join(root, 'deploy'));
  await kubectl('wait', '--for=condition=Established', 'crd/etcdclusters.etcd.database.coreos.com');
  await kubectl('create', 'namespace', namespace);
  const kubelet = new SimulatedKubelet(kube);
  const KUBECONFIG = await plane.kubeconfigFor(ACCOUNT);
  const environment = { KUBECONFIG, TEMPORAL_ADDRESS: temporal.address, POD_NAME: 'operator' };
  return {
    kube,
    temporalAddress: temporal.address,
    startOperator: () => startOperatorProcess(environment, 'compiled'),
    async stop() {
      await kubelet.stop();
      await kube.close();
      await Promise.all([plane.stop(), temporal.stop()]);
    },
  };
}

/** Waits until a replica works, and watches if no other one does. */
export function untilReady(operator: OperatorProcess): Promise<unknown> {
  return poll(async () => (await operator.health('/readyz'))?.status === 200, {
    timeoutMs: 90_000,
    otherwise: operator.output,
  });
}
