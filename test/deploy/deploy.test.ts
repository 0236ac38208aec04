import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { root } from '../../scripts/run.ts';
import { parseConfig } from '../../src/main/config/config.ts';
import { CLAIM_STORE_PORT, claimStorePod } from '../../src/objects/claim-store.ts';
import { at, listAt, loadKustomization, type Manifest } from './manifests.ts';
import { clusterPermissions, ownNamespacePermissions, type Permission } from './permissions.ts';

const operator = loadKustomization('deploy');
const temporal = loadKustomization('deploy/temporal');
const helpers = loadKustomization('deploy/helpers');
const namespaced = loadKustomization('deploy/namespaced');
const monitoring = loadKustomization('deploy/monitoring');
const byFilled = loadKustomization('deploy/users/by-filled');
const flowControl = loadKustomization('deploy/flow-control');
const namespacedCluster = loadKustomization('deploy/namespaced/cluster');
const all = [...operator.objects, ...temporal.objects];

function find(kind: string, name: string, among: readonly Manifest[] = all): Manifest {
  const found = among.find(object => object.kind === kind && object.metadata.name === name);
  if (found === undefined) throw new Error(`there is no ${kind} ${name}`);
  return found;
}

const deployments = all.filter(object => object.kind === 'Deployment');
const podOf = (deployment: Manifest): unknown => at(deployment, 'spec', 'template');
const operatorPod = podOf(find('Deployment', 'etcd-operator'));

describe('the kustomizations', () => {
  test('hold every manifest of the folder', () => {
    const written = readdirSync(join(root, 'deploy'), { recursive: true, encoding: 'utf8' })
      .filter(name => /\.(yaml|json)$/.test(name) && !name.startsWith('samples/'))
      .map(name => `deploy/${name}`);
    const folders = [
      operator,
      temporal,
      helpers,
      namespaced,
      namespacedCluster,
      monitoring,
      byFilled,
      flowControl,
    ];
    const read = folders.flatMap(({ files }) => files);
    expect([...new Set(read)].sort()).toEqual(written.sort());
  });

  test('name no object twice', () => {
    const names = all.map(({ kind, metadata }) => `${kind} ${metadata.namespace ?? ''}/${metadata.name}`);
    expect(names).toEqual([...new Set(names)]);
  });

  test('make the namespaces of what is in them', () => {
    const namespaces = all.filter(({ kind }) => kind === 'Namespace').map(({ metadata }) => metadata.name);
    expect(namespaces.sort()).toEqual(['etcd-operator', 'temporal']);
    const used = new Set(all.flatMap(({ metadata }) => metadata.namespace ?? []));
    expect([...used].sort()).toEqual(namespaces.sort());
  });

  test('give the account of the operator a priority level of its own', () => {
    const schema = find('FlowSchema', 'etcd-operator', flowControl.objects);
    const account = find('ServiceAccount', 'etcd-operator').metadata;
    expect(at(schema, 'spec', 'rules', 0, 'subjects')).toEqual([
      { kind: 'ServiceAccount', serviceAccount: { namespace: account.namespace, name: account.name } },
    ]);
    const level = at(schema, 'spec', 'priorityLevelConfiguration', 'name');
    expect(find('PriorityLevelConfiguration', String(level), flowControl.objects)).toBeDefined();
  });

  test('define the kinds', () => {
    const crds = operator.objects.filter(({ kind }) => kind === 'CustomResourceDefinition');
    expect(crds.map(({ metadata }) => metadata.name).sort()).toEqual(
      ['etcdbackups', 'etcdclusters', 'etcdrequests', 'etcdrestores'].map(
        name => `${name}.etcd.database.coreos.com`,
      ),
    );
  });
});

