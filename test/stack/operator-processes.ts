/** Finds the operator's processes in the nodes of a stack, to kill them the way a kernel does. */
import { readdirSync, readFileSync } from 'node:fs';
import { OPERATOR_NAMESPACE } from '../../local/operator.ts';
import { peerUrl } from '../../src/api/names.ts';
import type { KindRef, KubeObject } from '../../src/kube/port.ts';
import type { World } from './e2e.ts';
import { poll } from './poll.ts';

const POD: KindRef = { apiVersion: 'v1', kind: 'Pod' };
const ENTRY = '/app/dist/main/operator.js';

/** Process ids, as this host sees them, of every operator that runs in the stack. */
export function operatorProcesses(world: World): number[] {
  return processesWith(world, ENTRY);
}

/** Process ids, as this host sees them, of what runs in the stack's nodes with this argument on its command line. */
function processesWith(world: World, argument: string): number[] {
  return readdirSync('/proc')
    .filter(entry => /^\d+$/.test(entry))
    .map(Number)
    .filter(pid => read(`/proc/${pid}/cmdline`).split('\0').includes(argument) && belongsTo(world, pid));
}

/** Process ids of the etcd of a member, without TLS; clusters of other namespaces may have members of the same name. */
export function memberProcesses(
  world: World,
  { namespace, name: cluster }: { readonly namespace: string; readonly name: string },
  member: string,
): number[] {
  const url = peerUrl({ member, cluster, namespace });
  return processesWith(world, `--initial-advertise-peer-urls=${url}`);
}

/** Its environment names no stack, its host name does: `POD_IP` would be as good, but only nodes know those. */
function belongsTo({ stack }: World, pid: number): boolean {
  const cgroup = read(`/proc/${pid}/cgroup`);
  return stack.nodes.some(node => cgroup.includes(`/${node}/`));
}

/** kill -9 of every replica at once; returns how many died. */
export function killOperators(world: World): number {
  const pids = operatorProcesses(world);
  for (const pid of pids) process.kill(pid, 'SIGKILL');
  return pids.length;
}

/**
 * Stops every replica, threads and all, at the moment when `when` says so, so that nothing continues and nothing is lost;
 * `when` is asked every few milliseconds and may reject, and a minute is enough for it. The answer lets them go on.
 */
export async function holdOperatorsWhen(world: World, when: () => Promise<boolean>): Promise<() => void> {
  const pids = operatorProcesses(world);
  if (pids.length === 0) throw new Error('no operator runs that could be held');
  const send = (signal: 'SIGSTOP' | 'SIGCONT') => {
    for (const pid of pids) process.kill(pid, signal);
  };
  await poll(when, { timeoutMs: 60_000, intervalMs: 5 });
  send('SIGSTOP');
  return () => send('SIGCONT');
}

/**
 * Waits until this many replicas are ready that were never killed: a kubelet waits longer and longer before it starts
 * the same container again, and after a few kills a test would measure the kubelet's patience. It counts a restart some seconds
 * after the kill, so pods are looked at again and again.
 */
export async function freshOperators({ stack, kube }: World, replicas: number): Promise<void> {
  const isFresh = async (): Promise<boolean> => {
    const pods = await operatorPods(kube);
    const killed = pods.filter(pod => restartsOf(pod) > 0 && pod.metadata.deletionTimestamp === undefined);
    const names = killed.map(pod => pod.metadata.name);
    if (names.length > 0)
      await stack.kubectl('-n', OPERATOR_NAMESPACE, 'delete', 'pod', '--now', '--ignore-not-found', ...names);
    return pods.filter(pod => restartsOf(pod) === 0 && isReady(pod)).length >= replicas;
  };
  await poll(isFresh, { timeoutMs: 120_000 });
}

async function operatorPods(kube: World['kube']): Promise<readonly KubeObject[]> {
  const labelSelector = 'app.kubernetes.io/name=etcd-operator';
  return (await kube.list(POD, { namespace: OPERATOR_NAMESPACE, labelSelector })).items;
}

/** The replicas that are ready and not on their way out. */
export async function readyOperators({ kube }: World): Promise<readonly KubeObject[]> {
  return (await operatorPods(kube)).filter(isReady);
}

interface Status {
  readonly containerStatuses?: readonly { readonly restartCount: number; readonly ready: boolean }[];
}

/** Of the only container of a pod. */
export function restartsOf(pod: KubeObject): number {
  return (pod['status'] as Status | undefined)?.containerStatuses?.[0]?.restartCount ?? 0;
}

function isReady(pod: KubeObject): boolean {
  return (
    pod.metadata.deletionTimestamp === undefined &&
    ((pod['status'] as Status).containerStatuses?.[0]?.ready ?? false)
  );
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    // It ended while we looked.
    return '';
  }
}
