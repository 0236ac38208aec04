/**
 * docs/quick-start/kubernetes.md and laptop.md as they are written, each way to install on a stack where nothing was installed. Not
 * typed: `docker build` and `docker push` (there is no container runtime; the image that local/images builds is on the nodes under the
 * name of the page's registry), `make demo` (the stack of the drill is in its place) and `make down`. Temporal's address is the stack's.
 */
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { down } from '../../../local/stack/index.ts';
import { root } from '../../../scripts/run.ts';
import { carry, OPERATOR_IMAGE, OPERATOR_VERSION } from '../../stack/carried-images.ts';
import { Runbook } from '../../stack/drill/runbook.ts';
import { podsOf, readCluster, startBareWorld, testStack, type World } from '../../stack/e2e.ts';
import { TEMPORAL } from '../../stack/helm.ts';
import { poll } from '../../stack/poll.ts';

const STACK = `${testStack()}-start`;
const PAGE = 'quick-start/kubernetes.md';
/** Both pages apply the sample where a kubeconfig leads to by itself. */
const at = { namespace: 'default', name: 'example' };
const IMAGE = `registry.example.org/etcd-operator:${OPERATOR_VERSION}`;
/** What cannot be typed here. */
const ELSEWHERE = ['docker build', 'docker push', 'make demo', 'make down'];
const TEMPORAL_ADDRESS = TEMPORAL[1].replace('temporal.address=', '');

let world: World;
let folder: string;
const untried: string[][] = [];

const inFolder = (command: string): string =>
  `cd '${folder}'\n${command.replace('temporal.example.org:7233', TEMPORAL_ADDRESS)}`;
const canBeTyped = (command: string): boolean => !ELSEWHERE.some(words => command.startsWith(words));

afterAll(async () => {
  await world?.close();
  await down(STACK, { wipe: true });
});

/** A stack without an operator, a checkout, and an image in the registry of the page. */
async function begin(): Promise<Runbook> {
  await world?.close();
  await down(STACK, { wipe: true });
  world = await startBareWorld(STACK);
  folder = await mkdtemp(join(tmpdir(), 'quick-start-'));
  for (const part of ['deploy', 'charts'])
    await cp(join(root, part), join(folder, part), { recursive: true });
  await carry(world, OPERATOR_IMAGE, IMAGE);
  return new Runbook(world, at.namespace, PAGE);
}

/** The image that the operator's pods run. */
const runs = (): Promise<string> =>
  world.stack.kubectl(
    ...['-n', 'etcd-operator', 'get', 'deployment', 'etcd-operator'],
    ...['-o', 'jsonpath={.spec.template.spec.containers[0].image}'],
  );

const INSTALLED = {
  'with Helm': async (page: Runbook) => {
    await page.type('create namespace');
    await page.type('label namespace');
    await page.type('helm install', inFolder);
  },
  'with kubectl': async (page: Runbook) => {
    await mkdir(join(folder, 'site'));
    const kustomization = page
      .yaml('kind: Kustomization')
      .replace('temporal.example.org:7233', TEMPORAL_ADDRESS);
    await writeFile(join(folder, 'site/kustomization.yaml'), kustomization);
    await page.type('-k site', inFolder);
  },
} as const;

describe.each(Object.entries(INSTALLED))('an existing cluster, %s', (_, install) => {
  let page: Runbook;
  beforeAll(async () => void (page = await begin()));
  afterAll(async () => {
    untried.push([...page.untried].filter(canBeTyped));
    await rm(folder, { recursive: true, force: true });
  });

  test('the operator is installed', async () => {
    await install(page);
    expect(await page.type('rollout status')).toContain('successfully rolled out');
    expect(await runs()).toBe(IMAGE);
  });

  test('a first cluster answers', async () => {
    await page.type('apply -f deploy/samples', inFolder);
    await page.type('kubectl wait etcd example');
    expect(await page.type('kubectl get etcd example')).toMatch(/^example +3\/3 +3 /m);
    expect(await page.type('etcdctl --endpoints')).toContain('OK');
    expect(await page.type('.status.conditions')).toMatch(/^Healthy=True AllMembersHealthy: ./m);
  });
});

describe('a laptop, after make demo', () => {
  let page: Runbook;
  beforeAll(() => void (page = new Runbook(world, at.namespace, 'quick-start/laptop.md')));

  test('the demo is looked at and grows', async () => {
    const named = (command: string): string => command.replace('local env)', `local env --name ${STACK})`);
    await page.type(
      'eval',
      command => `${named(command)}\nkubectl get nodes\netcdctl version\ntemporal --version`,
    );
    const listed = await page.type('get etcd,pods,pvc');
    for (const kind of ['etcdcluster', 'pod', 'persistentvolumeclaim'])
      expect(listed).toMatch(new RegExp(`^${kind}`, 'm'));
    await page.type('patch etcd example');
    await page.type('wait etcd example');
    expect(await podsOf(world, at.namespace, at.name)).toHaveLength(5);
  });

  test('what is killed comes back', async () => {
    await page.type('delete pod example-1');
    await page.type('delete pod --all --force');
    // It is watched until somebody has seen enough.
    const watched = await page.type('--watch', command => `timeout 10 ${command} || [ $? = 124 ]`);
    expect(watched).toMatch(/^example +\d\/5 /m);
    await poll(async () => (await readCluster(world, at.namespace, at.name))?.status?.ready === '5/5');
  });

  test('it says why it waits, and what happened to it', async () => {
    await poll(async () => (await page.type('.status.conditions')).includes('Healthy=True'));
    expect(await page.type('get events')).toMatch(/MemberAdded|AllMembersHealthy|MemberStarted/);
  });

  test('no command of the pages is left out', () => {
    const [helm = [], kubectl = []] = untried;
    expect(helm.filter(command => kubectl.includes(command))).toEqual([]);
    expect([...page.untried].filter(canBeTyped)).toEqual([]);
  });
});
