/** The commands about backups, restores and members. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { API_VERSION } from '../../src/api/names.ts';
import type { EtcdCluster } from '../../src/api/schemas/types.ts';
import { memberPod } from '../../src/objects/pod.ts';
import { etcdctlArguments } from '../../src/plugin/members/chosen.ts';
import { wordsOf } from '../../src/plugin/members/words.ts';
import { PluginBench, WELL } from './bench.ts';

let bench: PluginBench;
beforeAll(async () => {
  bench = await PluginBench.start();
});
afterAll(() => bench.stop());

const ID = '8e9e05c52164694d';
const SHA = 'ab'.repeat(32);
const entry = (time: string, revision: number, verified: string) => ({
  time,
  revision,
  verified,
  location: `s3://backups/shop/${revision}`,
  size: 4_096,
  sha256: SHA,
});
const HISTORY = [
  entry('2026-11-23T11:00:00Z', 300, 'Structure'),
  entry('2026-11-22T11:00:00Z', 200, 'Restore'),
  entry('2026-11-21T11:00:00Z', 100, ''),
];

beforeEach(async () => {
  await bench.reset();
  await bench.put('EtcdCluster', 'example', { status: { ...WELL, clusterID: ID } });
  await bench.put('EtcdBackup', 'nightly', {
    spec: { clusterRef: { name: 'example' }, verify: 'Structure' },
    status: { history: HISTORY },
  });
});

const restores = async () =>
  (await bench.server.kube.list({ apiVersion: API_VERSION, kind: 'EtcdRestore' })).items;

describe('restore', () => {
  test.each<[string, object]>([
    ['--from nightly', { name: 'nightly', location: 's3://backups/shop/300' }],
    ['--from nightly --at 250', { name: 'nightly', location: 's3://backups/shop/200' }],
    ['--from nightly --at 2026-11-22T12:00:00Z', { name: 'nightly', location: 's3://backups/shop/200' }],
    ['--from s3://backups/shop/200', { name: 'nightly', location: 's3://backups/shop/200' }],
  ])(
    '%s creates one EtcdRestore that names the backup that was shown, and the cluster that is overwritten',
    async (words, backupRef) => {
      const { code, err } = await bench.run(`restore example ${words} --yes --cluster-id ${ID}`);
      expect(err).toContain('This will replace the data of cluster/example');
      expect(code).toBe(0);
      const [restore, ...others] = await restores();
      expect(others).toEqual([]);
      expect(restore?.['spec']).toEqual({
        etcdCluster: { name: 'example' },
        backupRef,
        sha256: SHA,
        confirmClusterID: ID,
        by: 'ana',
      });
    },
  );

  test('--before-upgrade restores the backup that status names, and has the data of now saved first', async () => {
    const backup = { name: 'nightly', location: 's3://backups/shop/200', time: '2026-11-22T00:00:00Z' };
    const beforeUpgrade = { version: '3.5.35', to: '3.6.16', backup };
    const status = { ...WELL, clusterID: ID, beforeUpgrade };
    await bench.put('EtcdCluster', 'upgraded', { spec: { version: '3.6.16' }, status });
    const early = await bench.run(`restore upgraded --before-upgrade --yes --cluster-id ${ID}`);
    expect(early.code).toBe(1);
    expect(early.err).toContain(
      `kubectl patch etcd upgraded --type=merge -p '{"spec":{"version":"3.5.35"}}'`,
    );
    expect(await restores()).toEqual([]);

    await bench.put('EtcdCluster', 'reset', { spec: { version: '3.5.35' }, status });
    const { code, err } = await bench.run(`restore reset --before-upgrade --yes --cluster-id ${ID}`);
    expect(err).toContain('The data as it is now is saved as a backup before that');
    expect(code).toBe(0);
    const [restore, ...others] = await restores();
    expect(others).toEqual([]);
    expect(restore?.['spec']).toMatchObject({
      backupRef: { name: 'nightly', location: backup.location },
      saveFirst: true,
    });
  });

  test('a person types the name of the cluster, and nothing else will do', async () => {
    for (const answer of ['y', 'yes', '', 'exmple'])
      expect(await bench.run('restore example --from nightly', { answers: [answer] })).toMatchObject({
        code: 1,
        err: expect.stringContaining('it was not confirmed'),
      });
    expect(await restores()).toEqual([]);
    expect((await bench.run('restore example --from nightly', { answers: ['example'] })).code).toBe(0);
    expect(await restores()).toHaveLength(1);
  });

  test.each([
    ['restore example', 2, 'Add --from BACKUP'],
    ['restore example --before-upgrade', 1, 'names no upgrade to another minor version'],
    ['restore example --before-upgrade --from nightly', 2, 'leave out --from and --at'],
    ['restore exmple --from nightly', 1, 'Did you mean example?'],
    ['restore example --from other --yes', 1, 'There are: nightly'],
    ['restore example --from nightly --at 50 --yes', 1, 'keeps no verified backup until 50'],
    ['restore example --from nightly --at yesterday --yes', 2, 'must be a time such as'],
    ['restore example --from nightly --at 150 --yes', 1, 'keeps no verified backup until 150'],
    ['restore example --from s3://backups/shop/100 --yes', 1, 's3://backups/shop/100 is not verified'],
    ['restore example --from s3://elsewhere/x --yes', 1, 'keeps s3://elsewhere/x'],
    ['restore example --from nightly --yes', 2, `Add --cluster-id ${ID}`],
    ['restore example --from nightly --yes --cluster-id 1234', 2, 'nothing was sent'],
    ['restore example --from nightly', 2, 'no terminal to ask on'],
  ])('%s ends with %i', async (line, code, says) => {
    const ran = await bench.run(line);
    expect(ran.err).toContain(says);
    expect(ran.code).toBe(code);
    expect(await restores()).toEqual([]);
  });

  test('--dry-run prints what the API server accepts, and creates nothing', async () => {
    const { code, out } = await bench.run('restore example --from nightly --dry-run');
    expect(code).toBe(0);
    expect(out).toContain(`confirmClusterID: ${ID}`);
    expect(await restores()).toEqual([]);
  });

  test.each([
    ['Succeeded', 0],
    ['Refused', 3],
    ['Failed', 3],
  ])('--wait ends when the restore is %s, with %i', async (phase, code) => {
    const phases = ['Validating', 'Fencing', phase];
    const ran = await bench.run(`restore example --from nightly --yes --cluster-id ${ID} --wait`, {
      onPause: async count => {
        const [restore] = await restores();
        const { name = '', namespace } = restore?.metadata ?? {};
        const ref = { apiVersion: API_VERSION, kind: 'EtcdRestore', name, namespace };
        const status = { phase: phases[count - 1], reason: 'because' };
        await bench.server.kube.patch(ref, { status }, { type: 'merge', subresource: 'status' });
      },
    });
    expect(ran.err).toContain('Fencing\n');
    expect(ran.out).toContain(`${phase}: because`);
    expect(ran.code).toBe(code);
  });

  test('--wait --timeout ends with 5, and says that the restore continues', async () => {
    const line = `restore example --from nightly --yes --cluster-id ${ID} --wait --timeout 10s`;
    const ran = await bench.run(line);
    expect(ran).toMatchObject({ code: 5, err: expect.stringContaining('and continues') });
  });
});

describe('verify', () => {
  test.each<[string, object, number, string]>([
    ['as it should be', { history: HISTORY }, 0, 'The newest backup of weekly is good'],
    ['no backup', {}, 3, 'there is no backup yet'],
    ['not verified', { history: HISTORY.slice(2) }, 3, 'do not rely on it'],
    [
      'verified less than asked',
      { history: [entry('2026-11-23T11:00:00Z', 1, 'Checksum')] },
      3,
      'only Checksum was shown',
    ],
    [
      'the last run failed',
      { history: HISTORY, lastRun: { outcome: 'Failed', message: 'the store is full' } },
      0,
      'the last run failed: the store is full',
    ],
  ])('%s', async (_, status, code, says) => {
    await bench.put('EtcdBackup', 'weekly', { spec: { verify: 'Structure' }, status });
    const ran = await bench.run('verify weekly');
    expect(ran.out).toContain(says);
    expect(ran.code).toBe(code);
  });
});

describe('etcdctl', () => {
  test('runs in a healthy member with its endpoint, and the exit code says how it ended', async () => {
    const lines: (readonly string[])[] = [];
    const ran = await bench.run('etcdctl example -n default -- endpoint status --cluster -w table', {
      execute: async line => lines.push(line) - 1,
    });
    expect(ran.code).toBe(0);
    const [line = []] = lines;
    expect(line.join(' ')).toContain('exec -n default --kubeconfig');
    expect(line.join(' ')).toContain(
      'example-0 -c etcd -- etcdctl --endpoints=http://example-0.example.default.svc:2379 endpoint status --cluster -w table',
    );
    const failed = await bench.run('etcdctl example -- get x', { execute: async () => 2 });
    expect(failed).toMatchObject({ code: 1, err: expect.stringContaining('exit code 2') });
    const without = await bench.run('etcdctl example -- get x');
    expect(without).toMatchObject({ code: 1, err: expect.stringContaining('kubectl is not on PATH') });
  });

  test.each([
    ['what is piped into it is passed on', {}, ['-i']],
    ['a person at a terminal types into it', { answers: [], isTerminal: true }, ['-i', '-t']],
    ['it takes no keys from what reads its output', { answers: [] }, []],
  ])('%s', async (_, person, flags) => {
    let given: readonly string[] = [];
    const execute = async (line: readonly string[]): Promise<number> => {
      given = line.slice(0, line.indexOf('--')).filter(word => ['-i', '-t'].includes(word));
      return 0;
    };
    await bench.run('etcdctl example -- put a', { ...person, execute });
    expect(given).toEqual(flags);
  });

  test('with TLS it uses the certificate that the pod mounts', () => {
    const cluster: EtcdCluster = {
      apiVersion: API_VERSION,
      kind: 'EtcdCluster',
      metadata: { name: 'example', namespace: 'shop', uid: 'u', generation: 1 },
      spec: { TLS: { auto: {} } },
    };
    const line = etcdctlArguments(cluster, 'example-0', ['get', 'x']);
    const pod = memberPod(cluster, {
      name: 'example-0',
      token: 't',
      start: { state: 'restart' },
      storage: 'EmptyDir',
    }) as unknown as { spec: { containers: { args: string[] }[] } };
    const [container] = pod.spec.containers;
    const valueOf = (flag: string) =>
      container?.args.find(arg => arg.startsWith(`--${flag}=`))?.slice(flag.length + 3);
    expect(line).toEqual([
      'etcdctl',
      `--endpoints=${valueOf('advertise-client-urls')}`,
      `--cacert=${valueOf('trusted-ca-file')}`,
      `--cert=${valueOf('cert-file')}`,
      `--key=${valueOf('key-file')}`,
      'get',
      'x',
    ]);
    expect(etcdctlArguments(cluster, 'example-0', ['--endpoints=https://a', 'get'])).not.toContain(line[1]);
  });

  test.each([
    ['etcdctl example', 2, 'needs a command'],
    ['etcdctl example --member example-9 -- get x', 1, 'has no member example-9'],
  ])('%s ends with %i', async (line, code, says) => {
    expect(await bench.run(line)).toMatchObject({ code, err: expect.stringContaining(says) });
  });

  test('without a member that is ready it says so', async () => {
    await bench.put('EtcdCluster', 'asleep', { status: { members: { ready: [], details: [] } } });
    const ran = await bench.run('etcdctl asleep -- get x');
    expect(ran).toMatchObject({ code: 1, err: expect.stringContaining('no member that is ready') });
  });
});

describe('shell', () => {
  test('runs each line in a healthy member, until the input ends', async () => {
    const lines: string[] = [];
    const ran = await bench.run('shell example', {
      answers: ['get --prefix /a', '', `etcdctl put 'a b' "c"`, 'del x | wc', 'get missing'],
      execute: async line => {
        lines.push(line.slice(line.indexOf('etcdctl') + 2).join('+'));
        return line.includes('missing') ? 7 : 0;
      },
    });
    expect(lines).toEqual(['get+--prefix+/a', 'put+a b+c', 'get+missing']);
    expect(ran.err).toContain('etcdctl example-0> ');
    expect(ran.err).toContain('| has no meaning here');
    expect(ran.err).toContain('it ended with exit code 7');
    expect(ran.code).toBe(0);
  });

  test('takes another member when the one that it used is gone, and ends when it is asked to', async () => {
    const members: (string | undefined)[] = [];
    const ran = await bench.run('shell example', {
      answers: ['get a', 'get b', 'exit', 'get c'],
      execute: async line => {
        members.push(line.find(word => /^example-\d$/.test(word)));
        const ref = { apiVersion: API_VERSION, kind: 'EtcdCluster', namespace: 'default', name: 'example' };
        const status = { members: { ...WELL.members, ready: ['example-2'] } };
        await bench.server.kube.patch(ref, { status }, { type: 'merge', subresource: 'status' });
        return 0;
      },
    });
    expect(members).toEqual(['example-0', 'example-2']);
    expect(ran.code).toBe(0);
  });

  test('needs a terminal, and a member that is ready', async () => {
    expect(await bench.run('shell example')).toMatchObject({
      code: 2,
      err: expect.stringContaining('kubectl etcd etcdctl example -- COMMAND'),
    });
    await bench.put('EtcdCluster', 'asleep', { status: { members: { ready: [], details: [] } } });
    expect(await bench.run('shell asleep', { answers: ['get a'] })).toMatchObject({
      code: 1,
      err: expect.stringContaining('no member that is ready'),
    });
  });

  test.each<[string, readonly string[]]>([
    ['', []],
    ['  get   a ', ['get', 'a']],
    [`put "a \\"b\\" \\n" 'c"d'e\\ f`, ['put', 'a "b" \\n', 'c"de f']],
    [`get ''`, ['get', '']],
  ])('%s is split as a shell does', (line, words) => {
    expect(wordsOf(line)).toEqual(words);
  });

  test.each(['get a > b', 'get a; del b', 'get $KEY', 'put a `b`', "get 'a", 'get "a'])(
    '%s is refused: it would take a shell',
    line => {
      expect(() => wordsOf(line)).toThrow('has no meaning here');
    },
  );
});

test('forward leads to another member when the first one goes', async () => {
  const led: string[] = [];
  const ran = await bench.run('forward example 12379', {
    execute: (line, until) => {
      led.push(line.slice(-2).join(' '));
      return new Promise(resolve => until.addEventListener('abort', () => resolve(1), { once: true }));
    },
    onPause: async count => {
      const ref = { apiVersion: API_VERSION, kind: 'EtcdCluster', namespace: 'default', name: 'example' };
      const members = { ...WELL.members, ready: ['example-1', 'example-2'] };
      if (count === 2)
        await bench.server.kube.patch(ref, { status: { members } }, { type: 'merge', subresource: 'status' });
      return led.length === 2;
    },
  });
  expect(led).toEqual(['pod/example-0 12379:2379', 'pod/example-1 12379:2379']);
  expect(ran.code).toBe(0);
});
