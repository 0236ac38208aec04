/** The ClusterServiceVersion: what OLM installs, from deploy/, and what its console says of it. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, parseAllDocuments } from 'yaml';
import { at, type Manifest } from '../kustomization.ts';
import { root } from '../run.ts';
import { currentVersion } from '../version.ts';
import { type Crd, crds } from './crds.ts';
import { deployment } from './deployment.ts';
import { descriptors } from './descriptors.ts';

export const PACKAGE = 'etcd-operator';
/** Every release from this one on can be followed by any later one (docs/development/releasing.md). */
const FIRST_RELEASE = '0.2.0';
const SAMPLES = 'deploy/samples';
/** The console offers the first sample of a kind when somebody creates one. */
const FIRST_SAMPLE = 'example-cluster.yaml';
/** As the CoreOS operator's users have it, with a release of etcd that has known faults: nobody is offered it. */
const FORMER_SAMPLE = 'simple-etcd-cr.yaml';

const read = (path: string): string => readFileSync(join(root, path), 'utf8');

/** The samples, the simplest first. */
function samples(): unknown[] {
  const names = readdirSync(join(root, SAMPLES))
    .filter(name => name !== FORMER_SAMPLE)
    .sort();
  return [FIRST_SAMPLE, ...names.filter(name => name !== FIRST_SAMPLE)].map(name =>
    parse(read(`${SAMPLES}/${name}`)),
  );
}

function owned({ metadata, spec }: Crd): object {
  const [version] = spec.versions;
  if (version === undefined) throw new Error(`${metadata.name} has no version`);
  const schema = version.schema.openAPIV3Schema;
  return {
    name: metadata.name,
    version: version.name,
    kind: spec.names.kind,
    displayName: spec.names.kind.replace(/(?<=[a-z])(?=[A-Z])/, ' ').replace('Etcd', 'etcd'),
    description: schema.description,
    specDescriptors: descriptors(schema.properties?.['spec'], true),
    statusDescriptors: descriptors(schema.properties?.['status'], false),
  };
}

/** The rules of all roles of a file. */
function rulesOf(path: string): unknown[] {
  const objects = parseAllDocuments(read(path)).map(document => document.toJS() as Manifest);
  return objects.flatMap(object => (at(object, 'rules') as unknown[] | undefined) ?? []);
}

/**
 * The rights are those of an operator of one namespace: OLM grants `permissions` in the namespaces that the operator is for, and in all of
 * them when it is for all.
 */
function install(version: string): object {
  const serviceAccountName = 'etcd-operator';
  return {
    strategy: 'deployment',
    spec: {
      clusterPermissions: [
        { serviceAccountName, rules: rulesOf('deploy/namespaced/cluster/cluster-role.yaml') },
      ],
      permissions: [
        {
          serviceAccountName,
          rules: [...rulesOf('deploy/namespaced/role.yaml'), ...rulesOf('deploy/rbac/lease-role.yaml')],
        },
      ],
      deployments: [deployment(`${PACKAGE}:${version}`)],
    },
  };
}

/** The object; the same checkout gives the same one, so it does not say when it was made. @param version of the release */
export function clusterServiceVersion(version: string = currentVersion()): object {
  const { description } = JSON.parse(read('package.json')) as { readonly description: string };
  return {
    apiVersion: 'operators.coreos.com/v1alpha1',
    kind: 'ClusterServiceVersion',
    metadata: {
      name: `${PACKAGE}.v${version}`,
      namespace: 'placeholder',
      annotations: {
        'alm-examples': JSON.stringify(samples(), undefined, 2),
        capabilities: 'Full Lifecycle',
        categories: 'Database',
        containerImage: `${PACKAGE}:${version}`,
        description,
        ...(version === FIRST_RELEASE ? {} : { 'olm.skipRange': `>=${FIRST_RELEASE} <${version}` }),
      },
      labels: {
        'operatorframework.io/arch.amd64': 'supported',
        'operatorframework.io/arch.arm64': 'supported',
        'operatorframework.io/os.linux': 'supported',
      },
    },
    spec: {
      displayName: 'etcd',
      description: read('scripts/olm/description.md'),
      version,
      minKubeVersion: '1.30.0',
      maturity: 'beta',
      keywords: ['etcd', 'database', 'temporal'],
      provider: { name: 'etcd-operator' },
      links: [{ name: 'etcd', url: 'https://etcd.io' }],
      icon: [
        {
          base64data: Buffer.from(read('scripts/olm/icon.svg')).toString('base64'),
          mediatype: 'image/svg+xml',
        },
      ],
      installModes: Object.entries({
        OwnNamespace: true,
        SingleNamespace: true,
        MultiNamespace: true,
        AllNamespaces: true,
      }).map(([type, supported]) => ({ type, supported })),
      customresourcedefinitions: { owned: crds().map(owned) },
      install: install(version),
    },
  };
}
