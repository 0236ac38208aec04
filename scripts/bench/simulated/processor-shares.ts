/**
 * The part of the processors that each program gets when all of them want more than there is: as on a node, where a kubelet gives the
 * containers of a pod CPU time in proportion to their requests, with cgroups (Kubernetes docs, "Resource Management for Pods and
 * Containers"). Without it, a program with many threads takes from one with few.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { ensureCgroup, hierarchies, isUnified, removeCgroup } from '../../../local/stack/cgroups.ts';
import { root } from '../../run.ts';

const OPERATOR = 'deploy/operator/deployment.yaml';
/** In thousandths of a processor: what the manifests ask for, and what kubeadm asks for the control plane. */
const REQUESTS = {
  temporal: () => requestOf('deploy/temporal/deployment.yaml'),
  apiserver: () => 250,
  etcd: () => 100,
} as const;

type Program = keyof typeof REQUESTS;

export class ProcessorShares {
  readonly #path = `etcd-operator-bench-${process.pid}`;
  readonly #folder: string | undefined;

  constructor() {
    this.#folder = this.#made();
  }

  /**
   * Gives processes, and those that they start afterwards, the shares of their programs, as far as they run.
   * @returns whether this machine lets processes be put into cgroups; if not, nothing was done
   */
  give(
    programs: Readonly<Record<Program, number | undefined>>,
    replicas: readonly { pid: number }[],
  ): boolean {
    if (this.#folder === undefined) return false;
    for (const name of Object.keys(programs) as Program[]) this.#put(REQUESTS[name](), programs[name]);
    for (const { pid } of replicas) this.#put(requestOf(OPERATOR), pid);
    return true;
  }

  /** Once all of them have ended. */
  async end(): Promise<void> {
    if (this.#folder !== undefined) await removeCgroup(this.#path);
  }

  #put(request: number, pid: number | undefined): void {
    if (this.#folder === undefined || pid === undefined || !existsSync(`/proc/${pid}`)) return;
    ensureCgroup(join(this.#path, String(pid)));
    const folder = join(this.#folder, String(pid));
    const shares = Math.floor((request * 1_024) / 1_000);
    if (isUnified()) writeFileSync(join(folder, 'cpu.weight'), String(weightOf(shares)));
    else writeFileSync(join(folder, 'cpu.shares'), String(shares));
    writeFileSync(join(folder, 'cgroup.procs'), String(pid));
  }

  #made(): string | undefined {
    try {
      ensureCgroup(this.#path);
    } catch {
      return undefined;
    }
    const hierarchy = hierarchies().find(folder => isUnified() || folder.endsWith('/cpu'));
    return hierarchy === undefined ? undefined : join(hierarchy, this.#path);
  }
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
