/** `kubectl etcd leftovers`: claims that no cluster uses, whose they were, and what can be done with them. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { GROUP } from '../../src/api/names.ts';
import { PluginBench } from './bench.ts';

const OLD = 'example-1a2b3c4d-1';
const NEW = 'example-9f8e7d6c-2';
const CLAIM = { apiVersion: 'v1', kind: 'PersistentVolumeClaim' } as const;

let bench: PluginBench;
beforeAll(async () => {
  bench = await PluginBench.start();
});
afterAll(() => bench.stop());
beforeEach(async () => {
  await bench.reset();
  for (const kind of ['PersistentVolumeClaim', 'Pod'])
    for (const { metadata } of (await bench.server.kube.list({ apiVersion: 'v1', kind })).items)
      await bench.server.kube.delete({ apiVersion: 'v1', kind, ...metadata });
});

async function claim(
  name: string,
  annotations: Readonly<Record<string, string>>,
  { namespace = 'default', cluster = 'example', labels = {} } = {},
): Promise<void> {
  await bench.server.kube.create({
    ...CLAIM,
    metadata: {
      name,
      namespace,
      labels: { app: 'etcd', etcd_cluster: cluster, ...labels },
      annotations: Object.fromEntries(
        Object.entries({ incarnation: OLD, ...annotations }).map(([key, value]) => [
          `${GROUP}/${key}`,
          value,
        ]),
      ),
    },
    spec: { resources: { requests: { storage: '8Gi' } } },
  });
  const status = { capacity: { storage: '10Gi' } };
  await bench.server.kube.patch(
    { ...CLAIM, namespace, name },
    { status },
    { type: 'merge', subresource: 'status' },
  );
}

const LEFT = { 'left-by': '{"uid":"1a2b3c4d"}', 'member-id': '8e9e05c5', 'cluster-id': 'c0ffee' };
const living = (incarnation: object = {}, more: object = {}) =>
  bench.put('EtcdCluster', 'example', {
    spec: { size: 3 },
    status: { incarnation: { token: NEW, members: [], ...incarnation }, ...more },
  });

describe('claims that a deletion has left', () => {
  test('are listed with whose they were and the commands; those that a cluster uses are not', async () => {
    await claim('example-0', LEFT);
    await claim('example-1', LEFT);
    await claim('orders-0', { incarnation: 'orders-00000001-1' }, { cluster: 'orders' });
    const status = { incarnation: { token: 'orders-00000001-1', members: [] } };
    await bench.put('EtcdCluster', 'orders', { spec: { size: 1 }, status });
    const { code, out, err } = await bench.run('leftovers');
    expect([code, err]).toEqual([0, '']);
    expect(out).toMatch(
      /^default +example-0 +example +example-1a2b3c4d-1 +8e9e05c5 +10Gi +\S+ +the deletion of EtcdCluster example$/m,
    );
    expect(out).toContain('example-0, example-1 in namespace default');
    expect(out).toContain(
      `kubectl annotate --local -f example.yaml ${GROUP}/take-up=${OLD} -o yaml -n default`,
    );
    expect(out).toMatch(/ \| kubectl apply -f - -n default/);
    expect(out).toMatch(/^ {2}kubectl delete pvc example-0 example-1 -n default/m);
    expect(out).not.toContain('orders');
  });

  test('are taken up by the EtcdCluster that waits for that decision', async () => {
    await claim('example-0', LEFT);
    await new Promise(resolve => setTimeout(resolve, 1_100));
    await bench.put('EtcdCluster', 'example', { spec: { size: 1 }, status: { phase: 'Failed' } });
    const { out } = await bench.run('leftovers example');
    expect(out).toContain('EtcdCluster example exists and waits until somebody decides');
    expect(out).toContain(`kubectl annotate --overwrite etcd example ${GROUP}/take-up=${OLD} -n default`);
    expect(out).toContain(`kubectl annotate --overwrite etcd example ${GROUP}/begin-anew=${OLD} -n default`);
  });

  test('cannot be taken up beside an EtcdCluster that has begun again', async () => {
    await claim('example-0', LEFT);
    await living();
    const { out } = await bench.run('leftovers');
    expect(out).toContain('EtcdCluster example exists with other members, so they cannot be taken up');
    expect(out).not.toContain('take-up=');
    expect(out).toContain('kubectl delete pvc example-0');
  });

  test('are not to be deleted under a pod that an orphan deletion let run', async () => {
    await claim('example-0', LEFT);
    await bench.server.kube.create({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'example-0', namespace: 'default', labels: { app: 'etcd' } },
      spec: { volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'example-0' } }] },
    });
    const { out } = await bench.run('leftovers');
    expect(out).toContain('the deletion of EtcdCluster example; pod example-0 runs on it');
    expect(out).toContain('take-up=');
    expect(out).not.toContain('delete pvc');
  });

  test('also without a note, as an earlier release left them', async () => {
    await claim('example-0', {});
    expect((await bench.run('leftovers')).out).toContain('the deletion of EtcdCluster example');
  });
});

describe('claims that a restore has set aside', () => {
  const KEPT = { 'kept-by-restore': 'friday' };

  test('are listed with the EtcdRestore', async () => {
    await claim('example-0', KEPT);
    await living({ restore: { name: 'friday', uid: 'r', completedAt: '2026-11-23T12:00:00Z' } });
    const { out } = await bench.run('leftovers');
    expect(out).toMatch(/example-0 .* EtcdRestore friday$/m);
    expect(out).toContain('they are kept until somebody deletes them');
    expect(out).toContain('kubectl etcd incarnations example -n default');
    expect(out).toContain('kubectl delete pvc example-0');
  });

  test('cannot be gone back to when their cluster is gone', async () => {
    await claim('example-0', KEPT);
    const { out } = await bench.run('leftovers');
    expect(out).toContain('they cannot be taken up; docs/operations/restore.md says how their data is read');
    expect(out).not.toContain('kubectl etcd incarnations');
  });

  test('are not to be deleted before the restore has ended: an abort takes them up', async () => {
    await claim('example-0', KEPT);
    const previousIncarnation = { incarnation: { token: OLD, members: [] } };
    await living({ restore: { name: 'friday', uid: 'r' } }, { previousIncarnation });
    const { out } = await bench.run('leftovers');
    expect(out).toContain('the restore has not ended: an abort takes them up again, so do not delete them');
    expect(out).not.toContain('delete pvc');
  });

  test('are in use again after the restore was abandoned', async () => {
    await claim('example-0', KEPT);
    await living({ token: OLD });
    expect((await bench.run('leftovers')).out).toBe(
      'No claim is left in namespace default; look in all with -A.\n',
    );
  });
});

describe('claims of members that were removed', () => {
  test('say when the operator deletes them, or that it does not', async () => {
    await claim('example-3', { incarnation: NEW, 'kept-until': '2026-11-24T12:00:00Z' });
    await claim('example-4', { incarnation: NEW, 'kept-until': '9999-12-31T23:59:59Z' });
    await claim('example-0', { incarnation: NEW });
    await living();
    const { out } = await bench.run('leftovers');
    expect(out).toMatch(/example-3 .* the removal of the member; deleted at 2026-11-24T12:00:00Z$/m);
    expect(out).toMatch(/example-4 .* the removal of the member$/m);
    expect(out).not.toMatch(/example-0/);
  });
});

describe('the list', () => {
  test('has all namespaces with -A, and each command leads to its own', async () => {
    await claim('example-0', LEFT, { namespace: 'shop' });
    expect((await bench.run('leftovers')).out).toContain('No claim is left in namespace default');
    const { out } = await bench.run('leftovers -A');
    expect(out).toMatch(/^shop +example-0/m);
    expect(out).toContain('kubectl delete pvc example-0 -n shop');
  });

  test('is of one cluster when it is named, and leaves out what is none of the operator', async () => {
    await claim('example-0', LEFT);
    await claim('orders-0', { incarnation: 'orders-00000001-1' }, { cluster: 'orders' });
    await claim('copy-of-example-0', LEFT);
    const { out } = await bench.run('leftovers example');
    expect(out).not.toContain('orders');
    expect(out).not.toContain('copy-of');
  });

  test('is data with -o json', async () => {
    await claim('example-0', LEFT);
    const { out } = await bench.run('leftovers -o json');
    expect(JSON.parse(out)).toMatchObject([
      {
        namespace: 'default',
        cluster: 'example',
        incarnation: OLD,
        leftBy: 'Deletion',
        claims: [{ claim: 'example-0', size: '10Gi', memberID: '8e9e05c5', clusterID: 'c0ffee' }],
        commands: [{ purpose: expect.stringContaining('take them up') }, { purpose: expect.any(String) }],
      },
    ]);
  });

  test('hands no command of a stranger to the terminal or the shell', async () => {
    await claim('example-0', { 'kept-by-restore': 'x\u001b[2J$(reboot)' });
    const { out } = await bench.run('leftovers');
    expect(out).not.toContain('\u001b');
  });
});
