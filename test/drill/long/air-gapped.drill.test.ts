/**
 * docs/quick-start/air-gapped.md as it is written, with Helm and with kubectl, each on a stack where nothing was installed. No registry
 * is at hand: the images are on the nodes under the names and digests that the page's registry would give them, and Secrets for pulling
 * are made and named, but not used. Temporal is the stack's, with mutual TLS before it. Of the operator of Prometheus there are the
 * definitions only. What a reader puts in the place of examples: the digest, the address of Temporal and that of the object store.
 */
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { down } from '../../../local/stack/index.ts';
import { root } from '../../../scripts/run.ts';
import { secret } from '../../fakes/certificates.ts';
import { carry, digestOf, etcdImage, OPERATOR_IMAGE } from '../../stack/carried-images.ts';
import { watchPods } from '../../stack/drill/pods-seen.ts';
import { Runbook } from '../../stack/drill/runbook.ts';
import { Shell } from '../../stack/drill/shell.ts';
import { startBareWorld, testStack, type World } from '../../stack/e2e.ts';
import { Restores } from '../../stack/restores.ts';
import { type SealedTemporal, sealTemporal } from '../../stack/sealed-temporal.ts';
import { startStackStore, type StackStore } from '../../stack/stack-store.ts';

const STACK = `${testStack()}-air`;
const MIRROR = 'registry.example.org/mirror';
/** The page calls them so. */
const at = { namespace: 'shop', name: 'orders' };
const PASSWORD = { PASSWORD: 'of the registry' };
const MEMBERS = ['orders-0', 'orders-1', 'orders-2'];
/** Ends of the names of pods that help. */
const HELPERS = [/-backup-verify$/, /-backup-claim$/, /-restore-volume$/];
const EXAMPLE = /sha256:[0-9a-f]{64}/g;

let world: World;
let temporal: SealedTemporal;
let store: StackStore | undefined;
let digest: string;
/** Where the reader types. */
let folder: string;
const untried: string[][] = [];

const here = (command: string): string => `cd '${folder}'\n${command}`;
const known = (text: string): string =>
  text.replace(EXAMPLE, digest).replace('temporal.example.org:7233', temporal.address);
const kubectl = (...args: string[]): Promise<string> => world.stack.kubectl(...args);

async function end(): Promise<void> {
  await store?.stop();
  store = undefined;
  await temporal?.stop();
  await world?.close();
  await down(STACK, { wipe: true });
}
afterAll(end);

/** A stack without an operator, and what the page says to carry there. */
async function begin(): Promise<Runbook> {
  await end();
  world = await startBareWorld(STACK);
  temporal = await sealTemporal(world);
  digest = await digestOf(world, OPERATOR_IMAGE);
  await carry(world, OPERATOR_IMAGE, `${MIRROR}/etcd-operator@${digest}`);
  await carry(world, etcdImage('3.6.16'), `${MIRROR}/etcd:v3.6.16`);
  folder = await mkdtemp(join(tmpdir(), 'air-gapped-'));
  for (const [name, text] of Object.entries(await temporal.issue()))
    await writeFile(join(folder, name), text);
  for (const definition of PROMETHEUS) await world.kube.apply(definition);
  // Where their Prometheus runs.
  await kubectl('create', 'namespace', 'monitoring');
  return new Runbook(world, 'default', 'quick-start/air-gapped.md');
}