describe('references lead somewhere', () => {
  test.each(all.filter(({ kind }) => kind.endsWith('RoleBinding')))('$kind $metadata.name', binding => {
    find(String(at(binding, 'roleRef', 'kind')), String(at(binding, 'roleRef', 'name')));
    for (const subject of listAt(binding, 'subjects')) {
      const account = find('ServiceAccount', String(at(subject, 'name')));
      expect(at(subject, 'namespace')).toBe(account.metadata.namespace);
    }
  });

  test('the operator runs as the account that has the rights', () => {
    expect(at(operatorPod, 'spec', 'serviceAccountName')).toBe('etcd-operator');
    expect(find('ServiceAccount', 'etcd-operator').metadata.namespace).toBe('etcd-operator');
  });

  const selecting: readonly [kind: string, name: string, selector: readonly string[], deployment: string][] =
    [
      ['Deployment', 'etcd-operator', ['spec', 'selector', 'matchLabels'], 'etcd-operator'],
      ['PodDisruptionBudget', 'etcd-operator', ['spec', 'selector', 'matchLabels'], 'etcd-operator'],
      ['Deployment', 'temporal', ['spec', 'selector', 'matchLabels'], 'temporal'],
      ['Service', 'temporal-frontend', ['spec', 'selector'], 'temporal'],
      ['Service', 'temporal-ui', ['spec', 'selector'], 'temporal'],
    ];
  test.each(selecting)('%s %s selects its pods', (kind, name, selector, deployment) => {
    const wanted = at(find(kind, name), ...selector);
    expect(wanted).toBeTypeOf('object');
    expect(at(podOf(find('Deployment', deployment)), 'metadata', 'labels')).toMatchObject(wanted as object);
  });

  test('pods spread by the labels that they have', () => {
    const [constraint] = listAt(operatorPod, 'spec', 'topologySpreadConstraints');
    expect(at(operatorPod, 'metadata', 'labels')).toMatchObject(
      at(constraint, 'labelSelector', 'matchLabels') as object,
    );
  });

  test.each(['temporal-frontend', 'temporal-ui'])('Service %s leads to a port of the container', name => {
    const ports = listAt(podOf(find('Deployment', 'temporal')), 'spec', 'containers', 0, 'ports');
    const [port] = listAt(find('Service', name), 'spec', 'ports');
    expect(ports.map(candidate => at(candidate, 'name'))).toContain(at(port, 'targetPort'));
  });

  test('the claim of the Temporal server exists', () => {
    const [data] = listAt(podOf(find('Deployment', 'temporal')), 'spec', 'volumes');
    find('PersistentVolumeClaim', String(at(data, 'persistentVolumeClaim', 'claimName')));
  });
});

describe('network policies', () => {
  const policies = [...all, ...helpers.objects].filter(({ kind }) => kind === 'NetworkPolicy');
  const rulesOf = (policy: Manifest) => listAt(policy, 'spec', 'ingress');
  const policyOf = (name: string): Manifest => find('NetworkPolicy', name, policies);
  const labelsOf = (policy: Manifest): unknown => at(policy, 'spec', 'podSelector', 'matchLabels');

  test('are there for the operator, its helpers and the Temporal for evaluation', () => {
    expect(policies.map(({ metadata }) => `${metadata.namespace ?? ''}/${metadata.name}`)).toEqual([
      'etcd-operator/etcd-operator',
      'temporal/temporal',
      '/etcd-operator-helpers',
    ]);
  });

  test.each([
    ['etcd-operator', 'etcd-operator'],
    ['temporal', 'temporal'],
  ])('%s selects its pods, and names ports that they have', (name, deployment) => {
    const pod = podOf(find('Deployment', deployment));
    expect(at(pod, 'metadata', 'labels')).toMatchObject(labelsOf(policyOf(name)) as object);
    const ports = listAt(pod, 'spec', 'containers', 0, 'ports').map(port => at(port, 'name'));
    for (const rule of rulesOf(policyOf(name)))
      for (const port of listAt(rule, 'ports')) expect(ports).toContain(at(port, 'port'));
  });

  test('of helpers selects the pods that are made, and lets the operator in at their port alone', () => {
    const owner = { kind: 'EtcdBackup', namespace: 'shop', name: 'nightly', uid: 'u-1' } as const;
    const pod = claimStorePod(owner, { image: 'any', claim: 'backups' });
    const policy = policyOf('etcd-operator-helpers');
    expect(pod.metadata.labels).toMatchObject(labelsOf(policy) as object);
    expect(at(policy, 'spec', 'policyTypes')).toEqual(['Ingress', 'Egress']);
    expect(at(policy, 'spec', 'egress')).toBeUndefined();
    expect(rulesOf(policy).map(rule => at(rule, 'ports'))).toEqual([[{ port: CLAIM_STORE_PORT }]]);
  });

  test.each(['temporal', 'etcd-operator-helpers'])('%s is reached by the operator alone', name => {
    const [rule, ...others] = rulesOf(policyOf(name));
    const [from, ...more] = listAt(rule, 'from');
    expect([others, more]).toEqual([[], []]);
    const namespace = find('Namespace', 'etcd-operator');
    expect(at(from, 'namespaceSelector', 'matchLabels')).toEqual({
      'kubernetes.io/metadata.name': namespace.metadata.name,
    });
    expect(at(operatorPod, 'metadata', 'labels')).toMatchObject(
      at(from, 'podSelector', 'matchLabels') as object,
    );
  });
});

