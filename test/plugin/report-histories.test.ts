/** Histories in the report for support: how Temporal is reached, what stands in them, and what is said when they cannot be had. */
import { execFileSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { VARIABLES } from '../../src/main/config/variables.ts';
import { DEFAULTS, placeOf, serviceOf } from '../../src/plugin/report/histories/place.ts';
import { TestAuthority } from '../fakes/certificates.ts';
import { KeyedFront } from '../fakes/keyed-front.ts';
import { TemporalFrontend } from '../fakes/temporal-frontend.ts';
import { PluginBench, WELL } from './bench.ts';
import type { Person, Ran } from './process.ts';

const ENTITY = WELL.workflowID;
const base64 = (text: string): string => Buffer.from(text).toString('base64');
const started = (payload: object) => ({
  eventId: '1',
  eventType: 'EVENT_TYPE_WORKFLOW_EXECUTION_STARTED',
  workflowExecutionStartedEventAttributes: { input: { payloads: [payload] } },
});
const json = (value: unknown) => ({
  metadata: { encoding: base64('json/plain') },
  data: base64(JSON.stringify(value)),
});
const signaled = (eventId: string) => ({
  eventId,
  eventType: 'EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED',
  workflowExecutionSignaledEventAttributes: { signalName: 'changed', input: { payloads: [json({})] } },
});

let bench: PluginBench;
let folder: string;
let temporal: TemporalFrontend;
let reports = 0;
let forwards: string[];

beforeAll(async () => {
  [bench, folder, temporal] = await Promise.all([
    PluginBench.start(),
    mkdtemp(join(tmpdir(), 'plugin-histories-')),
    TemporalFrontend.start(),
  ]);
});
afterAll(async () => {
  await bench?.stop();
  temporal?.stop();
  await rm(folder, { recursive: true, force: true });
});

const operator = (env: readonly object[]) => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: {
    name: 'etcd-operator',
    namespace: 'etcd-operator',
    labels: { 'app.kubernetes.io/name': 'etcd-operator' },
  },
  spec: { template: { spec: { containers: [{ name: 'operator', env }] } } },
});

async function install(env: readonly object[]): Promise<void> {
  const found = operator(env);
  await bench.server.kube.delete({ ...found, ...found.metadata });
  bench.server.kube.seed(found);
}

beforeEach(async () => {
  await bench.reset();
  await bench.put('EtcdCluster', 'example', { status: WELL });
  await install([]);
  forwards = [];
  temporal.queries.length = 0;
  const token = 'example-5d1c7f20-1';
  const input = json({ name: 'example', incarnation: { token }, connection: { token: 'tok-48151623' } });
  temporal.runs = [
    {
      workflowId: ENTITY,
      runId: 'aaaaaaaa-1',
      type: 'etcdCluster',
      events: [started(input), signaled('2'), signaled('3'), signaled('4'), signaled('5')],
    },
    {
      workflowId: `${ENTITY}/operation`,
      runId: 'bbbbbbbb-2',
      type: 'scaleCluster',
      events: [started(input)],
    },
    { workflowId: `${ENTITY}-of-another`, runId: 'cccccccc-3', type: 'etcdCluster', events: [] },
  ];
});

/** kubectl, whose forwarded port leads to the Temporal of this test until it is asked to end. */
const beside: Person['beside'] = async (line, { sign, until }) => {
  const entry = line.join(' ');
  forwards.push(entry);
  until.addEventListener('abort', () => void forwards.splice(forwards.indexOf(entry), 1, `ended: ${entry}`));
  const found = sign.exec(`Forwarding from 127.0.0.1:${temporal.address.split(':')[1]} -> 7233\n`);
  return found === null ? { code: 1, out: '', err: 'no sign' } : { sign: found };
};

/** A report with these flags; the files of its histories by name. */
async function report(flags: string, person: Person = {}): Promise<Ran & { files: Record<string, string> }> {
  const to = join(folder, `report-${(reports += 1)}.tar.gz`);
  const ran = await bench.run(`report example --to ${to} ${flags}`, person);
  const names = execFileSync('tar', ['-tzf', to], { encoding: 'utf8' }).split('\n');
  const files = names
    .filter(name => /\/workflows\/|about/.test(name))
    .map(name => [
      name.replace('etcd-report-example/', ''),
      execFileSync('tar', ['-xzOf', to, name], { encoding: 'utf8' }),
    ]);
  return { ...ran, files: Object.fromEntries(files) as Record<string, string> };
}

