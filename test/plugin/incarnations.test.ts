/** `kubectl etcd incarnations` and `kubectl etcd go-back`: what is kept of a cluster, and what going back to it gives up. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { API_VERSION, GROUP } from '../../src/api/names.ts';
import { PluginBench, WELL } from './bench.ts';

const CLAIM = { apiVersion: 'v1', kind: 'PersistentVolumeClaim' } as const;
const ID = '8e9e05c52164694d';
const OLD_ID = 'c0ffee';
const MEMBERS = ['example-0', 'example-1', 'example-2'];

let bench: PluginBench;
let prefix = '';
beforeAll(async () => {
  bench = await PluginBench.start();
});
afterAll(() => bench.stop());
beforeEach(async () => {
  await bench.reset();
  for (const { metadata } of (await bench.server.kube.list(CLAIM)).items)
    await bench.server.kube.delete({ ...CLAIM, ...metadata });
  await bench.put('EtcdCluster', 'example', { spec: { size: 3, version: '3.6.16' } });
  const ref = { apiVersion: API_VERSION, kind: 'EtcdCluster', namespace: 'default', name: 'example' };
  const object = await bench.server.kube.get(ref);
  prefix = `example-${object?.metadata.uid?.slice(0, 8)}-`;
  const details = WELL.members.details.map((detail, index) => ({ ...detail, name: `example-${index + 3}` }));
  const status = {
    ...WELL,
    members: { details },
    clusterID: ID,
    incarnation: { token: `${prefix}2`, members: [], createdAt: '2026-11-23T09:00:00Z' },
    lastSeen: [{ name: 'example-3', id: 'a0', time: '2026-11-23T11:59:30Z', revision: '1000000042' }],
  };
  await bench.server.kube.patch(ref, { status }, { type: 'merge', subresource: 'status' });
  for (const name of MEMBERS) await kept(name);
});

async function kept(name: string, annotations: Readonly<Record<string, string>> = {}): Promise<void> {
  const note = {
    token: `${prefix}1`,
    clusterID: OLD_ID,
    since: '2026-11-20T08:00:00Z',
    leftAt: '2026-11-23T09:00:00Z',
    revision: 4_711,
    members: MEMBERS.map(member => ({ name: member })),
  };
  const all = {
    incarnation: `${prefix}1`,
    'cluster-id': OLD_ID,
    'data-version': '3.6.16',
    'kept-by-restore': 'friday',
    'kept-incarnation': JSON.stringify(note),
    ...annotations,
  };
  await bench.server.kube.create({
    ...CLAIM,
    metadata: {
      name,
      namespace: 'default',
      labels: { app: 'etcd', etcd_cluster: 'example' },
      annotations: Object.fromEntries(Object.entries(all).map(([key, value]) => [`${GROUP}/${key}`, value])),
    },
    spec: { resources: { requests: { storage: '10Gi' } } },
  });
}

const restores = async () =>
  (await bench.server.kube.list({ apiVersion: API_VERSION, kind: 'EtcdRestore' })).items;

describe('incarnations', () => {
  test('lists the one that runs and those that are kept, with revision, times, size and their end', async () => {
    const { code, out } = await bench.run('incarnations example');
    expect(code).toBe(0);
    expect(out).toMatch(
      new RegExp(`^${prefix}2 +runs +${ID} +1000000042 +2026-11-23T09:00:00Z +- +0/3`, 'm'),
    );
    expect(out).toMatch(
      new RegExp(
        `^${prefix}1 +kept +${OLD_ID} +4711 +2026-11-20T08:00:00Z +2026-11-23T09:00:00Z +3/3 +3 x 10Gi +3.6.16$`,
        'm',
      ),
    );
    expect(out).toContain('their claims are kept until a person deletes them');
    expect(out).toContain(`kubectl etcd go-back example ${prefix}1 -n default`);
    expect(out).toContain('kubectl delete pvc example-0 example-1 example-2 -n default');
  });

  test('says why one cannot be gone back to', async () => {
    for (const name of MEMBERS.slice(1))
      await bench.server.kube.delete({ ...CLAIM, namespace: 'default', name });
    const { out } = await bench.run('incarnations example');
    expect(out).toContain('it cannot be gone back to: of the 3 voters');
    expect(out).not.toContain('kubectl etcd go-back');
  });

  test('says that nothing is kept', async () => {
    for (const name of MEMBERS) await bench.server.kube.delete({ ...CLAIM, namespace: 'default', name });
    expect((await bench.run('incarnations example')).out).toContain(
      'Nothing is kept of what example was before',
    );
  });

  test('is data with -o json', async () => {
    const { out } = await bench.run('incarnations example -o json');
    expect(JSON.parse(out)).toMatchObject([
      { token: `${prefix}2`, runs: true, revision: 1_000_000_042 },
      { token: `${prefix}1`, runs: false, revision: 4_711, voters: 3, versions: ['3.6.16'] },
    ]);
  });
});

describe('go-back', () => {
  test('says what is given up, and creates the EtcdRestore that names it', async () => {
    const { code, err } = await bench.run(`go-back example ${prefix}1`, { answers: ['example'] });
    expect(code).toBe(0);
    expect(err).toContain(`incarnation ${prefix}1, cluster id ${OLD_ID}, left 3h ago`);
    expect(err).toContain('revision 4711 at least, etcd 3.6.16, on claim example-0, example-1, example-2');
    expect(err).toContain(
      'Given up is what was written since 2026-11-23T09:00:00Z to the cluster that runs now',
    );
    expect(err).toContain(`incarnation ${prefix}2, cluster id ${ID}, revision 1000000042, seen 30s ago`);
    expect(err).toContain(`kubectl etcd go-back example ${prefix}2 -n default`);
    const [restore, ...others] = await restores();
    expect(others).toEqual([]);
    expect(restore?.['spec']).toEqual({
      etcdCluster: { name: 'example' },
      incarnation: { token: `${prefix}1` },
      confirmClusterID: ID,
      by: 'ana',
    });
  });

  test.each<[string, (words: string) => string, number, string]>([
    ['without a terminal', words => `go-back example ${words}1`, 2, 'no terminal to ask on'],
    ['with --yes alone', words => `go-back example ${words}1 --yes`, 2, `Add --cluster-id ${ID}`],
    ['with another id', words => `go-back example ${words}1 --yes --cluster-id 12`, 2, 'nothing was sent'],
    ['of what runs', words => `go-back example ${words}2`, 1, 'already'],
    ['of what is not kept', words => `go-back example ${words}9`, 1, 'There are: example-'],
    ['without an incarnation', () => 'go-back example', 2, ''],
  ])('sends nothing %s', async (_, line, code, says) => {
    const ran = await bench.run(line(prefix));
    expect(ran.code).toBe(code);
    expect(ran.err).toContain(says);
    expect(await restores()).toEqual([]);
  });

  test('sends nothing when too little is kept, or it is not confirmed', async () => {
    expect((await bench.run(`go-back example ${prefix}1`, { answers: ['exmple'] })).err).toContain(
      'not sent',
    );
    for (const name of MEMBERS.slice(1))
      await bench.server.kube.delete({ ...CLAIM, namespace: 'default', name });
    const { code, err } = await bench.run(`go-back example ${prefix}1 --yes --cluster-id ${ID}`);
    expect(code).toBe(1);
    expect(err).toContain('2 are a quorum');
    expect(await restores()).toEqual([]);
  });

  test('completes what can be gone back to', async () => {
    const { kubeconfig } = bench.server;
    const { out } = await bench.run(`__complete go-back --kubeconfig ${kubeconfig} example example`);
    expect(out.split('\n')).toEqual([`${prefix}1\trevision 4711`, ':4', '']);
  });
});
