import { rmSync } from 'node:fs';
import { DATA_DIR } from '../../../src/objects/etcd-arguments.ts';
import type { World } from '../e2e.ts';
import { memberProcesses } from '../operator-processes.ts';

/** Empties the volume of a member under its running container, and ends its etcd, all from outside of its node. */
export function emptyVolume(
  world: World,
  cluster: { readonly namespace: string; readonly name: string },
  member: string,
): void {
  const [pid, ...others] = memberProcesses(world, cluster, member);
  if (pid === undefined || others.length > 0) throw new Error(`there is not one etcd of the name ${member}`);
  process.kill(pid, 'SIGSTOP');
  rmSync(`/proc/${pid}/root${DATA_DIR}`, { recursive: true });
  process.kill(pid, 'SIGKILL');
}
