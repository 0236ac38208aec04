/**
 * The part of the processors that each program gets when all of them want more than there is: as on a node, where a kubelet gives the
 * containers of a pod CPU time in proportion to their requests, with cgroups (Kubernetes docs, "Resource Management for Pods and
 * Containers"). Without it, a program with many threads takes from one with few.
 */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isUnified, removeCgroup } from '../../../local/stack/cgroups.ts';
import { cpuRequest } from './deployment.ts';

const ROOT = '/sys/fs/cgroup';
/** In thousandths of a processor: what the manifests ask for, and what kubeadm asks for the control plane. */
const REQUESTS = {
  temporal: () => cpuRequest('temporal'),
  apiserver: () => 250,
  etcd: () => 100,
} as const;

type Program = keyof typeof REQUESTS;

/**
 * Of the programs together: no more than this process has, which plays nodes, members and whoever asks. Those are elsewhere in truth, and what is
 * measured would be how long this process waits.
 */
const ALL_TOGETHER = 1_024;

export class ProcessorShares {
  readonly #path = `etcd-operator-bench-${process.pid}`;
  #isMade = false;

  /**
   * Gives processes, and those that they start afterwards, the shares of their programs, as far as they run.
   * @returns whether this machine lets processes be put into cgroups; if not, they run as before
   */
  give(
    programs: Readonly<Record<Program, number | undefined>>,
    replicas: readonly { readonly pid: number }[],
  ): boolean {
    try {
      const folder = this.#folder();
      for (const name of Object.keys(REQUESTS) as Program[]) put(folder, REQUESTS[name](), programs[name]);
      for (const { pid } of replicas) put(folder, cpuRequest('operator'), pid);
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === undefined) throw error;
      return false;
    }
  }

  /** Once all of them have ended. */
  async end(): Promise<void> {
    if (this.#isMade) await removeCgroup(this.#path);
  }

  /** That of all programs, in the hierarchy that shares processors. */
  #folder(): string {
    const folder = join(isUnified() ? ROOT : join(ROOT, 'cpu'), this.#path);
    mkdirSync(folder, { recursive: true });
    this.#isMade = true;
    if (isUnified()) writeFileSync(join(folder, 'cgroup.subtree_control'), '+cpu');
    weigh(folder, ALL_TOGETHER);
    return folder;
  }
}

function put(parent: string, request: number, pid: number | undefined): void {
  if (pid === undefined || !existsSync(`/proc/${pid}`)) return;
  const folder = join(parent, String(pid));
  mkdirSync(folder, { recursive: true });
  weigh(folder, Math.floor((request * 1_024) / 1_000));
  writeFileSync(join(folder, 'cgroup.procs'), String(pid));
}

function weigh(folder: string, shares: number): void {
  if (isUnified()) writeFileSync(join(folder, 'cpu.weight'), String(weightOf(shares)));
  else writeFileSync(join(folder, 'cpu.shares'), String(shares));
}

/** What cgroup v2 calls the shares of v1 (Kubernetes Enhancement Proposal 2254). */
function weightOf(shares: number): number {
  return 1 + Math.floor(((shares - 2) * 9_999) / 262_142);
}
