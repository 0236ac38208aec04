/** docs/operations/restore.md and disaster.md as they are written: their commands are typed, and what they say comes about. */
import { mkdtemp, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ANNOTATION_KEPT_BY_RESTORE } from '../../../src/api/names.ts';
import type { EtcdBackupSpec, EtcdRestore, EtcdRestoreStatus } from '../../../src/api/schemas/types.ts';
import { CONTAINER_SECURITY, POD_SECURITY } from '../../../src/objects/security.ts';
import { BackupStory } from '../../stack/backup-story.ts';
import { Runbook } from '../../stack/drill/runbook.ts';
import {
  awaitRunning,
  claimsOf,
  manifest,
  podsOf,
  readCluster,
  sample,
  type World,
} from '../../stack/e2e.ts';
import { useNamespace } from '../../stack/e2e-namespace.ts';
import { poll } from '../../stack/poll.ts';
import { Restores } from '../../stack/restores.ts';
import { blockOf, startStackStore, type StackStore } from '../../stack/stack-store.ts';

/** The pages call what they speak of so. */
const at = { namespace: 'drill-restore-pages', name: 'example' };
const [RESTORE, NIGHTLY, COPY] = ['example-back', 'example-nightly', 'example-copy'];

let world: World;
let story: BackupStory;
let restores: Restores;
let restorePage: Runbook;
let disasterPage: Runbook;
let store: StackStore;

useNamespace(at.namespace, opened => void (world = opened));
beforeAll(async () => {
  story = new BackupStory(world, at.namespace);
  restores = new Restores(world, at.namespace);
  restorePage = new Runbook(world, at.namespace, 'operations/restore.md');
  disasterPage = new Runbook(world, at.namespace, 'operations/disaster.md');
  await world.kube.apply(manifest(at.namespace, at.name, { size: 3, version: '3.6.16' }));
  await restores.createClaim();
  store = await startStackStore(world, at.namespace, 'S3');
  await awaitRunning(world, at, 200_000);
  await put('as it was');
  await restores.backUp('example', at.name);
  await backUpNightly();
  await put('later');
});
afterAll(() => store?.stop());

const put = (value: string) => restores.etcdctl(at.name, 'put', 'colour', value);
const colour = (cluster = at.name) => restores.etcdctl(cluster, 'get', 'colour', '--print-value-only');
const clusterId = async () => (await readCluster(world, at.namespace, at.name))?.status?.clusterID;

/** The sample's backup, but for the endpoint; one is taken now. */
async function backUpNightly(): Promise<void> {
  const { spec } = sample(at.namespace, 'backup-schedule.yaml') as { spec?: EtcdBackupSpec };
  const block = blockOf(store, 'bucket/etcd/example');
  await story.apply('EtcdBackup', NIGHTLY, { ...(spec as EtcdBackupSpec), ...block });
  const id = await poll(async () => (await story.backup(NIGHTLY))?.status?.workflowID);
  await world.temporal('workflow', 'signal', '-w', id, '--name', 'backup', '-i', '{"by":"drill"}');
  await story.backedUp(NIGHTLY);
}

const until = (is: (status: EtcdRestoreStatus) => boolean, timeoutMs = 180_000): Promise<EtcdRestore> =>
  restores.until(RESTORE, is, timeoutMs);

async function forget(name: string): Promise<void> {
  await world.stack.kubectl('-n', at.namespace, 'delete', 'etcdrestore', name);
}

/** The sample, with the confirmation that the page asks for. */
async function restoreInPlace(): Promise<void> {
  const id = (await restorePage.type("jsonpath='{.status.clusterID}")).trim();
  expect(id).toBe(await clusterId());
  await restorePage.type('apply -f deploy/samples/restore-in-place.yaml', command =>
    command.replace(
      /apply -f (.*)$/,
      `apply -f - < <(sed 's/# confirmClusterID: .*/confirmClusterID: ${id}/' $1)`,
    ),
  );
}