describe("the operator's container", () => {
  const container = at(operatorPod, 'spec', 'containers', 0);
  const variables = Object.fromEntries(
    listAt(container, 'env').map(variable => [
      String(at(variable, 'name')),
      String(at(variable, 'value') ?? 'field'),
    ]),
  );

  test('has only variables that the operator reads, with values that it takes', () => {
    const read = new Set<string>();
    const config = parseConfig(
      new Proxy(variables, {
        get(target, name) {
          read.add(String(name));
          return target[String(name)];
        },
      }),
    );
    expect(Object.keys(variables).filter(name => name !== 'NODE_OPTIONS' && !read.has(name))).toEqual([]);
    const service = find('Service', 'temporal-frontend');
    expect(config.temporal.address).toBe(
      `${service.metadata.name}.${service.metadata.namespace}.svc:${String(at(service, 'spec', 'ports', 0, 'port'))}`,
    );
  });

  test('opens the ports that the operator listens on, and is probed there', () => {
    const ports = Object.fromEntries(
      listAt(container, 'ports').map(port => [String(at(port, 'name')), at(port, 'containerPort')]),
    );
    const config = parseConfig(variables);
    expect(ports).toEqual({
      health: config.ports.health,
      metrics: config.ports.metrics,
      'sdk-metrics': config.ports.temporalMetrics,
    });
    for (const probe of ['startupProbe', 'livenessProbe'])
      expect(at(container, probe, 'httpGet')).toEqual({ path: '/healthz', port: 'health' });
    expect(at(container, 'readinessProbe', 'httpGet')).toEqual({ path: '/readyz', port: 'health' });
    expect(at(operatorPod, 'metadata', 'annotations', 'prometheus.io/port')).toBe(
      String(config.ports.metrics),
    );
  });

  test('is not restarted for being slow: by then it has answered no probe for two minutes', () => {
    const probe = (field: string) => Number(at(container, 'livenessProbe', field));
    expect(probe('timeoutSeconds')).toBeGreaterThanOrEqual(15);
    expect(probe('periodSeconds') * probe('failureThreshold')).toBeGreaterThanOrEqual(120);
  });

  test('leaves a good part of its memory limit outside of the JavaScript heap', () => {
    const heapMiB = Number(/--max-old-space-size=(\d+)/.exec(variables['NODE_OPTIONS'] ?? '')?.[1]);
    const limit = /^(\d+)Gi$/.exec(String(at(container, 'resources', 'limits', 'memory')));
    const share = heapMiB / (Number(limit?.[1]) * 1024);
    expect(share).toBeGreaterThan(0.5);
    expect(share).toBeLessThan(0.8);
  });

  test('has time to end in order', () => {
    expect(at(operatorPod, 'spec', 'terminationGracePeriodSeconds')).toBe(60);
  });
});

