/** The manifests of deploy/ as single files, for those who have no checkout. */
import { stringify } from 'yaml';
import { loadKustomization, type Manifest } from '../kustomization.ts';

/** File to the kustomizations that are in it, and how it is used. */
const FILES: Readonly<Record<string, { readonly folders: readonly string[]; readonly use: string }>> = {
  'install.yaml': {
    folders: ['deploy'],
    use: 'the operator for all namespaces, with CRDs and roles for users',
  },
  'crds.yaml': { folders: ['deploy/crd'], use: 'the CRDs alone' },
  'namespaced.yaml': { folders: ['deploy/namespaced'], use: 'the operator for the namespace etcd alone' },
  'namespaced-cluster.yaml': {
    folders: ['deploy/namespaced/cluster'],
    use: 'what operators of single namespaces may look at in the whole cluster',
  },
  'monitoring.yaml': {
    folders: ['deploy/monitoring'],
    use: 'PodMonitors and rules of alerts for the operator of Prometheus, and dashboards for Grafana',
  },
  'flow-control.yaml': {
    folders: ['deploy/flow-control'],
    use: "the operator's own priority level at the API server",
  },
  'temporal.yaml': { folders: ['deploy/temporal'], use: 'a small Temporal for evaluation' },
};

/** What others are in, or are made of, comes first: kubectl applies a file from top to bottom. */
const FIRST = ['Namespace', 'CustomResourceDefinition', 'ServiceAccount'];

/** The files: name to content. */
export function installManifests(version: string): Map<string, string> {
  return new Map(
    Object.entries(FILES).map(([name, { folders, use }]) => {
      const objects = folders.flatMap(folder => loadKustomization(folder).objects).toSorted(byKind);
      const header = `# etcd-operator ${version}: ${use}.\n# kubectl apply --server-side -f ${name}\n`;
      return [name, header + objects.map(object => `---\n${yaml(object)}`).join('')];
    }),
  );
}

const rank = ({ kind }: Manifest): number => (FIRST.includes(kind) ? FIRST.indexOf(kind) : FIRST.length);
const byKind = (one: Manifest, other: Manifest): number => rank(one) - rank(other);
const yaml = (object: Manifest): string => stringify(object, { lineWidth: 0, aliasDuplicateObjects: false });
