/** Gives the deployed operator less of a processor than it asks for, the way a limit in its Deployment does. */
import { readFileSync } from 'node:fs';
import { OPERATOR_NAMESPACE } from '../../../local/operator.ts';
import type { World } from '../e2e.ts';
import { freshOperators, operatorProcesses, readyOperators } from '../operator-processes.ts';
import { poll } from '../poll.ts';

const REPLICAS = 2;
const PERIOD_US = 100_000;

/**
 * Limits both replicas to so many thousandths of a processor. The pods are resized as they run, and their containers keep the
 * limit when they start again; pods that are created again have none.
 */
export async function limitOperators(world: World, milliCpu: number): Promise<void> {
  await freshOperators(world, REPLICAS);
  const resources = { limits: { cpu: `${milliCpu}m` } };
  const patch = JSON.stringify({ spec: { containers: [{ name: 'operator', resources }] } });
  for (const { metadata } of await readyOperators(world)) {
    const resize = ['patch', 'pod', metadata.name, '--subresource', 'resize', '-p', patch];
    await world.stack.kubectl('-n', OPERATOR_NAMESPACE, ...resize);
  }
  const quota = (PERIOD_US * milliCpu) / 1_000;
  await poll(
    async () => {
      const quotas = operatorProcesses(world).map(quotaOf);
      return quotas.length === REPLICAS && quotas.every(found => found === quota);
    },
    { timeoutMs: 60_000, otherwise: () => `no kubelet limited the operator to ${milliCpu}m` },
  );
}

/** Puts pods without a limit in place of those that have one. */
export async function unlimitOperators(world: World): Promise<void> {
  const pods = ['delete', 'pod', '--now', '-l', 'app.kubernetes.io/name=etcd-operator'];
  await world.stack.kubectl('-n', OPERATOR_NAMESPACE, ...pods);
  await freshOperators(world, REPLICAS);
}

/** Microseconds of a processor in each tenth of a second that the cgroup of a process may use, of either version of cgroups. */
function quotaOf(pid: number): number | undefined {
  for (const line of readFileSync(`/proc/${pid}/cgroup`, 'utf8').split('\n')) {
    const [, controllers = '', path = ''] = line.split(':');
    if (controllers.split(',').includes('cpu'))
      return Number(readFileSync(`/sys/fs/cgroup/cpu${path}/cpu.cfs_quota_us`, 'utf8'));
    if (controllers === '' && path.includes('kubepods'))
      return Number(readFileSync(`/sys/fs/cgroup${path}/cpu.max`, 'utf8').split(' ')[0]);
  }
  return undefined;
}
