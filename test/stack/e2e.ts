/** The deployed operator on a real local cluster, for end-to-end tests: one stack named `test` for all of them. */
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { execFile } from 'node:child_process';
import { parse } from 'yaml';
import { installOperator, loadOperatorImage } from '../../local/operator.ts';
import { createProgress } from '../../local/progress.ts';
import { openStack, type Stack, type UpOptions, up } from '../../local/stack/index.ts';
import { kubeClientOf } from './kube-client.ts';
import { API_VERSION } from '../../src/api/names.ts';
import type { EtcdCluster, EtcdClusterSpec } from '../../src/api/schemas/types.ts';
import type { KubeClient, KubeObject } from '../../src/kube/port.ts';
import { poll } from './poll.ts';

const execute = promisify(execFile);

/** What an end-to-end test works with. */
export interface World {
  readonly stack: Stack;
  readonly kube: KubeClient;
  /** Runs the temporal CLI against the stack's server and gives its output. */
  readonly temporal: (...args: string[]) => Promise<string>;
  /** Ends the connections that would keep a process alive; the stack stays up. */
  readonly close: () => Promise<void>;
}

/** The stack of the tests: `test`, or what E2E_STACK says, so that several users can run them on one machine. */
export const testStack = (): string => process.env['E2E_STACK'] ?? 'test';

/** Brings a stack up with the operator of this checkout in it. Quick when it is there already. */
export async function startWorld(
  name = testStack(),
  options: Pick<UpOptions, 'temporal'> = {},
): Promise<World> {
  const progress = createProgress();
  try {
    const stack = await up({ name, progress, ...options });
    await installOperator(stack, progress);
    return worldOf(stack);
  } finally {
    progress.close();
  }
}

/** Brings up a stack that nobody has installed anything in: what is needed to run the operator of this checkout is on its nodes. */
export async function startBareWorld(name: string): Promise<World> {
  const progress = createProgress();
  try {
    const stack = await up({ name, progress });
    await loadOperatorImage(stack, progress);
    return worldOf(stack);
  } finally {
    progress.close();
  }
}

/** The world that the setup of this run has brought up. */
export async function openWorld(): Promise<World> {
  return worldOf(await openStack(testStack()));
}

function worldOf(stack: Stack): World {
  const kube = kubeClientOf(stack.kubeconfig);
  return { stack, kube, temporal: temporalOf(stack), close: () => kube.close() };
}

function temporalOf(stack: Stack): World['temporal'] {
  return async (...args) => {
    const connection = ['--address', stack.temporalAddress, '--namespace', 'etcd-operator'];
    const { stdout } = await execute(stack.toolchain.path('temporal'), [...args, ...connection]);
    return stdout;
  };
}

/** An EtcdCluster as a person would write it. */
export function manifest(namespace: string, name: string, spec: EtcdClusterSpec): KubeObject {
  return { apiVersion: API_VERSION, kind: 'EtcdCluster', metadata: { namespace, name }, spec };
}

/** The sample of deploy/samples, unchanged but for the namespace that it is applied to. */
export function sample(namespace: string, file = 'simple-etcd-cr.yaml'): KubeObject {
  const object = parse(
    readFileSync(new URL(`../../deploy/samples/${file}`, import.meta.url), 'utf8'),
  ) as KubeObject;
  return { ...object, metadata: { ...object.metadata, namespace } };
}

/** A new namespace for a file's clusters; one that an earlier run left is removed first. */
export async function createNamespace(world: World, name: string): Promise<void> {
  await removeNamespace(world, name);
  await world.kube.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels: RESTRICTED } });
}

/** The strictest pod security that Kubernetes has: what we make must pass it. */
const RESTRICTED = { 'pod-security.kubernetes.io/enforce': 'restricted' };

export async function readCluster(
  world: World,
  namespace: string,
  name: string,
): Promise<EtcdCluster | undefined> {
  const object = await world.kube.get({ apiVersion: API_VERSION, kind: 'EtcdCluster', namespace, name });
  return object as unknown as EtcdCluster | undefined;
}

