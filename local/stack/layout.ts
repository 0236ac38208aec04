import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { cacheDirectory } from '../toolchain/index.ts';

/** Names and folders of one stack; all of them follow from its name and from where its folder lies. */
export interface Layout {
  name: string;
  /** Unique on the machine: two caches may each hold a stack `demo`. Marks processes and names cgroups. */
  id: string;
  directory: string;
  stateFile: string;
  lockFile: string;
  pki: string;
  logs: string;
  /** Of the API server; rotated ones lie beside it. */
  auditLog: string;
  volumes: string;
  bin: string;
  kubeconfig: string;
  temporalDatabase: string;
  /** What a Temporal on PostgreSQL keeps and is configured with. */
  temporalServer: string;
  etcdData: string;
  /** Cgroup path below every controller's mount point. */
  cgroup: string;
  bridge: string;
  nodeName(index: number): string;
  /** Host end of the node's cable. Interface names have at most 15 characters (IFNAMSIZ). */
  nodeLink(index: number): string;
  temporalLink: string;
  nodeDirectory(index: number): string;
  nodeCgroup(index: number): string;
}

/** The folder that holds every stack's folder. */
export function stacksDirectory(): string {
  return join(cacheDirectory(), 'stacks');
}

/** Fails with what is allowed when the name cannot serve as host name, cgroup and folder name. */
function checkName(name: string): void {
  if (!/^[a-z](?:[a-z0-9-]{0,18}[a-z0-9])?$/.test(name)) {
    throw new Error(
      `--name ${JSON.stringify(name)}: use 1 to 20 lower-case letters, digits and dashes, beginning with a letter`,
    );
  }
}

/** Names and folders of the stack `name` below `parent` (default: the cache folder). */
export function layoutOf(name: string, parent: string = stacksDirectory()): Layout {
  checkName(name);
  const directory = join(parent, name);
  const hash = createHash('sha256').update(directory).digest('hex').slice(0, 7);
  const id = `${name}-${hash}`;
  const cgroup = `/etcd-operator-${id}`;
  const inside = (...parts: string[]): string => join(directory, ...parts);
  return {
    name,
    id,
    directory,
    stateFile: inside('state.json'),
    // Beside the stack's folder: a wipe must not pull the lock away from under those who wait for it.
    lockFile: join(parent, '.locks', name),
    pki: inside('pki'),
    logs: inside('logs'),
    auditLog: inside('logs', 'audit.log'),
    volumes: inside('volumes'),
    bin: inside('bin'),
    kubeconfig: inside('kubeconfig'),
    temporalDatabase: inside('temporal', 'temporal.db'),
    temporalServer: inside('temporal', 'server'),
    etcdData: inside('etcd'),
    cgroup,
    bridge: `eo${hash}br`,
    nodeName: index => `${name}-${index}`,
    nodeLink: index => `eo${hash}n${index}`,
    temporalLink: `eo${hash}t`,
    nodeDirectory: index => inside('nodes', String(index)),
    nodeCgroup: index => `${cgroup}/${name}-${index}`,
  };
}

/** A stable locally administered MAC address, so that neighbours' ARP entries outlive a node's reboot. */
export function macAddress(layout: Layout, host: string): string {
  const bytes = createHash('sha256').update(`${layout.id}/${host}`).digest().subarray(0, 5);
  return ['02', ...Array.from(bytes, byte => byte.toString(16).padStart(2, '0'))].join(':');
}