const OF_CLUSTER = 'workflows/cluster-20261123T120000Z-aaaaaaaa.json';
const OF_OPERATION = 'workflows/scaleCluster-20261123T120000Z-bbbbbbbb.json';

test('the histories of the cluster and of its operations, through a port that is forwarded meanwhile', async () => {
  const { code, files, err } = await report('', { beside });
  expect(err).not.toContain('workflows:');
  expect(code).toBe(0);
  expect(Object.keys(files)).toEqual(['about.txt', OF_CLUSTER, OF_OPERATION]);
  const run = JSON.parse(files[OF_CLUSTER] ?? '');
  expect(run).toMatchObject({ workflowId: ENTITY, status: 'Completed', isCut: false });
  // Of several pages, payloads as they are, and what distinguishes incarnations is no secret.
  expect(run.events.map(({ eventId }: { eventId: string }) => eventId)).toEqual(['1', '2', '3', '4', '5']);
  expect(run.events[0].workflowExecutionStartedEventAttributes.input.payloads).toEqual([
    {
      name: 'example',
      incarnation: { token: 'example-5d1c7f20-1' },
      connection: { token: '[left out]' },
    },
  ]);
  expect(forwards).toEqual([
    expect.stringMatching(/^ended: kubectl port-forward -n temporal .*service\/temporal-frontend :7233$/),
  ]);
  expect(temporal.queries).toEqual([
    `etcd-operator: WorkflowId = '${ENTITY}'`,
    `etcd-operator: WorkflowId = '${ENTITY}/operation'`,
  ]);
});

test('an address that a person names needs neither kubectl nor the Deployment', async () => {
  await install([{ name: 'TEMPORAL_NAMESPACE', value: 'elsewhere' }]);
  const { files } = await report(`--temporal-address ${temporal.address}`);
  expect(Object.keys(files)).toContain(OF_CLUSTER);
  expect(temporal.queries[0]).toContain('elsewhere: ');
  await report(`--temporal-address ${temporal.address} --temporal-namespace mine --operator-namespace none`);
  expect(temporal.queries.at(-1)).toContain('mine: ');
});

test('encrypted payloads are counted, and their keys named', async () => {
  const metadata = { encoding: base64('binary/encrypted'), 'encryption-key-id': base64('2026-11') };
  const events = [started({ metadata, data: base64('sealed') }), signaled('2')];
  temporal.runs = [{ workflowId: ENTITY, runId: 'aaaaaaaa-1', type: 'etcdCluster', events }];
  const { code, files, err } = await report('', { beside });
  expect(code).toBe(0);
  expect(err).toContain('workflows: 1 payloads are encrypted (keys: 2026-11)');
  expect(files['about.txt']).toContain('1 payloads are encrypted');
  expect(files[OF_CLUSTER]).toContain('[encrypted, 6 bytes]');
  expect(files[OF_CLUSTER]).toContain('"signalName": "changed"');
});

describe('without histories the report is made, and says why', () => {
  const fails: Person['beside'] = async () => ({
    code: 1,
    out: '',
    err: 'Error from server (NotFound): services "temporal-frontend" not found\n',
  });
  test.each<[string, readonly object[], Person, string]>([
    ['kubectl is missing', [], {}, 'Service temporal-frontend of namespace temporal: kubectl is not on PATH'],
    ['the Service is missing', [], { beside: fails }, 'services "temporal-frontend" not found'],
    [
      'Temporal is elsewhere',
      [{ name: 'TEMPORAL_ADDRESS', value: 'temporal.example.org:7233' }],
      { beside },
      'not in the cluster, but at temporal.example.org:7233: name an address that you reach with --temporal-address',
    ],
    [
      'its address stands in a ConfigMap',
      [{ name: 'TEMPORAL_ADDRESS', valueFrom: { configMapKeyRef: {} } }],
      { beside },
      'TEMPORAL_ADDRESS of Deployment etcd-operator stands in another object',
    ],
    [
      'it wants certificates',
      [{ name: 'TEMPORAL_TLS', value: 'true' }],
      { beside },
      'set TEMPORAL_TLS_SERVER_CA_CERT_PATH',
    ],
  ])('%s', async (_, env, person, says) => {
    await install(env);
    const { code, err, files } = await report('', person);
    expect(err).toContain(says);
    expect(files['about.txt']).toContain(says);
    expect(code).toBe(0);
  });

  test('there is no operator in that namespace', async () => {
    const { err } = await report('--operator-namespace none', { beside });
    expect(err).toContain('there is no Deployment of the operator in namespace none');
  });

  test('Temporal knows nothing of the cluster', async () => {
    temporal.runs = [];
    expect((await report('', { beside })).err).toContain(`knows no workflow ${ENTITY}`);
  });
});