/** Whether a condition holds, from the status that the operator wrote. */
export function holds(cluster: EtcdCluster | undefined, type: string, status = 'True'): boolean {
  return (
    cluster?.status?.conditions?.some(condition => condition.type === type && condition.status === status) ??
    false
  );
}

/** Waits until the condition holds and returns the cluster; fails with its whole status after `timeoutMs`. */
export async function awaitCondition(
  world: World,
  at: { readonly namespace: string; readonly name: string },
  condition: { readonly type: string; readonly status?: string; readonly timeoutMs?: number },
): Promise<EtcdCluster> {
  return poll(
    async () => {
      const cluster = await readCluster(world, at.namespace, at.name);
      return holds(cluster, condition.type, condition.status) ? cluster : undefined;
    },
    {
      timeoutMs: condition.timeoutMs ?? 120_000,
      otherwise: async () =>
        `${condition.type} is not ${condition.status ?? 'True'}: ${JSON.stringify((await readCluster(world, at.namespace, at.name))?.status, null, 1)}`,
    },
  );
}

/** Waits until clients are served and every member is well. Healthy may come first: the client Service opens last. */
export async function awaitRunning(
  world: World,
  at: { readonly namespace: string; readonly name: string },
  timeoutMs = 120_000,
): Promise<EtcdCluster> {
  await awaitCondition(world, at, { type: 'Available', timeoutMs });
  return awaitCondition(world, at, { type: 'Healthy', timeoutMs });
}

/**
 * What Warning events of the cluster say of members without a pod, or whose pod ends: of a member that the operator itself stops there is
 * none. What a busy machine causes, such as a probe without an answer, is another matter.
 */
export async function warningsOfMissingPods(
  world: World,
  namespace: string,
  name: string,
): Promise<string[]> {
  const { items } = await world.kube.list({ apiVersion: 'v1', kind: 'Event' }, { namespace });
  return items.flatMap(({ type, reason, message, involvedObject }) => {
    const about = involvedObject as { kind?: string; name?: string } | undefined;
    const isOurs = about?.kind === 'EtcdCluster' && about.name === name && type === 'Warning';
    const said = `${String(reason)}: ${String(message)}`;
    return isOurs && /has no pod|its pod is/.test(said) ? [said] : [];
  });
}

/** Deletes clusters that a test is done with, and does not wait. */
export async function discard(world: World, namespace: string, ...names: string[]): Promise<void> {
  for (const name of names)
    await world.kube.delete({ apiVersion: API_VERSION, kind: 'EtcdCluster', namespace, name });
}

export async function podsOf(world: World, namespace: string, name: string): Promise<KubeObject[]> {
  const { items } = await world.kube.list(
    { apiVersion: 'v1', kind: 'Pod' },
    { namespace, labelSelector: `etcd_cluster=${name}` },
  );
  return items;
}

export async function claimsOf(world: World, namespace: string, name: string): Promise<KubeObject[]> {
  const { items } = await world.kube.list(
    { apiVersion: 'v1', kind: 'PersistentVolumeClaim' },
    { namespace, labelSelector: `etcd_cluster=${name}` },
  );
  return items;
}

/** The member list as etcdctl prints it, asked inside a member's pod. */
export async function memberList(
  world: World,
  namespace: string,
  pod: string,
): Promise<{ name: string; isLearner?: boolean }[]> {
  const output = await world.stack.kubectl(
    '-n',
    namespace,
    'exec',
    pod,
    '--',
    'etcdctl',
    'member',
    'list',
    '-w',
    'json',
  );
  return (JSON.parse(output) as { members: { name: string; isLearner?: boolean }[] }).members;
}

/** Deletes a namespace with all in it, and does not wait: the next run does, if it comes so soon. */
export async function leaveNamespace(world: World | undefined, name: string): Promise<void> {
  if (world === undefined) return;
  await world.kube.delete({ apiVersion: 'v1', kind: 'Namespace', name });
  await world.close();
}

/** Deletes a namespace with all in it and waits until it is gone. */
export async function removeNamespace(world: World, name: string): Promise<void> {
  await world.stack.kubectl(
    'delete',
    'namespace',
    name,
    '--wait=true',
    '--timeout=120s',
    '--ignore-not-found',
  );
}
