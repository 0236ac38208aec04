import { DATA_DIR } from '../../../src/objects/etcd-arguments.ts';
import type { World } from '../e2e.ts';
import { flipValue } from '../flipped-value.ts';
import { memberProcesses } from '../operator-processes.ts';

/**
 * Flips a bit of a value in the database file of a member, while its etcd is stopped, and then ends that etcd, all from outside of its node. The kubelet starts it again.
 */
export function flipBits(
  world: World,
  cluster: { readonly namespace: string; readonly name: string },
  member: string,
  value: string,
): void {
  const [pid, ...others] = memberProcesses(world, cluster, member);
  if (pid === undefined || others.length > 0) throw new Error(`there is not one etcd of the name ${member}`);
  process.kill(pid, 'SIGSTOP');
  try {
    flipValue(`/proc/${pid}/root${DATA_DIR}/member/snap/db`, value);
  } finally {
    process.kill(pid, 'SIGKILL');
  }
}
