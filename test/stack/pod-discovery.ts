/**
 * Finds the pods of a stack for Prometheus. The Prometheus of Debian is built without its discovery in Kubernetes: this serves the same
 * over HTTP, with the same labels (https://prometheus.io/docs/prometheus/latest/configuration/configuration/#pod), so that what is relabelled
 * and kept is what the configuration of this repository says.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { KubeClient, KubeObject } from '../../src/kube/port.ts';

interface Pod extends KubeObject {
  readonly spec: {
    readonly containers: readonly {
      readonly name: string;
      readonly ports?: readonly { readonly name?: string; readonly containerPort: number }[];
    }[];
  };
  readonly status: { readonly phase: string; readonly podIP?: string };
}

interface TargetGroup {
  readonly targets: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
}

export interface PodDiscovery {
  /** What a scrape configuration has in the place of `kubernetes_sd_configs`. @param namespace all without one */
  readonly of: (namespace?: string) => { readonly url: string; readonly refresh_interval: string };
  readonly stop: () => void;
}

/** Listens on a port of its own; asks the API server each time that it is asked. */
export async function discoverPods(kube: KubeClient): Promise<PodDiscovery> {
  const server = createServer((request, response) => {
    const namespace = new URL(request.url ?? '/', 'http://localhost').searchParams.get('namespace');
    kube.list({ apiVersion: 'v1', kind: 'Pod' }, namespace === null ? {} : { namespace }).then(
      ({ items }) => {
        const groups = (items as unknown as readonly Pod[]).flatMap(groupsOf);
        response.setHeader('content-type', 'application/json').end(JSON.stringify(groups));
      },
      // Prometheus keeps the targets that it knows.
      () => response.writeHead(503).end(),
    );
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    of: namespace => ({
      url: `http://127.0.0.1:${port}/${namespace === undefined ? '' : `?namespace=${namespace}`}`,
      refresh_interval: '5s',
    }),
    stop: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** A target for each port of each container of a pod with an address. */
function groupsOf({ metadata, spec, status }: Pod): TargetGroup[] {
  if (status.podIP === undefined) return [];
  const ofPod = {
    __meta_kubernetes_namespace: metadata.namespace ?? '',
    __meta_kubernetes_pod_name: metadata.name,
    __meta_kubernetes_pod_phase: status.phase,
    ...Object.fromEntries(
      Object.entries(metadata.labels ?? {}).map(([label, value]) => [
        `__meta_kubernetes_pod_label_${label.replaceAll(/[^A-Za-z0-9_]/g, '_')}`,
        value,
      ]),
    ),
  };
  return spec.containers.flatMap(({ name, ports = [] }) =>
    ports.map(port => ({
      targets: [`${status.podIP}:${port.containerPort}`],
      labels: {
        ...ofPod,
        __meta_kubernetes_pod_container_name: name,
        __meta_kubernetes_pod_container_port_name: port.name ?? '',
      },
    })),
  );
}
