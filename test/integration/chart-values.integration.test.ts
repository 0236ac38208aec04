/** The values of the chart: what becomes of them, and what Helm says of those that cannot be. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseConfig } from '../../src/main/config/config.ts';
import { memberPod } from '../../src/objects/pod.ts';
import { at, listAt, type Manifest } from '../deploy/manifests.ts';
import { environmentOf, find, podOf } from '../deploy/rendered.ts';
import { BOOTSTRAP, cluster, member } from '../objects/clusters.ts';
import { CHART, type Helm, startHelm, TEMPORAL } from '../stack/helm.ts';

let helm: Helm;
let folder: string;

beforeAll(async () => {
  helm = await startHelm();
  folder = mkdtempSync(join(tmpdir(), 'chart-values-'));
});
afterAll(async () => {
  await helm?.close();
  rmSync(folder, { recursive: true, force: true });
});

function valuesFile(values: object): string {
  const file = join(folder, 'values.json');
  writeFileSync(file, JSON.stringify(values));
  return file;
}
const render = (values: object): Promise<readonly Manifest[]> =>
  helm.render('etcd-operator', 'etcd-operator', ...TEMPORAL, '--values', valuesFile(values));

describe('values', () => {
  test('of config reach the operator as it reads them', async () => {
    const rendered = await render({
      config: {
        MAX_CACHED_WORKFLOWS: 100_000,
        BACKUP_JITTER_SECONDS: 3600,
        BACKUP_ENDPOINTS_ALLOWED: ['*.example.org', '10.1.0.0/16'],
        LOG_LEVEL: 'debug',
      },
      temporal: {
        namespace: 'etcd',
        retentionDays: 7,
        taskQueue: 'q',
        apiKey: { secretName: 'cloud', key: 'operator' },
        tls: { enabled: true, secretName: 'temporal-tls', serverName: 'temporal.internal' },
        codec: {
          secretName: 'temporal-codec',
          server: { enabled: true, origins: ['https://temporal.example.org'], encodes: true },
        },
      },
      watchNamespace: 'shop',
    });
    const environment = environmentOf(rendered);
    expect(parseConfig({ ...environment, POD_NAME: 'p', POD_NAMESPACE: 'n' })).toMatchObject({
      temporal: {
        namespace: 'etcd',
        retentionDays: 7,
        apiKeyFile: '/etc/temporal-api-key/operator',
        tls: {
          caFile: '/etc/temporal-tls/ca.crt',
          certFile: '/etc/temporal-tls/tls.crt',
          keyFile: '/etc/temporal-tls/tls.key',
          serverName: 'temporal.internal',
        },
      },
      codec: {
        keysFolder: '/etc/temporal-codec',
        server: { port: 8081, origins: ['https://temporal.example.org'], encodes: true },
      },
      taskQueue: 'q',
      watchNamespaces: ['shop'],
      leaseName: 'etcd-operator-watcher-shop',
      backupJitterSeconds: 3600,
      allowed: { endpoints: ['*.example.org', '10.1.0.0/16'] },
      logLevel: 'debug',
      worker: { maxCachedWorkflows: 100_000 },
    });
    expect(listAt(podOf(rendered), 'spec', 'volumes')).toContainEqual({
      name: 'temporal-tls',
      secret: { secretName: 'temporal-tls' },
    });
    expect(listAt(podOf(rendered), 'spec', 'containers', 0, 'volumeMounts')).toContainEqual({
      name: 'temporal-api-key',
      mountPath: '/etc/temporal-api-key',
      readOnly: true,
    });
    expect(listAt(podOf(rendered), 'spec', 'volumes')).toContainEqual({
      name: 'temporal-api-key',
      secret: { secretName: 'cloud' },
    });
    const mounted = { name: 'temporal-codec', mountPath: '/etc/temporal-codec', readOnly: true };
    expect(listAt(podOf(rendered), 'spec', 'containers', 0, 'volumeMounts')).toContainEqual(mounted);
    expect(listAt(podOf(rendered), 'spec', 'volumes')).toContainEqual({
      name: 'temporal-codec',
      secret: { secretName: 'temporal-codec' },
    });
  });

  test('an API key alone means TLS with the authorities of Node', async () => {
    const rendered = await render({ temporal: { apiKey: { secretName: 'cloud' } } });
    expect(parseConfig(environmentOf(rendered)).temporal).toMatchObject({
      apiKeyFile: '/etc/temporal-api-key/api-key',
      tls: { caFile: undefined, certFile: undefined, keyFile: undefined, serverName: undefined },
    });
  });

  test('TLS with the authorities of Node needs no Secret, and one with only an authority no client certificate', async () => {
    const tls = async (settings: object): Promise<unknown> =>
      parseConfig(environmentOf(await render({ temporal: { tls: { enabled: true, ...settings } } }))).temporal
        .tls;
    expect(await tls({})).toEqual({
      caFile: undefined,
      certFile: undefined,
      keyFile: undefined,
      serverName: undefined,
    });
    expect(await tls({ secretName: 's', certKey: '', keyKey: '' })).toMatchObject({
      caFile: '/etc/temporal-tls/ca.crt',
      certFile: undefined,
    });
  });

  test.each<readonly [image: object, expected: string]>([
    [{ registry: 'registry.example.org/mirror/' }, 'registry.example.org/mirror/etcd-operator:'],
    [{ repository: 'team/etcd-operator', tag: '1.2.3' }, 'team/etcd-operator:1.2.3'],
    [
      { registry: 'r:5000', tag: 'x', digest: `sha256:${'a'.repeat(64)}` },
      `r:5000/etcd-operator@sha256:${'a'.repeat(64)}`,
    ],
  ])('image %j', async (image, expected) => {
    const rendered = await render({ image });
    expect(String(at(podOf(rendered), 'spec', 'containers', 0, 'image')).startsWith(expected)).toBe(true);
  });

  test('of the pod reach the pod', async () => {
    const toleration = { key: 'dedicated', operator: 'Exists' };
    const rendered = await render({
      imagePullSecrets: [{ name: 'pull' }],
      nodeSelector: { 'kubernetes.io/arch': 'arm64' },
      tolerations: [toleration],
      affinity: { nodeAffinity: {} },
      priorityClassName: 'system-cluster-critical',
      podLabels: { team: 'data' },
      podAnnotations: { 'prometheus.io/scrape': 'false' },
      resources: { limits: { memory: '2Gi' } },
      env: [{ name: 'HTTPS_PROXY', value: 'http://proxy:3128' }],
      volumes: [{ name: 'ca', configMap: { name: 'ca' } }],
      volumeMounts: [{ name: 'ca', mountPath: '/etc/ca' }],
      serviceAccount: { name: 'etcd', annotations: { 'iam.gke.io/gcp-service-account': 'a@b' } },
    });
    expect(podOf(rendered)).toMatchObject({
      metadata: {
        labels: { team: 'data' },
        annotations: { 'prometheus.io/scrape': 'false', 'prometheus.io/port': '9464' },
      },
      spec: {
        serviceAccountName: 'etcd',
        imagePullSecrets: [{ name: 'pull' }],
        nodeSelector: { 'kubernetes.io/arch': 'arm64' },
        tolerations: [toleration],
        affinity: { nodeAffinity: {} },
        priorityClassName: 'system-cluster-critical',
        containers: [
          {
            resources: { limits: { memory: '2Gi' } },
            volumeMounts: [{ name: 'tmp' }, { name: 'ca', mountPath: '/etc/ca' }],
          },
        ],
        volumes: [{ name: 'tmp' }, { name: 'ca', configMap: { name: 'ca' } }],
      },
    });
    expect(environmentOf(rendered)['HTTPS_PROXY']).toBe('http://proxy:3128');
    expect(find(rendered, 'ServiceAccount', 'etcd').metadata).toMatchObject({
      annotations: { 'iam.gke.io/gcp-service-account': 'a@b' },
    });
    for (const kind of ['ClusterRoleBinding', 'RoleBinding'])
      for (const binding of rendered.filter(object => object.kind === kind))
        expect(listAt(binding, 'subjects')).toEqual([
          { kind: 'ServiceAccount', name: 'etcd', namespace: 'etcd-operator' },
        ]);
  });

  test('switch off what is not wanted', async () => {
    const rendered = await render({
      podDisruptionBudget: { enabled: false },
      networkPolicy: { enabled: false },
      rbac: { create: false },
      serviceAccount: { create: false, name: 'mine' },
      crds: { install: false },
      users: { install: false },
    });
    expect(rendered.map(({ kind }) => kind)).toEqual(['Deployment']);
    expect(at(podOf(rendered), 'spec', 'serviceAccountName')).toBe('mine');
  });

  test('leave only what is of the whole Kubernetes cluster, for which no address is needed', async () => {
    const rendered = await helm.render('shared', 'ops', '--set', 'operator.install=false');
    expect(new Set(rendered.map(({ kind }) => kind))).toEqual(
      new Set([
        'CustomResourceDefinition',
        'ClusterRole',
        'ValidatingAdmissionPolicy',
        'ValidatingAdmissionPolicyBinding',
      ]),
    );
  });

  test('leave CRDs and roles for users out of the policy that keeps them', async () => {
    const kept = (objects: readonly Manifest[]): number =>
      objects.filter(object => at(object, 'metadata', 'annotations', 'helm.sh/resource-policy') === 'keep')
        .length;
    expect(kept(await render({}))).toBe(11);
    expect(kept(await render({ crds: { keep: false }, users: { keep: false } }))).toBe(0);
  });

  test('ask for a PodMonitor in place of annotations, with ports that the pod has', async () => {
    const rendered = await render({
      metrics: { podMonitor: { enabled: true, labels: { release: 'prom' } } },
    });
    const monitor = find(rendered, 'PodMonitor');
    expect(monitor.metadata.labels).toMatchObject({ release: 'prom' });
    expect(at(podOf(rendered), 'metadata', 'labels')).toMatchObject(
      at(monitor, 'spec', 'selector', 'matchLabels') as object,
    );
    const ports = listAt(podOf(rendered), 'spec', 'containers', 0, 'ports').map(port => at(port, 'name'));
    for (const endpoint of listAt(monitor, 'spec', 'podMetricsEndpoints'))
      expect(ports).toContain(at(endpoint, 'port'));
    expect(at(podOf(rendered), 'metadata', 'annotations')).toBeUndefined();
  });

  test.each([
    [{}, { any: true }],
    [{ watchNamespace: 'shop' }, { matchNames: ['shop'] }],
    [{ watchNamespaces: ['shop', 'web'] }, { matchNames: ['shop', 'web'] }],
  ])(
    'ask for a PodMonitor of members with %j, with the labels and the port of a pod',
    async (watch, namespaces) => {
      const rendered = await render({ ...watch, metrics: { memberPodMonitor: { enabled: true } } });
      const monitor = find(rendered, 'PodMonitor', 'etcd-operator-members');
      expect(at(monitor, 'spec', 'namespaceSelector')).toEqual(namespaces);
      const pod = memberPod(cluster({}), member(BOOTSTRAP));
      expect(pod.metadata.labels).toMatchObject(at(monitor, 'spec', 'selector', 'matchLabels') as object);
      for (const label of listAt(monitor, 'spec', 'podTargetLabels'))
        expect(pod.metadata.labels).toHaveProperty([String(label)]);
      expect(at(pod, 'spec', 'containers', 0, 'ports')).toContainEqual(
        expect.objectContaining({
          name: at(monitor, 'spec', 'podMetricsEndpoints', 0, 'port'),
          containerPort: 2381,
        }),
      );
    },
  );

  test('lead from alerts to runbooks elsewhere, also of a release without an operator', async () => {
    const runbookUrl = 'https://wiki.example.org/etcd?page=alerts';
    const rendered = await render({
      operator: { install: false },
      rules: { enabled: true, runbookUrl, labels: { release: 'prom' } },
    });
    const rules = find(rendered, 'PrometheusRule');
    expect(rules.metadata.labels).toMatchObject({ release: 'prom' });
    const alerts = listAt(rules, 'spec', 'groups').flatMap(group => listAt(group, 'rules'));
    expect(alerts.length).toBeGreaterThan(20);
    for (const alert of alerts)
      expect(at(alert, 'annotations', 'runbook_url')).toBe(
        `${runbookUrl}#${String(at(alert, 'alert')).toLowerCase()}`,
      );
  });
});

/** What is given, and what Helm says: of `helm template` and, for what the schema knows, also of `helm lint`. */
const REFUSED: readonly (readonly [values: object, says: RegExp])[] = [
  [{ replicas: '2' }, /\/replicas'?: got string, want integer/],
  [{ replicas: 0 }, /\/replicas'?: minimum: got 0, want 1/],
  [{ replicas: null }, /missing property 'replicas'/],
  [{ temporal: { tls: null } }, /\/temporal'?: missing property 'tls'/],
  [{ rules: { runbookUrl: 'a: b # c' } }, /\/rules\/runbookUrl'?: 'a: b # c' does not match/],
  [{ replica: 2 }, /additional properties 'replica' not allowed/],
  [{ crds: { install: 'yes' } }, /\/crds\/install'?: got string, want boolean/],
  [
    { temporal: { address: 'http://temporal:7233' } },
    /\/temporal\/address'?: 'http:\/\/temporal:7233' does not match/,
  ],
  [{ temporal: { address: 'temporal' } }, /\/temporal\/address'?: 'temporal' does not match/],
  [{ temporal: { adress: 'temporal:7233' } }, /additional properties 'adress' not allowed/],
  [{ temporal: { retentionDays: 1 } }, /\/temporal\/retentionDays'?: minimum: got 1, want 7/],
  [{ watchNamespaces: 'shop' }, /\/watchNamespaces'?: got string, want array/],
  [{ watchNamespaces: ['shop', 'We_b'] }, /\/watchNamespaces\/1'?: 'We_b' does not match/],
  [
    { watchNamespaces: Array.from({ length: 51 }, (_, index) => `team-${index}`) },
    /\/watchNamespaces'?: maxItems: got 51, want 50/,
  ],
  [{ watchNamespace: 'shop,web' }, /\/watchNamespace'?: 'shop,web' does not match/],
  [{ watchNamespace: ['shop', 'web'] }, /\/watchNamespace'?: got array, want string/],
  [{ image: { digest: 'latest' } }, /\/image\/digest'?: 'latest' does not match/],
  [
    { image: { pullPolicy: 'Sometimes' } },
    /\/image\/pullPolicy'?: value must be one of 'Always', 'IfNotPresent', 'Never'/,
  ],
  [{ imagePullSecrets: ['pull'] }, /\/imagePullSecrets\/0'?: got string, want object/],
  [{ config: { LOG_LEVEL: 'loud' } }, /\/config\/LOG_LEVEL'?: value must be one of/],
  [{ config: { LOGLEVEL: 'debug' } }, /additional properties 'LOGLEVEL' not allowed/],
  [
    { config: { MAX_CONCURRENT_ACTIVITIES: 0 } },
    /\/config\/MAX_CONCURRENT_ACTIVITIES'?: minimum: got 0, want 1/,
  ],
  [{ config: { WATCH_NAMESPACE: 'shop' } }, /additional properties 'WATCH_NAMESPACE' not allowed/],
  [{ env: [{ value: 'x' }] }, /\/env\/0'?: missing property 'name'/],
  [{ podAnnotations: { a: true } }, /\/podAnnotations\/a'?: got boolean, want string/],
  [{ fullnameOverride: 'x'.repeat(46) }, /\/fullnameOverride'?: '(x+)' does not match/],
];

/** What only the templates know. */
const CONTRADICTIONS: readonly (readonly [values: object, says: string])[] = [
  [{ temporal: { address: '' } }, 'temporal.address is empty: set it to host:port'],
  [
    { temporal: { bundled: true } },
    'temporal.address is "temporal-frontend.temporal.svc:7233" and temporal.bundled is true',
  ],
  [{ temporal: { address: '', bundled: true, tls: { enabled: true } } }, 'the bundled Temporal has no TLS'],
  [
    { watchNamespace: 'shop', watchNamespaces: ['web'] },
    'watchNamespace is "shop" and watchNamespaces is ["web"]: leave out one of them',
  ],
  [
    { temporal: { address: '', bundled: true, apiKey: { secretName: 's' } } },
    'the bundled Temporal has no TLS and takes no API key',
  ],
  [{ temporal: { tls: { secretName: 's' } } }, 'set temporal.tls.enabled=true'],
  [{ temporal: { codec: { server: { enabled: true } } } }, 'name the Secret with the keys'],
  [
    { temporal: { tls: { enabled: true, secretName: 's', keyKey: '' } } },
    'temporal.tls.certKey and temporal.tls.keyKey go together',
  ],
  [{ podLabels: { 'app.kubernetes.io/name': 'x' } }, 'podLabels sets app.kubernetes.io/name'],
  [{ env: [{ name: 'TEMPORAL_ADDRESS', value: 'x:1' }] }, 'the variable TEMPORAL_ADDRESS is in env'],
  [{ serviceAccount: { create: false } }, 'name the ServiceAccount that exists'],
];

describe('refused are', () => {
  const template = (values: object): Promise<string> =>
    // The file last: --set would win.
    helm.refusal(
      'template',
      'etcd-operator',
      CHART,
      '--values',
      valuesFile({ ...values, temporal: temporalOf(values) }),
    );
  const temporalOf = (values: object): object => ({
    address: 'temporal-frontend.temporal.svc:7233',
    ...(at(values, 'temporal') as object | undefined),
  });

  test.each(REFUSED)('%j', async (values, says) => {
    expect(await template(values)).toMatch(says);
    expect(await helm.refusal('lint', CHART, '--values', valuesFile(values))).toMatch(says);
  });

  test.each(CONTRADICTIONS)('%j', async (values, says) => {
    expect(await template(values)).toContain(says);
  });

  test('names of releases that Helm itself does not take', async () => {
    expect(await helm.refusal('template', 'r'.repeat(54), CHART, ...TEMPORAL)).toContain('53');
  });

  test('versions of Kubernetes without what the chart needs', async () => {
    expect(await helm.refusal('template', 'x', CHART, ...TEMPORAL, '--kube-version', '1.29.0')).toContain(
      'requires kubeVersion: >=1.30.0-0',
    );
  });
});
