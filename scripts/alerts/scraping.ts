/** The PodMonitors of deploy/monitoring as a plain Prometheus reads them, with the labels that the operator of Prometheus gives. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments, stringify } from 'yaml';
import { root } from '../run.ts';

const SOURCE = 'deploy/monitoring/pod-monitors.yaml';

/** As far as those of this operator go; another field would be scraped wrong. */
interface PodMonitor {
  readonly metadata: { readonly name: string };
  readonly spec: {
    /** Without one: the namespace of the PodMonitor. */
    readonly namespaceSelector?: { readonly any: true };
    readonly selector: { readonly matchLabels: Readonly<Record<string, string>> };
    readonly podTargetLabels?: readonly string[];
    readonly podMetricsEndpoints: readonly {
      readonly port: string;
      readonly honorLabels?: boolean;
      readonly interval: string;
    }[];
  };
}

interface ScrapeConfig {
  readonly job_name: string;
  readonly [field: string]: unknown;
}

/** @param namespace of the operator, where the PodMonitors are */
function scrapeConfigs(namespace: string): readonly ScrapeConfig[] {
  const monitors = parseAllDocuments(readFileSync(join(root, SOURCE), 'utf8')).map(
    document => document.toJS() as PodMonitor,
  );
  return monitors.flatMap(({ metadata, spec }) =>
    spec.podMetricsEndpoints.map(({ port, honorLabels = false, interval }, index) => ({
      job_name: `podMonitor/${namespace}/${metadata.name}/${index}`,
      honor_labels: honorLabels,
      scrape_interval: interval,
      kubernetes_sd_configs: [
        {
          role: 'pod',
          ...(spec.namespaceSelector === undefined ? { namespaces: { names: [namespace] } } : {}),
        },
      ],
      relabel_configs: [
        { source_labels: ['__meta_kubernetes_pod_phase'], action: 'drop', regex: 'Failed|Succeeded' },
        ...Object.entries(spec.selector.matchLabels).map(([label, value]) => ({
          source_labels: [podLabel(label)],
          action: 'keep',
          regex: value,
        })),
        { source_labels: ['__meta_kubernetes_pod_container_port_name'], action: 'keep', regex: port },
        { source_labels: ['__meta_kubernetes_namespace'], target_label: 'namespace' },
        { source_labels: ['__meta_kubernetes_pod_container_name'], target_label: 'container' },
        { source_labels: ['__meta_kubernetes_pod_name'], target_label: 'pod' },
        ...(spec.podTargetLabels ?? []).map(label => ({
          source_labels: [podLabel(label)],
          regex: '(.+)',
          target_label: label,
        })),
        { target_label: 'job', replacement: `${namespace}/${metadata.name}` },
        { target_label: 'endpoint', replacement: port },
      ],
    })),
  );
}

/** Prometheus' name of a label of a pod. */
const podLabel = (label: string): string =>
  `__meta_kubernetes_pod_label_${label.replaceAll(/[^A-Za-z0-9_]/g, '_')}`;

/** A configuration for a Prometheus in the same Kubernetes cluster; the rules are found in a file beside it. */
export function prometheusConfiguration(): string {
  const configuration = {
    rule_files: ['etcd-operator.rules.yml'],
    scrape_configs: scrapeConfigs('etcd-operator'),
  };
  return [
    `# Generated from ${SOURCE} by \`npm run generate\`. Do not edit.`,
    '# For a Prometheus without its operator; its account must be allowed to list and watch pods. The rules: charts/etcd-operator/files/alerts/groups.yaml.',
    stringify(configuration, { lineWidth: 0, aliasDuplicateObjects: false }),
  ].join('\n');
}