/** The definitions of the operator of Prometheus that the page needs, without their schemas. */
const PROMETHEUS = [
  ['PodMonitor', 'podmonitors'],
  ['PrometheusRule', 'prometheusrules'],
].map(([kind = '', plural = '']) => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${plural}.monitoring.coreos.com` },
  spec: {
    group: 'monitoring.coreos.com',
    scope: 'Namespaced',
    names: { kind, plural, singular: kind.toLowerCase(), listKind: `${kind}List` },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    ],
  },
}));

const INSTALLED = {
  'with Helm': async (page: Runbook) => {
    await new Shell(world, 'default').run(here(`helm package '${root}/charts/etcd-operator'`));
    await writeFile(
      join(folder, 'values.yaml'),
      known(page.yaml('imagePullSecrets:\n  - name: mirror\ntemporal')),
    );
    await page.type('create namespace shop');
    await page.type('label namespace shop');
    await page.type('label namespace monitoring');
    await page.type('helm install', here);
    await page.type('rollout status');
  },
  'with kubectl': async (page: Runbook) => {
    await cp(join(root, 'deploy'), join(folder, 'etcd-operator/deploy'), { recursive: true });
    await writeFile(join(folder, 'kustomization.yaml'), known(page.yaml('kind: Kustomization')));
    await page.type('create namespace shop');
    await page.type('label namespace shop');
    await page.type('label namespace monitoring');
    await page.type('apply --server-side -k .', here);
    await page.type('deploy/helpers', here);
    await page.type('deploy/monitoring', here);
    await page.type('rollout status');
  },
} as const;

describe.each(Object.entries(INSTALLED))('without Internet, %s', (_, install) => {
  let page: Runbook;
  beforeAll(async () => void (page = await begin()));
  afterAll(async () => {
    untried.push([...page.untried]);
    await rm(folder, { recursive: true, force: true });
  });

  test('the Secrets of the page are created', async () => {
    await page.type('create namespace etcd-operator');
    await page.type('label namespace etcd-operator');
    await page.type('-n etcd-operator create secret docker-registry', undefined, PASSWORD);
    await page.type('generic temporal-tls', here);
    await page.type('generic etcd-operator-codec');
  });

  test('the operator runs by digest, reaches Temporal with its certificate, and is scraped and fenced', async () => {
    await install(page);
    const of = ['-n', 'etcd-operator', 'get'];
    const spec =
      'jsonpath={range .items[*].spec}{.containers[0].image} {.imagePullSecrets[*].name}{"\\n"}{end}';
    const pods = await kubectl(...of, 'pods', '-o', spec);
    const pulled = `${MIRROR}/etcd-operator@${digest} mirror`;
    expect(pods.trim().split('\n')).toEqual([pulled, pulled]);
    // Nobody gets there without a certificate of its authority.
    const namespaces = await world.temporal('operator', 'namespace', 'list');
    expect(namespaces).toContain('etcd-operator-production');
    const monitored = await kubectl('get', 'podmonitors,prometheusrules', '-A', '-o', 'name');
    expect(monitored.match(/podmonitor/g)).toHaveLength(2);
    expect(monitored).toContain('prometheusrule');
    expect(await kubectl('-n', at.namespace, 'get', 'networkpolicies', '-o', 'name')).toContain('helpers');
  });

  test('a cluster from the mirror is backed up and restored beside itself', async () => {
    store = await startStackStore(world, at.namespace, 'S3');
    // As the page of the stores makes it.
    await world.kube.apply(secret(at.namespace, 'object-store', store.credentials));
    const cluster = page
      .yaml('kind: EtcdCluster')
      .replace('https://objects.example.org', store.endpoint)
      .replace('path: etcd/orders', 'path: bucket/orders');
    await writeFile(join(folder, 'cluster.yaml'), cluster);
    await page.type('-n shop create secret docker-registry', undefined, PASSWORD);
    const pods = watchPods(world, at.namespace);
    await page.type('apply -f cluster.yaml', here);
    await page.type('wait etcd orders');

    const shell = new Shell(world, at.namespace);
    await shell.run('kubectl etcd etcdctl orders -- put colour blue');
    await shell.run('kubectl etcd backup orders --yes --wait');
    // The snapshot and its manifest; the hour of the schedule may have come meanwhile.
    const names = [...(await store.contents()).keys()].filter(name => name.startsWith('orders'));
    expect(names.length).toBeGreaterThanOrEqual(2);
    const restores = new Restores(world, at.namespace);
    await restores.createClaim();
    await restores.backUp('into-claim', at.name);
    await restores.begin('copy', {
      etcdCluster: { name: 'copy' },
      backupRef: { name: at.name },
      clusterTemplate: {
        size: 1,
        version: '3.6.16',
        repository: `${MIRROR}/etcd`,
        TLS: { auto: {} },
        pod: { imagePullSecrets: [{ name: 'mirror' }] },
        storage: { volumeClaimTemplate: { spec: { resources: { requests: { storage: '1Gi' } } } } },
      },
    });
    expect((await restores.ended('copy')).status?.phase).toBe('Succeeded');
    expect(await shell.run('kubectl etcd etcdctl copy -- get colour')).toContain('blue');
    const seen = await pods.stop();
    // Members, and the pods that verify, lend a claim and fill a volume: nobody finds an image, or a password for it, elsewhere.
    expect(seen.map(({ name }) => name)).toEqual(
      expect.arrayContaining([...MEMBERS, 'copy-0', ...HELPERS.map(role => expect.stringMatching(role))]),
    );
    const known = [`${MIRROR}/etcd-operator@${digest}`, `${MIRROR}/etcd:v3.6.16`];
    expect(seen.filter(({ images }) => !images.every(image => known.includes(image)))).toEqual([]);
    expect(seen.filter(({ pulledWith }) => !pulledWith.includes('mirror'))).toEqual([]);
  });

  test('Temporal gets nothing in plain text', async () => {
    const workflow = await kubectl(
      ...['-n', at.namespace, 'get', 'etcd', at.name, '-o', 'jsonpath={.status.workflowID}'],
    );
    const show = `temporal workflow show --namespace etcd-operator-production -w ${workflow} -o json`;
    const { events } = JSON.parse(await new Shell(world, at.namespace).run(show)) as { events: object[] };
    const inputs = JSON.stringify(events).matchAll(
      /"input":\{"payloads":\[\{"metadata":\{"encoding":"([^"]*)"/g,
    );
    const encodings = [...inputs].map(([, encoding = '']) => Buffer.from(encoding, 'base64').toString());
    expect(new Set(encodings)).toEqual(new Set(['binary/encrypted']));
  });
});

test('no command of the page is left out', () => {
  const [helm = [], kubectlOnly = []] = untried;
  expect(helm.filter(command => kubectlOnly.includes(command))).toEqual([]);
});