test('how a cluster that is well looks', async () => {
  expect(await disasterPage.type('.status.conditions')).toMatch(/^Healthy=True /m);
  const listed = await disasterPage.type('get pods,pvc');
  for (const { metadata } of await podsOf(world, at.namespace, at.name)) {
    expect(listed).toContain(`pod/${metadata.name} `);
    expect(listed).toContain(`persistentvolumeclaim/${metadata.name} `);
  }
  const { status } = (await story.backup(NIGHTLY)) ?? {};
  const { time, revision, verified } = status?.history?.[0] ?? {};
  expect(await disasterPage.type('get etcdbackup')).toMatch(
    new RegExp(`^${time} ${revision} ${verified} s3://bucket/etcd/example`, 'm'),
  );
});

test('in place: asks for a confirmation, says where it is, and is taken back by its deletion', async () => {
  const old = await clusterId();
  await disasterPage.type('apply -f deploy/samples/restore-in-place.yaml');
  const asked = await until(({ step }) => step?.includes('spec.confirmClusterID') === true);
  expect(asked.status?.step).toContain(old);
  expect(asked.status?.phase).toBe('Refused');
  expect(await restorePage.type('.status.refusal.reason')).toMatch(/^NotConfirmed: ./);
  await poll(async () => (await restorePage.type('RestorePending')).includes(`${RESTORE} is refused`));
  await restorePage.type('look-again');
  await until(({ refusal }) => refusal?.lookAgain !== undefined);
  await restorePage.type('kubectl patch etcdrestore');
  // The page on disasters says it, too.
  await disasterPage.type('kubectl patch etcdrestore');
  await until(({ phase }) => phase === 'Seeding');
  expect(await restorePage.type("jsonpath='{.status.phase}")).toMatch(/^Seeding: ./);
  await restorePage.type('kubectl delete etcdrestore');
  await poll(async () => (await clusterId()) === old, { timeoutMs: 120_000 });
  await awaitRunning(world, at);
  expect(await colour()).toBe('later');
});

test('in place: aborted by a signal, and done when it is asked for again', async () => {
  await restoreInPlace();
  await until(({ phase }) => phase === 'Seeding');
  await restorePage.type('--name abort');
  const { status } = await until(({ phase }) => phase === 'Failed');
  expect(status?.reason).toContain('aborted by ana');
  await awaitRunning(world, at);
  expect(await colour()).toBe('later');
  await forget(RESTORE);
  await restoreInPlace();
  await disasterPage.type('kubectl wait etcdrestore/example-back');
  expect(await colour()).toBe('as it was');
  const claims = await claimsOf(world, at.namespace, at.name);
  const kept = claims.filter(
    ({ metadata }) => metadata.annotations?.[ANNOTATION_KEPT_BY_RESTORE] !== undefined,
  );
  expect(kept).toHaveLength(3);
  const { history = [] } = (await story.backup(NIGHTLY))?.status ?? {};
  expect(await revisionOn(kept[0]?.metadata.name ?? '')).toBeGreaterThan(history[0]?.revision ?? Infinity);
  await forget(RESTORE);
});

/** What a pod of one's own reads from the claim of a member before: etcd's tool makes data of it, and says its revision. */
async function revisionOn(claim: string): Promise<number> {
  const [member] = await podsOf(world, at.namespace, at.name);
  if (member === undefined) throw new Error('there is no member');
  const { image } = (member['spec'] as { containers: readonly { image: string }[] }).containers[0] ?? {};
  const mounts = [
    { name: 'old', mountPath: '/old' },
    { name: 'new', mountPath: '/new' },
  ];
  const run = (name: string, ...words: string[]) => {
    const command = ['etcdutl', 'snapshot', ...words];
    return { name, image, command, volumeMounts: mounts, securityContext: CONTAINER_SECURITY };
  };
  const from = '/old/data/member/snap/db';
  const pod = { apiVersion: 'v1', kind: 'Pod', namespace: at.namespace, name: 'reader' };
  await world.kube.apply({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace: at.namespace, name: pod.name },
    spec: {
      restartPolicy: 'Never',
      securityContext: POD_SECURITY,
      initContainers: [run('restore', 'restore', from, '--skip-hash-check', '--data-dir', '/new/data')],
      containers: [run('status', 'status', '/new/data/member/snap/db', '-w', 'json')],
      volumes: [
        { name: 'old', persistentVolumeClaim: { claimName: claim } },
        { name: 'new', emptyDir: {} },
      ],
    },
  } as Parameters<World['kube']['apply']>[0]);
  const phase = async () =>
    ((await world.kube.get(pod))?.['status'] as { phase?: string } | undefined)?.phase;
  await poll(async () => (await phase()) === 'Succeeded', {
    timeoutMs: 60_000,
    otherwise: async () => JSON.stringify(await world.kube.get(pod)),
  });
  const said = await world.stack.kubectl('-n', at.namespace, 'logs', pod.name);
  // A claim outlives its deletion for as long as a pod names it.
  await world.kube.delete(pod);
  return (JSON.parse(said) as { readonly revision: number }).revision;
}

