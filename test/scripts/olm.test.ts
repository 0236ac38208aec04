/** The bundle for OLM says what deploy/ and the CRDs say. test/integration/olm-bundle.* has OperatorHub's own checks. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { generateOlm } from '../../scripts/generate-olm.ts';
import { clusterServiceVersion } from '../../scripts/olm/cluster-service-version.ts';
import { firstSentence, titleOf } from '../../scripts/olm/descriptors.ts';
import { root } from '../../scripts/run.ts';
import { currentVersion } from '../../scripts/version.ts';
import { parseConfig } from '../../src/main/config/config.ts';
import { VARIABLES } from '../../src/main/config/variables.ts';
import { at, listAt, loadKustomization } from '../deploy/manifests.ts';

const csv = clusterServiceVersion();
const deployed = loadKustomization('deploy').objects;
const install = at(csv, 'spec', 'install', 'spec');
const pod = at(install, 'deployments', 0, 'spec', 'template');
const read = (path: string): unknown => parse(readFileSync(join(root, path), 'utf8'));

test('the version and the image are those of the release', () => {
  const version = currentVersion();
  expect(csv).toMatchObject({
    metadata: {
      name: `etcd-operator.v${version}`,
      annotations: { containerImage: `etcd-operator:${version}` },
    },
    spec: { version },
  });
  expect(at(pod, 'spec', 'containers', 0, 'image')).toBe(`etcd-operator:${version}`);
});

describe('the upgrade graph', () => {
  const graphOf = (version: string) => {
    const { metadata, spec } = clusterServiceVersion(version) as {
      readonly metadata: { readonly name: string; readonly annotations: Record<string, string> };
      readonly spec: Record<string, unknown>;
    };
    const { 'olm.skipRange': skips } = metadata.annotations;
    return { name: metadata.name, version: spec['version'], skips, replaces: spec['replaces'] };
  };

  test('begins with the first release', () => {
    expect(graphOf('0.2.0')).toEqual({ name: 'etcd-operator.v0.2.0', version: '0.2.0' });
  });

  test.each(['0.2.1', '0.3.0', '1.0.0'])(
    'leads to %s from every earlier release, and not from itself',
    version => {
      expect(graphOf(version)).toEqual({
        name: `etcd-operator.v${version}`,
        version,
        skips: `>=0.2.0 <${version}`,
        // A catalog need not have the releases between.
        replaces: undefined,
      });
    },
  );

  test('of a later release names its image in every place', () => {
    const later = JSON.stringify(clusterServiceVersion('0.3.0'));
    expect(later).toContain('etcd-operator:0.3.0');
    expect(later).not.toContain(`etcd-operator:${currentVersion()}"`);
  });
});

describe('the Deployment', () => {
  const source = at(
    deployed.find(({ kind }) => kind === 'Deployment'),
    'spec',
  );
  const own = at(install, 'deployments', 0, 'spec');
  const container = at(pod, 'spec', 'containers', 0);
  const sourceContainer = at(source, 'template', 'spec', 'containers', 0);
  const settings = ['TEMPORAL_ADDRESS', 'TEMPORAL_NAMESPACE', 'LOG_LEVEL'] as const;
  const named = (variables: readonly unknown[], ...names: readonly string[]): unknown[] =>
    variables.filter(one => names.includes(String(at(one, 'name'))));

  test('is that of deploy/, but for variables and what has certificates and keys', () => {
    const rest = (spec: unknown): unknown => {
      const copy = structuredClone(spec);
      const podSpec = at(copy, 'template', 'spec') as { volumes?: unknown };
      const first = at(podSpec, 'containers', 0) as Record<string, unknown>;
      for (const field of ['env', 'envFrom', 'volumeMounts']) delete first[field];
      delete podSpec.volumes;
      return copy;
    };
    expect(rest(own)).toEqual(rest(source));
  });

  test('has the variables of deploy/ that no one sets, and the namespaces from OLM', () => {
    const kept = listAt(sourceContainer, 'env').filter(one => named([one], ...settings).length === 0);
    expect(listAt(container, 'env')).toEqual([
      ...kept,
      {
        name: 'TEMPORAL_ADDRESS',
        valueFrom: { configMapKeyRef: { name: 'etcd-operator', key: 'TEMPORAL_ADDRESS' } },
      },
      {
        name: 'WATCH_NAMESPACE',
        valueFrom: { fieldRef: { fieldPath: "metadata.annotations['olm.targetNamespaces']" } },
      },
    ]);
  });

  test('takes its settings from a ConfigMap, of which only the address must be there', () => {
    // Not from the Subscription: OLM starts the operator without what that says, at first and at each upgrade (test/drill/long/olm.*).
    expect(listAt(container, 'envFrom')).toEqual([
      { configMapRef: { name: 'etcd-operator', optional: true } },
    ]);
    for (const name of settings)
      expect(named(listAt(sourceContainer, 'env'), name)).toEqual([{ name, value: VARIABLES[name].default }]);
  });

  test('finds certificates and keys where the pages say, if there are Secrets of these names', () => {
    const added = ['temporal-tls', 'temporal-api-key', 'temporal-codec'];
    expect(listAt(container, 'volumeMounts')).toEqual([
      ...listAt(sourceContainer, 'volumeMounts'),
      ...added.map(name => ({ name, mountPath: `/etc/${name}`, readOnly: true })),
    ]);
    expect(listAt(pod, 'spec', 'volumes')).toEqual([
      ...listAt(source, 'template', 'spec', 'volumes'),
      ...added.map(name => ({ name, secret: { secretName: name, optional: true } })),
    ]);
  });
});

test('an annotation without a namespace, which is how OLM says all of them, is taken so', () => {
  const config = { TEMPORAL_ADDRESS: 'temporal:7233', POD_NAMESPACE: 'operators' };
  expect(parseConfig({ ...config, WATCH_NAMESPACE: '' }).watchNamespaces).toBeUndefined();
  expect(parseConfig({ ...config, WATCH_NAMESPACE: 'shop' }).watchNamespaces).toEqual(['shop']);
  expect(parseConfig({ ...config, WATCH_NAMESPACE: 'shop,web' }).watchNamespaces).toEqual(['shop', 'web']);
});

describe('rights', () => {
  const spelled = (rules: readonly unknown[]): string[] =>
    rules
      .flatMap(rule =>
        listAt(rule, 'apiGroups').flatMap(group =>
          listAt(rule, 'resources').flatMap(resource =>
            listAt(rule, 'verbs').map(verb =>
              [verb, resource, group, ...listAt(rule, 'resourceNames')].map(String).join(' '),
            ),
          ),
        ),
      )
      .sort();
  const rulesOf = (kind: string, name: string): readonly unknown[] =>
    listAt(
      deployed.find(object => object.kind === kind && object.metadata.name === name),
      'rules',
    );
  const granted = (field: string): readonly unknown[] => listAt(install, field, 0, 'rules');

  test('are together those of the operator in deploy/', () => {
    expect(spelled([...granted('permissions'), ...granted('clusterPermissions')])).toEqual(
      spelled([...rulesOf('ClusterRole', 'etcd-operator'), ...rulesOf('Role', 'etcd-operator-lease')]),
    );
  });

  test('are of the account that the pods run as', () => {
    const account = at(pod, 'spec', 'serviceAccountName');
    for (const field of ['permissions', 'clusterPermissions'])
      expect(at(install, field, 0, 'serviceAccountName')).toBe(account);
  });
});

describe('resources', () => {
  const crds = readdirSync(join(root, 'deploy/crd'))
    .filter(name => name !== 'kustomization.yaml')
    .map(name => read(`deploy/crd/${name}`));
  const owned = listAt(csv, 'spec', 'customresourcedefinitions', 'owned');

  test('are all that deploy/ defines, with the same definitions', () => {
    const bundled = [...generateOlm()]
      .filter(([path]) => path.endsWith('.crd.yaml'))
      .map(([, text]) => parse(text));
    const byName = (objects: readonly unknown[]): Record<string, unknown> =>
      Object.fromEntries(objects.map(object => [String(at(object, 'metadata', 'name')), object]));
    expect(byName(bundled)).toEqual(byName(crds));
    expect(owned.map(one => at(one, 'name')).sort()).toEqual(Object.keys(byName(crds)).sort());
  });

  test.each(['spec', 'status'])('have a descriptor for each field of %s', part => {
    for (const crd of crds) {
      const description = owned.find(one => at(one, 'name') === at(crd, 'metadata', 'name'));
      const schema = at(
        crd,
        'spec',
        'versions',
        0,
        'schema',
        'openAPIV3Schema',
        'properties',
        part,
        'properties',
      );
      const described = listAt(description, `${part}Descriptors`);
      expect(described.map(one => at(one, 'path'))).toEqual(Object.keys(schema as object));
      expect(described.filter(one => at(one, 'description') === '')).toEqual([]);
    }
  });

  test('have examples, the simplest first', () => {
    const examples = JSON.parse(String(at(csv, 'metadata', 'annotations', 'alm-examples'))) as unknown[];
    expect(examples[0]).toEqual(read('deploy/samples/example-cluster.yaml'));
    expect(examples).toHaveLength(readdirSync(join(root, 'deploy/samples')).length - 1);
    // The one of the CoreOS operator asks for a release of etcd with known faults.
    expect(JSON.stringify(examples)).not.toContain('3.5.3"');
    expect(new Set(examples.map(example => at(example, 'kind')))).toEqual(
      new Set(owned.map(one => at(one, 'kind'))),
    );
  });
});

test('what a catalog reads is the same in the folder and in the labels of the image', () => {
  const files = generateOlm();
  const annotations = at(parse(files.get('bundle/metadata/annotations.yaml') ?? ''), 'annotations') as object;
  const labels = [...(files.get('bundle/Dockerfile') ?? '').matchAll(/^LABEL (\S+?)=(\S+)$/gm)];
  expect(Object.fromEntries(labels.map(([, name, value]) => [name, value]))).toEqual(annotations);
});

test.each([
  ['backupStorageType', 'Backup Storage Type'],
  ['TLS', 'TLS'],
  ['clientTLSSecret', 'Client TLS Secret'],
  ['s3', 'S3'],
])('%s is shown as %s', (name, title) => {
  expect(titleOf(name)).toBe(title);
});

test.each([
  ['Release of etcd, such as 3.6.16. Others are refused.', 'Release of etcd, such as 3.6.16.'],
  ['Is it? It is.', 'Is it?'],
  ['without an end', 'without an end'],
])('of %j the first sentence is %j', (text, sentence) => {
  expect(firstSentence(text)).toBe(sentence);
});
