/** What presses on the deployed operator besides its own limits: busy neighbours, an apiserver that falters, a Temporal far away. */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parse } from 'yaml';
import { OPERATOR_NAMESPACE } from '../../../local/operator.ts';
import type { World } from '../e2e.ts';
import { FaultyProxy, faultsOf } from '../../fakes/kubernetes/faulty-proxy.ts';
import { startSlowProxy } from '../../fakes/slow-proxy.ts';

export interface Pressure {
  /** Programs beside it that take all they get of a processor each. */
  readonly neighbours?: number;
  /** From 0 to 1: this share of the calls to the apiserver comes 5 s late, and as many are answered 429 or 503. */
  readonly faults?: number;
  /** What a call to Temporal takes more, in milliseconds. */
  readonly temporalMs?: number;
}

const DEPLOYMENT = 'deployment/etcd-operator';
const OWN_TEMPORAL = 'temporal-frontend.temporal.svc:7233';

/** Begins to press. The operator's pods are new afterwards if they reach a server by another way. Gives what ends it. */
export async function press(world: World, pressure: Pressure): Promise<() => Promise<void>> {
  const undo: (() => unknown)[] = [];
  const variables: string[] = [];
  const restored: string[] = [];
  for (let started = 0; started < (pressure.neighbours ?? 0); started += 1) {
    const child = spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' });
    undo.push(() => child.kill('SIGKILL'));
  }
  if (pressure.faults !== undefined) {
    const proxy = await falteringApiserver(world, pressure.faults);
    undo.push(
      () => proxy.close(),
      () => console.log(`calls to the apiserver: ${JSON.stringify(proxy.counts)}`),
    );
    variables.push(`KUBERNETES_SERVICE_HOST=${bridge(world)}`, `KUBERNETES_SERVICE_PORT=${proxy.port}`);
    restored.push('KUBERNETES_SERVICE_HOST-', 'KUBERNETES_SERVICE_PORT-');
  }
  if (pressure.temporalMs !== undefined) {
    const server = world.stack.temporalAddress;
    const proxy = await startSlowProxy({ server, host: bridge(world), delayMs: pressure.temporalMs });
    undo.push(() => proxy.stop());
    variables.push(`TEMPORAL_ADDRESS=${proxy.address}`);
    restored.push(`TEMPORAL_ADDRESS=${OWN_TEMPORAL}`);
  }
  const relieve = async (): Promise<void> => {
    await setVariables(world, restored);
    for (const end of undo) await end();
  };
  await setVariables(world, variables).catch(async (error: unknown) => {
    await relieve();
    throw error;
  });
  return relieve;
}

async function setVariables({ stack }: World, variables: readonly string[]): Promise<void> {
  if (variables.length === 0) return;
  await stack.kubectl('-n', OPERATOR_NAMESPACE, 'set', 'env', DEPLOYMENT, ...variables);
  await stack.kubectl('-n', OPERATOR_NAMESPACE, 'rollout', 'status', DEPLOYMENT, '--timeout=300s');
}

/** It shows the certificate of the apiserver itself, which is for the address at which both are. */
async function falteringApiserver(world: World, share: number): Promise<FaultyProxy> {
  const file = (name: string) => readFileSync(join(dirname(world.stack.kubeconfig), 'pki', name));
  const { clusters } = parse(readFileSync(world.stack.kubeconfig, 'utf8')) as {
    clusters: readonly { readonly cluster: { readonly server: string } }[];
  };
  const proxy = await FaultyProxy.start({
    server: clusters[0]?.cluster.server ?? '',
    ca: file('ca.crt'),
    tls: { cert: file('apiserver.crt'), key: file('apiserver.key') },
    host: bridge(world),
  });
  proxy.faults = faultsOf(share);
  return proxy;
}

/** Where pods reach this machine: the first address of the stack's network. */
function bridge({ stack }: World): string {
  return stack.temporalAddress.replace(/\.\d+:\d+$/, '.1');
}