test('a backup is restored into a new cluster beside the old one', async () => {
  await put('latest');
  await restorePage.type('restore-new.yaml');
  await restores.ended(COPY);
  await awaitRunning(world, { ...at, name: COPY });
  expect(await colour(COPY)).toBe('as it was');
  expect(await colour()).toBe('latest');
  expect(await disasterPage.type('restore-new.yaml')).toMatch(/unchanged|configured/);
});

test('one member is left: what it has is saved and restored', async () => {
  await awaitRunning(world, at);
  const [left = '', ...lost] = (await podsOf(world, at.namespace, at.name)).map(pod => pod.metadata.name);
  await world.stack.kubectl('-n', at.namespace, 'delete', 'pvc', '--wait=false', ...lost);
  await world.stack.kubectl('-n', at.namespace, 'delete', 'pod', '--now', '--wait=false', ...lost);
  await poll(
    async () => /^QuorumAtRisk=True QuorumLost/m.test(await disasterPage.type('.status.conditions')),
    {
      timeoutMs: 120_000,
      otherwise: () => disasterPage.type('.status.conditions'),
    },
  );
  const folder = await mkdtemp(join(tmpdir(), 'one-left-'));
  // Nobody types the next command before the tunnel is there.
  const there = 'until (echo > /dev/tcp/127.0.0.1/12379) 2> /dev/null; do :; done';
  const typed = (script: string): string =>
    `cd '${folder}'\n${script.replace('pod/example-0', `pod/${left}`).replace('&\n', `&\n${there}\n`)}`;
  await disasterPage.type('snapshot save', typed);
  expect(await disasterPage.type('snapshot status', typed)).toContain('|');
  await store.put('saved/example-0.db', await readFile(join(folder, 'example-0.db')));
  await story.apply('EtcdRestore', 'from-one', {
    etcdCluster: { name: at.name },
    backupStorageType: 'S3',
    confirmClusterID: (await clusterId()) ?? '',
    ...blockOf(store, 'bucket/saved/example-0.db'),
  });
  expect((await story.restored('from-one')).status).toMatchObject({ phase: 'Succeeded' });
  await awaitRunning(world, at);
  expect(await colour()).toBe('latest');
});
test('every volume is gone: the newest backup comes back', async () => {
  await story.loseAll(at.name);
  await poll(async () => (await disasterPage.type('.status.conditions')).includes('AllVolumesLost'), {
    timeoutMs: 120_000,
    otherwise: () => disasterPage.type('.status.conditions'),
  });
  await disasterPage.type('apply -f deploy/samples/restore-in-place.yaml');
  await disasterPage.type('kubectl wait etcdrestore/example-back');
  await awaitRunning(world, at);
  expect(await colour()).toBe('as it was');
});

test('no command of the pages is left out', () => {
  // Those of a quorum that is lost for good are typed in recover-quorum.drill.test.ts.
  const ofRecovery =
    /kubectl etcd (explain|recover)|\.status\.recovery|get etcdrestores|wait etcdrestore --all|^kubectl get etcd example$/;
  const untried = [...disasterPage.untried].filter(command => !ofRecovery.test(command));
  // Those of incarnations that are gone back to are typed in incarnations.drill.test.ts.
  const ofRestores = [...restorePage.untried].filter(
    command => !/etcd (incarnations|go-back) /.test(command),
  );
  expect([...ofRestores, ...untried]).toEqual([]);
});