describe('with an API key', () => {
  const KEY = 'canary-key-of-ana';
  let front: KeyedFront;
  let env: Record<string, string>;
  beforeAll(async () => {
    const authority = await TestAuthority.create('front');
    front = await KeyedFront.start(
      temporal.address,
      await authority.issue({ usages: ['server'], dnsNames: ['temporal.test'] }),
      [KEY],
    );
    const ca = join(folder, 'front.crt');
    await writeFile(ca, authority.pair.cert);
    env = { TEMPORAL_TLS_SERVER_CA_CERT_PATH: ca, TEMPORAL_TLS_SERVER_NAME: 'temporal.test' };
  });
  afterAll(() => front?.close());
  beforeEach(() => void front.requests.splice(0));

  test('each request has it, and the namespace', async () => {
    const flags = `--temporal-address ${front.address} --temporal-namespace etcd.a1b2c`;
    const { code, files } = await report(flags, { env: { ...env, TEMPORAL_API_KEY: `${KEY}\n` } });
    expect(code).toBe(0);
    expect(Object.keys(files).filter(name => name.startsWith('workflows/'))).toHaveLength(2);
    const sent = new Set(front.requests.map(({ key, namespace }) => `${key} ${namespace}`));
    expect([...sent]).toEqual([`${KEY} etcd.a1b2c`]);
  });

  test('one that is refused is in no line and no file', async () => {
    const flags = `--temporal-address ${front.address}`;
    const { err, out, files } = await report(flags, { env: { ...env, TEMPORAL_API_KEY: 'canary-wrong' } });
    expect(front.count('canary-wrong', false)).toBeGreaterThan(0);
    expect(err).toContain('for an API key TEMPORAL_API_KEY');
    expect(`${err} ${out} ${JSON.stringify(files)}`).not.toContain('canary-wrong');
  });

  test('one that cannot stand in a header is not quoted', async () => {
    const flags = `--temporal-address ${front.address}`;
    const { err } = await report(flags, { env: { ...env, TEMPORAL_API_KEY: 'canary two' } });
    expect(err).toContain('TEMPORAL_API_KEY has characters other than printable ASCII without spaces');
    expect(err).not.toContain('canary');
  });

  test('it is not sent to a Temporal that the operator reaches in plain text', async () => {
    const { code, files } = await report('', { beside, env: { TEMPORAL_API_KEY: KEY } });
    expect(code).toBe(0);
    expect(Object.keys(files).filter(name => name.startsWith('workflows/'))).toHaveLength(2);
  });
});

describe('the place of Temporal', () => {
  test('is by default that of the operator', () => {
    for (const [name, value] of Object.entries(DEFAULTS))
      expect(VARIABLES[name as keyof typeof DEFAULTS].default).toBe(value);
    expect(placeOf(operator([]))).toEqual({
      address: DEFAULTS.TEMPORAL_ADDRESS,
      namespace: DEFAULTS.TEMPORAL_NAMESPACE,
      tls: false,
      serverName: 'temporal-frontend.temporal.svc',
    });
    const env = [{ name: 'TEMPORAL_API_KEY_PATH', value: '/etc/temporal-api-key/api-key' }];
    expect(placeOf(operator(env)).tls).toBe(true);
  });

  test.each<[string, ReturnType<typeof serviceOf>]>([
    [
      'temporal-frontend.temporal.svc:7233',
      { namespace: 'temporal', name: 'temporal-frontend', port: '7233' },
    ],
    ['frontend.t.svc.cluster.local:1', { namespace: 't', name: 'frontend', port: '1' }],
    ['frontend.t.svc.cluster.local.:1', { namespace: 't', name: 'frontend', port: '1' }],
    ['frontend.t:1', { namespace: 't', name: 'frontend', port: '1' }],
    ['frontend:1', { namespace: 'here', name: 'frontend', port: '1' }],
    ['temporal.example.org:7233', undefined],
    ['10.1.2.3:7233', undefined],
    ['[fd00::1]:7233', undefined],
    ['localhost:7233', undefined],
  ])('%s', (address, service) => {
    expect(serviceOf(address, 'here')).toEqual(service);
  });
});
