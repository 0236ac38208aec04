/**
 * The part of the processors that each program gets when all of them want more than there is: as on a node, where a kubelet gives the
 * containers of a pod CPU time in proportion to their requests, with cgroups (Kubernetes docs, "Resource Management for Pods and
 * Containers"). Without it, a program with many threads takes from one with few.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { hierarchies, isUnified, removeCgroup } from '../../../local/stack/cgroups.ts';
import { root } from '../../run.ts';

const ROOT = '/sys/fs/cgroup';
const OPERATOR = 'deploy/operator/deployment.yaml';
/** In thousandths of a processor: what the manifests ask for, and what kubeadm asks for the control plane. */
const REQUESTS = {
  temporal: () => requestOf('deploy/temporal/deployment.yaml'),
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
      for (const { pid } of replicas) put(folder, requestOf(OPERATOR), pid);
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
    const hierarchy = isUnified() ? hierarchies()[0] : join(ROOT, 'cpu');
    const folder = join(hierarchy ?? ROOT, this.#path);
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

interface Workload {
  readonly kind?: string;
  readonly spec?: {
    readonly template?: {
      readonly spec: {
        readonly containers: readonly {
          readonly resources?: { readonly requests?: { readonly cpu?: string } };
        }[];
      };
    };
  };
}

/** What the first container of the Deployment of a file asks for. */
function requestOf(path: string): number {
  const documents = parseAllDocuments(readFileSync(join(root, path), 'utf8'));
  const deployment = documents.map(each => each.toJS() as Workload).find(({ kind }) => kind === 'Deployment');
  const { cpu = '' } = deployment?.spec?.template?.spec.containers[0]?.resources?.requests ?? {};
  const [, thousandths] = /^(\d+)m$/.exec(cpu) ?? [];
  if (thousandths === undefined)
    throw new Error(`${path}: its first container has no CPU request such as 100m`);
  return Number(thousandths);
}