describe('pods meet the restricted pod security standard', () => {
  test.each(deployments)('$metadata.name', deployment => {
    const spec = at(podOf(deployment), 'spec');
    expect(at(spec, 'securityContext')).toMatchObject({
      runAsNonRoot: true,
      seccompProfile: { type: 'RuntimeDefault' },
    });
    for (const container of listAt(spec, 'containers')) {
      expect(at(container, 'securityContext')).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      });
      expect(at(container, 'imagePullPolicy')).toBe('IfNotPresent');
      expect(at(container, 'image')).not.toMatch(/:latest$|^[^:]+$/);
    }
    const namespace = find('Namespace', deployment.metadata.namespace ?? '');
    expect(namespace.metadata.labels?.['pod-security.kubernetes.io/enforce']).toBe('restricted');
  });
});

describe('rights', () => {
  /** One line for each thing that may be done. */
  const spelled = (permissions: readonly Permission[]): string[] =>
    permissions
      .flatMap(({ group, resource, verbs, names }) =>
        verbs.map(verb => `${verb} ${resource}.${group} ${(names ?? ['*']).join(',')}`),
      )
      .sort();
  const granted = (role: Manifest): string[] =>
    listAt(role, 'rules')
      .flatMap(rule =>
        listAt(rule, 'apiGroups').flatMap(group =>
          listAt(rule, 'resources').map(
            (resource): Permission => ({
              group: String(group),
              resource: String(resource),
              verbs: listAt(rule, 'verbs').map(String),
              ...(at(rule, 'resourceNames') === undefined
                ? {}
                : { names: listAt(rule, 'resourceNames').map(String) }),
              because: '',
            }),
          ),
        ),
      )
      .flatMap(permission => spelled([permission]))
      .sort();

  test('in all namespaces are those of the table', () => {
    expect(granted(find('ClusterRole', 'etcd-operator'))).toEqual(spelled(clusterPermissions));
  });

  test('in its own namespace are those of the table', () => {
    expect(granted(find('Role', 'etcd-operator-lease'))).toEqual(spelled(ownNamespacePermissions));
  });

  describe('of an operator of one namespace', () => {
    const { objects } = namespaced;
    const isOfCluster = ({ group, resource }: Permission): boolean =>
      group === 'storage.k8s.io' || ['persistentvolumes', 'nodes'].includes(resource);

    test('are within it, but for looking at nodes, volumes and storage classes', () => {
      expect(objects.filter(({ kind }) => kind.startsWith('Cluster') || kind === 'Namespace')).toEqual([]);
      expect(granted(find('Role', 'etcd-operator', objects))).toEqual(
        spelled(clusterPermissions.filter(permission => !isOfCluster(permission))),
      );
      expect(granted(find('ClusterRole', 'etcd-operator-nodes', namespacedCluster.objects))).toEqual(
        spelled(clusterPermissions.filter(isOfCluster)),
      );
    });

    test('are those of its own account, and it watches its own namespace', () => {
      const namespace = find('ServiceAccount', 'etcd-operator', objects).metadata.namespace;
      const bindings = [...objects, ...namespacedCluster.objects].filter(({ kind }) =>
        kind.endsWith('RoleBinding'),
      );
      expect(bindings).toHaveLength(3);
      for (const binding of bindings)
        expect(listAt(binding, 'subjects')).toEqual([
          { kind: 'ServiceAccount', name: 'etcd-operator', namespace },
        ]);
      const env = listAt(podOf(find('Deployment', 'etcd-operator', objects)), 'spec', 'containers', 0, 'env');
      expect(env).toContainEqual({
        name: 'WATCH_NAMESPACE',
        valueFrom: { fieldRef: { fieldPath: 'metadata.namespace' } },
      });
    });
  });

  test('are no one else’s', () => {
    expect(
      all.filter(({ kind }) => kind === 'ClusterRoleBinding').map(({ metadata }) => metadata.name),
    ).toEqual(['etcd-operator']);
  });
});
