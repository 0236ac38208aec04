/** plan and diff from the command line, against a fake API server with a cluster that an operator in memory has made. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { API_VERSION } from '../../src/api/names.ts';
import { created } from '../worlds/living-cluster.ts';
import { forbidden, PluginBench } from './bench.ts';

let bench: PluginBench;
let folder: string;
let file: string;

beforeAll(async () => {
  [bench, folder] = await Promise.all([PluginBench.start(), mkdtemp(join(tmpdir(), 'plugin-plan-'))]);
  file = join(folder, 'new.yaml');
  const world = await created({ size: 3, version: '3.6.16' });
  world.now = Date.parse('2026-11-23T12:00:00Z');
  await world.look();
  for (const kind of ['EtcdCluster', 'Pod', 'PersistentVolumeClaim', 'Service', 'PodDisruptionBudget'])
    bench.server.kube.seed(...world.kube.all(kind));
});
afterAll(async () => {
  await bench?.stop();
  await rm(folder, { recursive: true, force: true });
});
beforeEach(() => {
  bench.server.heal();
  bench.server.requests.length = 0;
});

async function write(spec: object, metadata: object = {}): Promise<void> {
  const cluster = {
    apiVersion: API_VERSION,
    kind: 'EtcdCluster',
    metadata: { name: 'example', namespace: 'shop', ...metadata },
    spec,
  };
  const other = { apiVersion: 'v1', kind: 'Service', metadata: { name: 'example' } };
  await writeFile(file, `${stringify(other)}---\n${stringify(cluster)}`);
}

const writes = () =>
  bench.server.requests.filter(
    ({ verb, query }) => !['get', 'list'].includes(verb) && query.get('dryRun') !== 'All',
  );

test('plan of what is applied: nothing to do', async () => {
  const { code, out } = await bench.run('plan example -n shop');
  expect(out).toContain('Operation:  none: it is as specified');
  expect(out).toContain('Not seen for this plan:');
  expect(code).toBe(0);
});

test('plan -f lists the steps of a specification that is not applied, and writes nothing', async () => {
  await write({ size: 5, version: '3.6.16' });
  const { code, out, err } = await bench.run(`plan example -n shop -f ${file}`);
  expect(err).toBe('');
  expect(out).toContain('Operation:  scaleCluster');
  expect(out).toContain('add example-3 as a learner');
  expect(code).toBe(0);
  expect(writes()).toEqual([]);
  expect(bench.server.requests.map(({ kind }) => kind)).not.toContain('Secret');
});

test('plan -f -o json has the steps as data', async () => {
  await write({ size: 5, version: '3.6.16' });
  const { out } = await bench.run(`plan example -n shop -f ${file} -o json`);
  expect(JSON.parse(out)).toMatchObject({ decision: 'operate', operation: 'scaleCluster' });
});

test('plan of a cluster that does not exist yet', async () => {
  await write({ size: 1, storage: { emptyDir: {} } }, { name: 'young' });
  const { code, out } = await bench.run(`plan young -n shop -f ${file}`);
  expect(out).toContain('Operation:  createCluster');
  expect(code).toBe(0);
  expect(writes()).toEqual([]);
});

test('diff says of each change what it does to the members', async () => {
  await write({
    size: 5,
    version: '3.7.0',
    etcd: { snapshotCount: 5_000 },
    repair: { replaceAfterSeconds: 900 },
    TLS: { auto: {} },
  });
  const { code, out } = await bench.run(`diff example -n shop -f ${file} -o json`);
  expect(code).toBe(0);
  const { changes } = JSON.parse(out) as { changes: { field: string }[] };
  const byField = Object.fromEntries(changes.map(change => [change.field, change]));
  expect(byField).toMatchObject({
    'spec.size': {
      operation: 'scaleCluster',
      meaning: expect.stringContaining(' 3 to 5: adds members, one at a time'),
      membersRestarted: 0,
    },
    'spec.version': { operation: 'upgradeCluster', membersRestarted: 3 },
    'spec.etcd': { operation: 'rolloutCluster', membersRestarted: 3 },
    'spec.repair': { meaning: 'no step: no member is touched', membersRestarted: 0 },
    'spec.TLS': { reason: 'ModeSwitched', needsApproval: false },
  });
  expect(writes()).toEqual([]);
});

test('without a difference diff says so', async () => {
  await write({ size: 3, version: '3.6.16' });
  expect((await bench.run(`diff example -n shop -f ${file}`)).out).toContain('is specified so already');
});

test('a user who may not change the cluster is notified that the API server did not check the specification', async () => {
  await write({ size: 5, version: '3.6.16' });
  bench.server.fail('replace', forbidden('ana', 'update', 'etcdclusters', 'shop'));
  const { code, out } = await bench.run(`plan example -n shop -f ${file}`);
  expect(out).toContain('scaleCluster');
  expect(out).toContain('you have no right to update etcdclusters');
  expect(code).toBe(0);
});

test('a specification that the API server refuses ends with 3', async () => {
  await write({ size: 50, version: '3.6.16' });
  bench.server.fail('replace', (_, response) => {
    response.writeHead(422, { 'content-type': 'application/json' });
    const message = 'EtcdCluster "example" is invalid: spec.size: must be from 1 to 7';
    response.end(
      JSON.stringify({ kind: 'Status', status: 'Failure', code: 422, reason: 'Invalid', message }),
    );
    return true;
  });
  const { code, err } = await bench.run(`plan example -n shop -f ${file}`);
  expect(err).toContain('must be from 1 to 7');
  expect(code).toBe(3);
});

test('a right that lacks for the plan itself is named', async () => {
  await write({ size: 5, version: '3.6.16' });
  bench.server.fail(
    'list',
    (request, response) =>
      request.kind === 'Pod' && forbidden('ana', 'list', 'pods', 'shop')(request, response),
    Infinity,
  );
  const { code, err } = await bench.run(`plan example -n shop -f ${file}`);
  expect(err).toContain('ana may not list pods in namespace shop');
  expect(err).toContain('--clusterrole=view');
  expect(code).toBe(4);
});

test.each([
  ['plan exmple -n shop', 1, 'Did you mean example?'],
  ['diff example -n shop', 2, 'Add -f FILE'],
  ['plan example -n shop -f /nonexistent.yaml', 1, 'cannot be read: ENOENT'],
  ['plan other -n shop -f FILE', 2, 'It contains: example'],
  ['plan example -f FILE', 2, 'is of namespace shop'],
])('%s ends with %i', async (line, code, says) => {
  await write({ size: 3 });
  const ran = await bench.run(line.replace('FILE', file));
  expect(ran.err).toContain(says);
  expect(ran.code).toBe(code);
});

test.each([
  ['a: [', 'is no YAML'],
  ['- 1\n- 2', 'contains no EtcdCluster example'],
  ['', 'contains no EtcdCluster example'],
  [`apiVersion: v1\nkind: EtcdCluster\nmetadata: {name: example}`, 'the apiVersion'],
])('a file with %j is refused', async (text, says) => {
  await writeFile(file, text);
  const ran = await bench.run(`plan example -n shop -f ${file}`);
  expect(ran.err).toContain(says);
  expect(ran.code).toBe(2);
});
