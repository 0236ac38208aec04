/** The chart as Helm renders it: the same objects as those of deploy/, under any name and in any namespace. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ensureToolchain } from '../../local/toolchain/index.ts';
import { root } from '../../scripts/run.ts';
import { parseConfig } from '../../src/main/config/config.ts';
import {
  BUNDLED,
  type Difference,
  FLOW_CONTROL,
  MONITORING,
  NAMESPACED,
  PLAIN,
} from '../deploy/chart-differences.ts';
import { at, type Manifest } from '../deploy/manifests.ts';
import { environmentOf, find, keyOf, podOf } from '../deploy/rendered.ts';
import { CHART, type Helm, objectsOf, startHelm, TEMPORAL } from '../stack/helm.ts';

const run = promisify(execFile);
let helm: Helm;
let kubectl: string;

beforeAll(async () => {
  kubectl = (await ensureToolchain({ only: ['kubectl'] })).path('kubectl');
  helm = await startHelm();
});
afterAll(async () => helm?.close());

const byKey = (objects: readonly Manifest[]): Record<string, Manifest> => {
  const named = Object.fromEntries(objects.map(object => [keyOf(object), object]));
  expect(Object.keys(named)).toHaveLength(objects.length);
  return named;
};
async function kustomized(...folders: readonly string[]): Promise<Manifest[]> {
  const texts = await Promise.all(folders.map(name => run(kubectl, ['kustomize', join(root, name)])));
  return texts.flatMap(({ stdout }) => objectsOf(stdout));
}
function changed(objects: readonly Manifest[], differences: readonly Difference[]): readonly Manifest[] {
  let left: readonly Manifest[] = objects;
  for (const { what, change } of differences) {
    const next = change(structuredClone(left) as Manifest[]);
    expect(next, `"${what}" changes nothing: it is no difference any more`).not.toEqual(left);
    left = next;
  }
  return left;
}
test('helm lint finds nothing', async () => {
  expect(await helm.run('lint', CHART, '--strict', ...TEMPORAL)).toContain('0 chart(s) failed');
});

describe('the same objects as those of', () => {
  test('deploy, with no value but the address of Temporal', async () => {
    const rendered = await helm.render('etcd-operator', 'etcd-operator', ...TEMPORAL);
    expect(byKey(rendered)).toEqual(byKey(changed(await kustomized('deploy'), PLAIN)));
  });

  test('deploy/namespaced and its part for the whole cluster', async () => {
    const values = ['--set', 'watchNamespace=etcd,crds.install=false,users.install=false'];
    const rendered = await helm.render('etcd-operator', 'etcd', ...TEMPORAL, ...values);
    const source = await kustomized('deploy/namespaced', 'deploy/namespaced/cluster');
    expect(byKey(rendered)).toEqual(byKey(changed(source, NAMESPACED)));
  });

  test.each([
    ['v1beta1', []],
    ['v1', ['--api-versions', 'admissionregistration.k8s.io/v1/MutatingAdmissionPolicy']],
  ])('deploy/users/by-filled, as %s where the server has it', async (version, has) => {
    const mutating = (objects: readonly Manifest[]) =>
      objects
        .filter(({ kind }) => kind.startsWith('MutatingAdmissionPolicy'))
        .map(({ apiVersion, kind, ...object }) => ({
          apiVersion,
          kind,
          name: object.metadata.name,
          spec: at(object, 'spec'),
        }));
    const values = [...TEMPORAL, '--set', 'users.fillBy=true', ...has];
    const source = mutating(await kustomized('deploy/users/by-filled'));
    expect(source).toHaveLength(2);
    expect(mutating(await helm.render('etcd-operator', 'etcd-operator', ...values))).toEqual(
      source.map(object => ({ ...object, apiVersion: `admissionregistration.k8s.io/${version}` })),
    );
  });

  test('deploy/monitoring', async () => {
    const values =
      'metrics.podMonitor.enabled=true,metrics.memberPodMonitor.enabled=true,rules.enabled=true,dashboards.enabled=true';
    const rendered = await helm.render('etcd-operator', 'etcd-operator', ...TEMPORAL, '--set', values);
    const monitoring = rendered.filter(
      ({ apiVersion, kind }) => apiVersion === 'monitoring.coreos.com/v1' || kind === 'ConfigMap',
    );
    expect(byKey(monitoring)).toEqual(byKey(changed(await kustomized('deploy/monitoring'), MONITORING)));
  });

  test('deploy/flow-control', async () => {
    const values = [...TEMPORAL, '--set', 'flowControl.enabled=true'];
    const rendered = await helm.render('etcd-operator', 'etcd-operator', ...values);
    const ofFlows = (objects: readonly Manifest[]) =>
      objects.filter(({ apiVersion }) => apiVersion === 'flowcontrol.apiserver.k8s.io/v1');
    expect(byKey(ofFlows(rendered))).toEqual(
      byKey(changed(await kustomized('deploy/flow-control'), FLOW_CONTROL)),
    );
    expect(ofFlows(await helm.render('etcd-operator', 'etcd-operator', ...TEMPORAL))).toEqual([]);
  });

  test('deploy/temporal, bundled', async () => {
    const rendered = await helm.render('etcd-operator', 'etcd-operator', '--set', 'temporal.bundled=true');
    const bundled = rendered.filter(
      ({ metadata }) => metadata.labels?.['app.kubernetes.io/name'] === 'temporal',
    );
    expect(byKey(bundled)).toEqual(byKey(changed(await kustomized('deploy/temporal'), BUNDLED)));
    const service = find(rendered, 'Service', 'etcd-operator-temporal-frontend');
    expect(environmentOf(rendered)['TEMPORAL_ADDRESS']).toBe(
      `${service.metadata.name}.${service.metadata.namespace}.svc:${String(at(service, 'spec', 'ports', 0, 'port'))}`,
    );
  });
});

describe('for a stranger', () => {
  test('every object of a namespace says which, so that `helm template | kubectl apply` works', async () => {
    const rendered = await helm.render('prod', 'ops', '--set', 'temporal.bundled=true');
    const clusterScoped = /^(Cluster|CustomResource|ValidatingAdmission)/;
    for (const object of rendered)
      expect([keyOf(object), object.metadata.namespace]).toEqual([
        keyOf(object),
        clusterScoped.test(object.kind) ? undefined : 'ops',
      ]);
    expect(rendered.some(object => keyOf(object) === 'Deployment ops/prod-etcd-operator')).toBe(true);
  });

  test('two releases of one name, each for its namespace, share no object', async () => {
    const of = (namespace: string): Promise<readonly Manifest[]> =>
      helm.render(
        'etcd-operator',
        namespace,
        ...TEMPORAL,
        '--set',
        `watchNamespace=${namespace},crds.install=false,users.install=false`,
      );
    const [shop, web] = [await of('shop'), await of('web')];
    const keys = [...shop, ...web].map(keyOf);
    expect(keys).toEqual([...new Set(keys)]);
    expect(environmentOf(shop)['TASK_QUEUE']).not.toBe(environmentOf(web)['TASK_QUEUE']);
  });

  test('a list of namespaces gives a Role and its binding in each, and a queue and a Lease that do not follow from it', async () => {
    const of = (name: string, list: string): Promise<readonly Manifest[]> =>
      helm.render(
        name,
        'ops',
        ...TEMPORAL,
        '--set',
        `watchNamespaces={${list}},crds.install=false,users.install=false,networkPolicy.enabled=true`,
      );
    const rendered = await of('etcd-operator', 'shop,web,shop');
    expect(environmentOf(rendered)['WATCH_NAMESPACE']).toBe('shop,web');
    const inEach = (kind: string, name: string) =>
      rendered
        .filter(object => object.kind === kind && object.metadata.name === name)
        .map(({ metadata }) => metadata.namespace);
    for (const kind of ['Role', 'RoleBinding']) {
      expect([kind, inEach(kind, 'etcd-operator')]).toEqual([kind, ['shop', 'web']]);
      expect([kind, inEach(kind, 'etcd-operator-lease')]).toEqual([kind, ['ops']]);
    }
    expect(inEach('NetworkPolicy', 'etcd-operator-helpers')).toEqual(['shop', 'web']);
    expect(inEach('ClusterRoleBinding', 'ops-etcd-operator-nodes')).toHaveLength(1);
    const binding = rendered.find(
      ({ kind, metadata }) => kind === 'RoleBinding' && metadata.namespace === 'web',
    );
    expect(at(binding, 'subjects', 0)).toMatchObject({ name: 'etcd-operator', namespace: 'ops' });
    const shared = (objects: readonly Manifest[]) => {
      const { TASK_QUEUE, LEASE_NAME } = environmentOf(objects);
      return { TASK_QUEUE, LEASE_NAME };
    };
    expect(shared(rendered)).toEqual({
      TASK_QUEUE: 'etcd-operator.ops.etcd-operator',
      LEASE_NAME: 'etcd-operator-watcher.etcd-operator',
    });
    expect(shared(await of('etcd-operator', 'shop'))).toEqual(shared(rendered));
    expect(shared(await of('other', 'shop'))).not.toEqual(shared(rendered));
    const lease = find(rendered, 'Role', 'etcd-operator-lease');
    expect(at(lease, 'rules', 1, 'resourceNames')).toEqual(['etcd-operator-watcher.etcd-operator']);
  });

  test('two releases of different names in one namespace, each for another, share no object, Lease or pod', async () => {
    const of = (name: string): Promise<readonly Manifest[]> =>
      helm.render(
        name,
        'ops',
        '--set',
        `temporal.bundled=true,watchNamespace=${name},crds.install=false,users.install=false`,
      );
    const [shop, web] = [await of('shop'), await of('web')];
    const keys = [...shop, ...web].map(keyOf);
    expect(keys).toEqual([...new Set(keys)]);
    expect(environmentOf(shop)['LEASE_NAME']).not.toBe(environmentOf(web)['LEASE_NAME']);
    const lease = find(shop, 'Role', 'shop-etcd-operator-lease');
    expect(at(lease, 'rules', 1, 'resourceNames')).toEqual([environmentOf(shop)['LEASE_NAME']]);
    const selector = at(find(shop, 'Deployment', 'shop-etcd-operator'), 'spec', 'selector', 'matchLabels');
    expect(at(podOf(web), 'metadata', 'labels')).not.toMatchObject(selector as object);
  });

  test('names of the longest releases fit, and stay different', async () => {
    const release = (last: string): string => `${'r'.repeat(52)}${last}`;
    const of = (last: string): Promise<readonly Manifest[]> =>
      helm.render(release(last), 'n'.repeat(63), '--set', 'temporal.bundled=true');
    const [one, other] = [await of('a'), await of('b')];
    const named = one.filter(({ kind }) =>
      /^(Service|Deployment|ServiceAccount|PersistentVolumeClaim)$/.test(kind),
    );
    expect(named).toHaveLength(6);
    for (const { metadata } of named) expect(metadata.name).toMatch(/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])$/);
    for (const { metadata } of one)
      for (const value of Object.values(metadata.labels ?? {})) expect(value.length).toBeLessThanOrEqual(63);
    const deployments = [...one, ...other].filter(({ kind }) => kind === 'Deployment').map(keyOf);
    expect(deployments).toEqual([...new Set(deployments)]);
    expect(() => parseConfig(environmentOf(one))).not.toThrow();
  });

  test('a release whose name is a number is still made of texts', async () => {
    const rendered = await helm.render('123', '456', ...TEMPORAL, '--set', 'fullnameOverride=etcd');
    for (const { metadata } of rendered)
      for (const value of [metadata.name, metadata.namespace ?? '', ...Object.values(metadata.labels ?? {})])
        expect(value).toBeTypeOf('string');
  });
});
