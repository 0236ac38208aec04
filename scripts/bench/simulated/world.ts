/** A real apiserver with the manifests of deploy/, a real Temporal, simulated nodes, and the operator as it is deployed. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { KubeClient } from '../../../src/kube/port.ts';
import { type ControlPlane, startControlPlane } from '../../../test/stack/control-plane.ts';
import { kubeClientOf } from '../../../test/stack/kube-client.ts';
import { type OperatorProcess, startOperatorProcess } from '../../../test/stack/operator-process.ts';
import { poll } from '../../../test/stack/poll.ts';
import { freePort } from '../../../test/stack/free-ports.ts';
import {
  startTemporal,
  type TemporalKind,
  type TemporalServer,
} from '../../../test/stack/temporal-server.ts';
import { root, runNode } from '../../run.ts';
import { deployedEnvironment } from './deployment.ts';
import { SimulatedKubelet } from './kubelet.ts';

export interface SimulatedWorld {
  /** Of an administrator. */
  readonly kube: KubeClient;
  readonly plane: ControlPlane;
  readonly temporal: TemporalServer;
  /** The text of the Temporal server's own metrics. */
  readonly temporalMetrics: () => Promise<string>;
  /** The replicas that run. */
  readonly operators: () => readonly OperatorProcess[];
  /** Starts a replica, compiled, with the settings and the rights that deploy/ gives it, and waits until it is ready. */
  readonly startOperator: () => Promise<OperatorProcess>;
  /** SIGKILL, and waits until it is gone. */
  readonly killOperator: (operator: OperatorProcess) => Promise<void>;
  readonly stop: () => Promise<void>;
}

export interface SimulatedWorldOptions {
  /** Is made for the clusters. */
  readonly namespace: string;
  /** How many replicas run from the beginning. */
  readonly replicas: number;
  /** Which server; that of the environment when left out. */
  readonly temporal?: TemporalKind | undefined;
}

const execute = promisify(execFile);
const ACCOUNT = 'system:serviceaccount:etcd-operator:etcd-operator';
/** As the apiserver says of every service account; it counts the calls of this group by themselves. */
const GROUP = 'system:serviceaccounts';
const READY_MS = 90_000;

export async function startSimulatedWorld(options: SimulatedWorldOptions): Promise<SimulatedWorld> {
  const ends: (() => Promise<unknown>)[] = [];
  const stop = async (): Promise<void> => {
    for (let end = ends.pop(); end !== undefined; end = ends.pop()) await end();
  };
  try {
    return await build(options, { stop, onStop: end => ends.push(end) });
  } catch (error) {
    await stop();
    throw error;
  }
}

async function build(
  options: SimulatedWorldOptions,
  { stop, onStop }: { readonly stop: () => Promise<void>; onStop(end: () => Promise<unknown>): void },
): Promise<SimulatedWorld> {
  const [plane, { temporal, metricsPort }] = await allOf([
    startControlPlane().then(plane => {
      onStop(() => plane.stop());
      return plane;
    }),
    startTemporalWithMetrics(options.temporal).then(started => {
      onStop(() => started.temporal.stop());
      return started;
    }),
    buildOperator(),
  ]);
  const kube = kubeClientOf(plane.kubeconfig, { fieldManager: 'fleet', connections: 32 });
  onStop(() => kube.close());
  await applyManifests(plane, options.namespace);
  const kubelet = new SimulatedKubelet(kube);
  onStop(() => kubelet.stop());

  const environment = deployedEnvironment();
  const KUBECONFIG = await plane.kubeconfigFor(ACCOUNT, GROUP);
  const running = new Set<OperatorProcess>();
  let started = 0;
  const startOperator = async (): Promise<OperatorProcess> => {
    started += 1;
    const own = { KUBECONFIG, TEMPORAL_ADDRESS: temporal.address, POD_NAME: `etcd-operator-${started}` };
    const operator = await startOperatorProcess({ ...environment, ...own }, 'compiled');
    running.add(operator);
    void operator.ended.then(() => running.delete(operator));
    await poll(async () => (await operator.health('/readyz'))?.status === 200, {
      timeoutMs: READY_MS,
      otherwise: () => `a replica is not ready: ${operator.output().slice(-4_000)}`,
    });
    return operator;
  };
  onStop(() => Promise.all([...running].map(kill)));
  await Promise.all(Array.from({ length: options.replicas }, startOperator));
  return {
    kube,
    plane,
    temporal,
    temporalMetrics: async () => (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text(),
    operators: () => [...running],
    startOperator,
    killOperator: kill,
    stop,
  };
}

/** The manifests of deploy/, and the namespace. */
async function applyManifests(
  { kubectl: program, kubeconfig }: ControlPlane,
  namespace: string,
): Promise<void> {
  const kubectl = (...args: string[]) => execute(program, ['--kubeconfig', kubeconfig, ...args]);
  await kubectl('apply', '--server-side', '-k', join(root, 'deploy'));
  await kubectl('wait', '--for=condition=Established', 'crd/etcdclusters.etcd.database.coreos.com');
  await kubectl('create', 'namespace', namespace);
}

/** Waits for every one before it fails, so that what has started meanwhile is known to the code that ends it. */
async function allOf<T extends readonly Promise<unknown>[]>(
  promises: readonly [...T],
): Promise<{ -readonly [K in keyof T]: Awaited<T[K]> }> {
  await Promise.allSettled(promises);
  return await Promise.all(promises);
}

async function buildOperator(): Promise<void> {
  const { code, output } = await runNode([join(root, 'scripts/build.ts'), '--types-are-checked']);
  if (code !== 0) throw new Error(`the operator was not built: ${output}`);
}

async function startTemporalWithMetrics(
  kind: TemporalKind | undefined,
): Promise<{ temporal: TemporalServer; metricsPort: number }> {
  const metricsPort = await freePort();
  // As deploy/temporal has it: namespaces take turns (docs/decisions/0086-fairness-among-namespaces.md).
  const dynamicConfig = ['matching.enableFairness=true'];
  const options = { searchAttributes: {}, dynamicConfig, metricsPort, ...(kind ? { kind } : {}) };
  return { temporal: await startTemporal(options), metricsPort };
}

async function kill(operator: OperatorProcess): Promise<void> {
  operator.signal('SIGKILL');
  await operator.ended;
}
