import { Resolver } from 'node:dns/promises';
import { existsSync, readFileSync } from 'node:fs';
import { get } from 'node:http';
import { z } from 'zod';
import { baseObjects } from './base-objects.ts';
import type { PlacedStack } from './context.ts';
import { portsOf } from './context.ts';
import { poll } from './execute.ts';
import type { KubeApi } from './kube-api.ts';
import { openKubeApi } from './kube-api.ts';
import { endedEarly, logFileOf } from './services.ts';

const PROXY_HEALTH_PORT = 10256;

const nodeListSchema = z.object({
  items: z.array(
    z.object({
      metadata: z.object({ name: z.string() }),
      status: z
        .object({
          conditions: z
            .array(
              z.object({ type: z.string(), status: z.string(), lastHeartbeatTime: z.string().nullish() }),
            )
            .default([]),
        })
        .default({ conditions: [] }),
    }),
  ),
});

/** Node name to the time of the heartbeat that called it Ready, in milliseconds since 1970; unready ones are absent. */
export async function readyNodes(api: KubeApi): Promise<Map<string, number>> {
  const answer = await api.call('GET', '/api/v1/nodes');
  if (answer.status !== 200) throw new Error(`cannot list nodes: ${answer.text.slice(0, 200)}`);
  const ready = new Map<string, number>();
  for (const node of nodeListSchema.parse(answer.body).items) {
    const condition = node.status.conditions.find(
      ({ type, status }) => type === 'Ready' && status === 'True',
    );
    if (condition) ready.set(node.metadata.name, Date.parse(condition.lastHeartbeatTime ?? ''));
  }
  return ready;
}

/** GET of a plain HTTP address: true for 200, false for anything else or no answer within a second. */
function isHealthy(url: string): Promise<boolean> {
  return new Promise(resolve => {
    const sent = get(url, { timeout: 1000 }, answer => {
      answer.resume();
      resolve(answer.statusCode === 200);
    });
    sent.on('timeout', () => sent.destroy());
    sent.on('error', () => resolve(false));
  });
}

/** Runs `work` with a client and closes it. */
export async function withKubeApi<T>(context: PlacedStack, work: (api: KubeApi) => Promise<T>): Promise<T> {
  const api = openKubeApi(context);
  try {
    return await work(api);
  } finally {
    api.close();
  }
}

/** True when the API server says that it is ready. The whole body counts: a failing one contains "ok" as well. */
async function apiserverIsReady(api: KubeApi): Promise<boolean> {
  const answer = await api.call('GET', '/readyz');
  return answer.status === 200 && answer.text.trim() === 'ok';
}

/** Waits until the API server is ready. */
export async function waitForApiserver(context: PlacedStack): Promise<void> {
  await withKubeApi(context, api =>
    poll(() => apiserverIsReady(api), {
      what: 'the API server to become ready',
      timeoutMilliseconds: 90_000,
      broken: () => endedEarly(context, 'apiserver') ?? endedEarly(context, 'etcd'),
    }),
  );
}

/** Puts StorageClasses, cluster DNS and the Services of Temporal into the cluster. */
export async function applyBaseObjects(context: PlacedStack): Promise<void> {
  await withKubeApi(context, async api => {
    for (const { path, object } of baseObjects(context)) {
      // The namespace kube-system is made by the API server itself, a moment after it calls itself ready.
      await poll(async () => (await api.apply(path, object), true), {
        what: `the API server to accept ${path}`,
        timeoutMilliseconds: 20_000,
      });
    }
  });
}

/** The last line that a Kubernetes component logged as an error (klog begins those with E). */
function lastError(logFile: string): string {
  if (!existsSync(logFile)) return 'none, it has not started';
  const lines = readFileSync(logFile, 'utf8').trimEnd().split('\n');
  return lines.findLast(line => /^E\d{4} /.test(line))?.slice(0, 500) ?? 'none';
}

export interface NodeWait {
  indexes: readonly number[];
  /** Heartbeats before this moment (milliseconds since 1970) are of an earlier life of the node. */
  since: number;
}

/** Waits until the nodes are Ready by a heartbeat of this life, and their kube-proxies have written their rules. */
export async function waitForNodes(context: PlacedStack, wait: NodeWait): Promise<void> {
  const { layout, addresses } = context;
  // A heartbeat carries whole seconds.
  const since = Math.floor(wait.since / 1000) * 1000;
  await withKubeApi(context, async api => {
    const isReady = async (index: number): Promise<boolean> => {
      const heartbeat = (await readyNodes(api)).get(layout.nodeName(index)) ?? 0;
      const proxy = `http://${addresses.node(index)}:${PROXY_HEALTH_PORT}/healthz`;
      return heartbeat >= since && (await isHealthy(proxy));
    };
    for (const index of wait.indexes) {
      const wanted = poll(() => isReady(index), {
        what: `node ${layout.nodeName(index)} to become Ready`,
        timeoutMilliseconds: 120_000,
        intervalMilliseconds: 200,
        broken: () => endedEarly(context, 'apiserver'),
      });
      await wanted.catch((error: unknown) => {
        const said = lastError(logFileOf(context, `kubelet-${index}`));
        const message = error instanceof Error ? error.message : String(error);
        throw new Error(`${message}; the last error in \`local logs kubelet-${index}\`: ${said}`);
      });
    }
  });
}

/** Waits until pods can be made and find each other: default ServiceAccount, root certificate, DNS. */
export async function waitForUsable(context: PlacedStack): Promise<void> {
  const objects = ['serviceaccounts/default', 'configmaps/kube-root-ca.crt'];
  await withKubeApi(context, async api => {
    for (const object of objects) {
      await poll(async () => (await api.call('GET', `/api/v1/namespaces/default/${object}`)).status === 200, {
        what: `${object} in the namespace default`,
        timeoutMilliseconds: 60_000,
        broken: () => endedEarly(context, 'controller-manager'),
      });
    }
  });
  await poll(() => resolvesKubernetes(context), {
    what: 'cluster DNS',
    timeoutMilliseconds: 60_000,
    broken: () => endedEarly(context, 'coredns'),
  });
}

/** Asks cluster DNS for the API server's own Service. */
async function resolvesKubernetes(context: PlacedStack): Promise<boolean> {
  const resolver = new Resolver({ timeout: 1000, tries: 1 });
  resolver.setServers([`${context.addresses.host}:${portsOf(context).dns}`]);
  const found = await resolver.resolve4('kubernetes.default.svc.cluster.local');
  return found.includes(context.addresses.kubernetesService);
}
