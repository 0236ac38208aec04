/** The report for support: secrets are planted wherever they were ever seen, and looked for in every byte of the archive. */
import { execFileSync } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { API_VERSION, LABEL_CLUSTER } from '../../src/api/names.ts';
import { tarOf } from '../../src/plugin/report/tar.ts';
import { TemporalFrontend } from '../fakes/temporal-frontend.ts';
import { forbidden, PluginBench, WELL } from './bench.ts';
import type { Person } from './process.ts';
import { secretForms } from './secret-forms.ts';

let bench: PluginBench;
let folder: string;
let temporal: TemporalFrontend;
beforeAll(async () => {
  [bench, folder, temporal] = await Promise.all([
    PluginBench.start(),
    mkdtemp(join(tmpdir(), 'plugin-report-')),
    TemporalFrontend.start(),
  ]);
});
afterAll(async () => {
  await bench?.stop();
  temporal?.stop();
  await rm(folder, { recursive: true, force: true });
});

/** By where each stands. */
const CANARIES = {
  secret: 'canary-of-a-secret-1a',
  variable: 'canary-of-a-variable/2b+c',
  lastApplied: 'canary-of-last-applied-3c',
  annotation: 'canary-of-an-annotation-4d',
  madeFrom: 'canary-of-made-from-5e',
  url: 'canary-of-a-url-6f',
  bearer: 'canary-of-a-bearer-7g',
  pem: 'Y2FuYXJ5LW9mLWEta2V5LTho',
  presigned: 'canary-of-a-presigned-url-9i',
  operator: 'canary-of-the-operator-0j',
  payload: 'canary-of-a-payload/1k+d',
  payloadKey: 'canary-of-a-secret-key-2l',
  payloadText: 'canary-of-a-payload-text-3m',
  failure: 'canary-of-a-failure-4n',
  bytes: 'canary-of-other-bytes-5o',
  header: 'canary-of-a-header-6p',
  summary: 'canary-of-a-summary-7q',
  unknownVariable: 'canary"of an unknown/variable-8r',
  knownVariable: 'canary-of-a-known-variable-9s',
  badVariable: 'canary-of-a-bad "variable"-0t',
  crashed: 'canary-of-one-that-crashed-1u',
} as const;

const variables = [{ name: 'ETCD_X', value: CANARIES.variable }];
const specOf = (canary: string) => ({ pod: { etcdEnv: [{ name: 'ETCD_Y', value: canary }] } });
const base64 = (text: string): string => Buffer.from(text).toString('base64');
const payload = (value: unknown) => ({
  metadata: { encoding: base64('json/plain') },
  data: base64(JSON.stringify(value)),
});
/** A history in which secrets stand wherever somebody could have put one. */
const EVENTS = [
  {
    eventId: '1',
    eventTime: '2026-11-23T11:00:00Z',
    eventType: 'EVENT_TYPE_WORKFLOW_EXECUTION_STARTED',
    userMetadata: { summary: payload(`for https://u:${CANARIES.summary}@store/`) },
    workflowExecutionStartedEventAttributes: {
      workflowType: { name: 'etcdCluster' },
      input: {
        payloads: [
          payload({ name: 'example', spec: specOf(CANARIES.payload), secretKey: CANARIES.payloadKey }),
          { metadata: { encoding: base64('binary/plain') }, data: base64(CANARIES.bytes) },
          { metadata: { encoding: base64('json/plain') }, data: base64(`{"broken": "${CANARIES.bytes}`) },
        ],
      },
      header: { fields: { authorization: payload(`Bearer ${CANARIES.header}`) } },
    },
  },
  {
    eventId: '2',
    eventTime: '2026-11-23T11:00:01Z',
    eventType: 'EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED',
    workflowExecutionSignaledEventAttributes: {
      signalName: 'changed',
      input: {
        payloads: [payload(`X-Amz-Signature=1&password=${CANARIES.payloadText} was ${CANARIES.payload}`)],
      },
    },
  },
  {
    eventId: '3',
    eventTime: '2026-11-23T11:00:02Z',
    eventType: 'EVENT_TYPE_ACTIVITY_TASK_FAILED',
    activityTaskFailedEventAttributes: {
      failure: {
        message: `GET https://user:${CANARIES.failure}@store/ failed with ${CANARIES.variable}`,
        stackTrace: `Error: Authorization: Bearer ${CANARIES.failure}`,
        applicationFailureInfo: { type: 'StoreError', details: { payloads: [payload(CANARIES.payload)] } },
      },
    },
  },
];

/** etcd logs its environment, also values that come from Secrets. In both formats of its log. */
const quoted = (value: string): string => JSON.stringify(value);
const ENVIRONMENT = [
  `{"level":"warn","msg":"unrecognized environment variable","environment-variable":${quoted(`ETCD_X=${CANARIES.unknownVariable}`)}}`,
  `2026-11-23T11:00:00Z\tinfo\trecognized and used environment variable\t{"variable-name": "ETCD_Y", "variable-value": ${quoted(CANARIES.knownVariable)}}`,
  `{"level":"error","msg":"failed to verify flags","error":${quoted(`invalid value ${quoted(CANARIES.badVariable)} for ETCD_Z: parse error`)}}`,
  `ETCD_X was ${CANARIES.unknownVariable}`,
].join('\n');

const LOG = [
  ENVIRONMENT,
  `once it was ${CANARIES.payload}`,
  `{"level":"info","msg":"dialling https://user:${CANARIES.url}@store.example/bucket"}`,
  `Authorization: Bearer ${CANARIES.bearer}`,
  `-----BEGIN PRIVATE KEY-----\n${CANARIES.pem}\n-----END PRIVATE KEY-----`,
  `GET https://s3.example/b?X-Amz-Signature=${CANARIES.presigned}&x=1`,
  `etcd was started with ${CANARIES.variable} and ${CANARIES.lastApplied} and ${CANARIES.madeFrom}`,
  'mvcc: a line that support must see',
].join('\n');

const ENTITY = WELL.workflowID;

/** The operator as it is installed, with further variables. */
const deployment = (env: readonly object[] = []) => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: {
    name: 'etcd-operator',
    namespace: 'etcd-operator',
    labels: { 'app.kubernetes.io/name': 'etcd-operator' },
  },
  spec: { template: { spec: { containers: [{ name: 'operator', env }] } } },
});

beforeEach(async () => {
  await bench.reset();
  await bench.server.kube.delete({ apiVersion: 'apps/v1', kind: 'Deployment', ...deployment().metadata });
  bench.server.kube.seed(deployment());
  temporal.runs = [
    { workflowId: ENTITY, runId: 'aaaaaaaa-1', type: 'etcdCluster', events: EVENTS },
    {
      workflowId: `${ENTITY}/operation`,
      runId: 'bbbbbbbb-2',
      type: 'scaleCluster',
      events: EVENTS.slice(0, 1),
    },
  ];
  temporal.queries.length = 0;
  const metadata = { name: 'example', namespace: 'default' };
  const labels = { [LABEL_CLUSTER]: 'example' };
  const lastApplied = JSON.stringify({ apiVersion: API_VERSION, spec: specOf(CANARIES.lastApplied) });
  bench.server.kube.seed(
    {
      apiVersion: API_VERSION,
      kind: 'EtcdCluster',
      metadata: {
        ...metadata,
        annotations: {
          'kubectl.kubernetes.io/last-applied-configuration': lastApplied,
          'example.com/note': CANARIES.annotation,
        },
      },
      spec: { size: 3, ...specOf(CANARIES.variable) },
      status: WELL,
    },
    {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { ...metadata, labels },
      data: { key: Buffer.from(CANARIES.secret).toString('base64') },
    },
    {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        name: 'example-0',
        namespace: 'default',
        labels,
        annotations: {
          'etcd.database.coreos.com/made-from': JSON.stringify({ spec: specOf(CANARIES.madeFrom) }),
          'etcd.database.coreos.com/version': '3.6.16',
        },
      },
      spec: {
        containers: [{ name: 'etcd', env: variables }],
        initContainers: [{ name: 'i', env: variables }],
      },
      status: {
        containerStatuses: [
          {
            lastState: {
              terminated: {
                message: `{"environment-variable":"ETCD_X=${CANARIES.crashed}"}\n{"level":"fatal","msg":"no space left"}`,
              },
            },
          },
        ],
      },
    },
    {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name: 'example.1', namespace: 'default' },
      involvedObject: { kind: 'EtcdCluster', name: 'example' },
      message: `upload to https://u:${CANARIES.url}@store failed`,
    },
  );
});

/** kubectl, which has these logs. */
const capture = async (line: readonly string[]) => {
  const text = line.join(' ');
  if (text.includes('--previous'))
    return { code: 1, out: '', err: 'previous terminated container not found' };
  if (text.includes('app.kubernetes.io/name=etcd-operator'))
    return { code: 0, out: `password=${CANARIES.operator}\nthe operator started`, err: '' };
  if (text.includes(' logs ')) return { code: 0, out: LOG, err: '' };
  return { code: 1, out: '', err: `error: forbidden for ${CANARIES.variable}` };
};

/** What kubectl was asked to forward, and that it leads to the Temporal of this test. */
const forwards: string[] = [];
const beside: Person['beside'] = async (line, { sign }) => {
  forwards.push(line.join(' '));
  const found = sign.exec(`Forwarding from 127.0.0.1:${temporal.address.split(':')[1]} -> 7233\n`);
  return found === null ? { code: 1, out: '', err: 'no sign' } : { sign: found };
};

test('no secret is in any byte of the archive, and what support needs is', async () => {
  const to = join(folder, 'canaries.tar.gz');
  const { code, out, err } = await bench.run(`report example --to ${to}`, { capture, beside });
  expect(code).toBe(0);
  expect(out).toContain(`${to} written`);
  expect((await stat(to)).mode & 0o777).toBe(0o600);
  const plain = gunzipSync(await readFile(to)).toString('latin1');
  for (const [where, canary] of Object.entries(CANARIES))
    for (const form of secretForms(canary)) {
      expect(plain.includes(form), `${where} as ${form}`).toBe(false);
      expect(`${out}${err}`.includes(form), `${where} as ${form} on the terminal`).toBe(false);
    }
  expect(plain).toContain('a line that support must see');
  expect(plain).toContain('unrecognized environment variable","environment-variable":"ETCD_X=[left out]"');
  expect(plain).toContain('for ETCD_Z: parse error');
  expect(plain).toContain('no space left');
  expect(plain).toContain('the operator started');
  expect(plain).toContain('"eventType": "EVENT_TYPE_ACTIVITY_TASK_FAILED"');
  expect(plain).toContain('"type": "StoreError"');
  expect(plain).toContain('LinearizableRead');
  expect(plain).toContain('etcd.database.coreos.com/version: 3.6.16');
  expect(bench.server.requests.map(({ kind }) => kind)).not.toContain('Secret');
});

test('the test itself finds what is not taken out', () => {
  const leak = tarOf([{ name: 'x', text: `a${Buffer.from(`user:${CANARIES.url}`).toString('base64')}` }], 0);
  const plain = leak.toString('latin1');
  expect(secretForms(CANARIES.url).some(form => plain.includes(form))).toBe(true);
});

test('tar reads the archive', async () => {
  const to = join(folder, 'readable.tar.gz');
  await bench.run(`report example --to ${to}`, { capture });
  execFileSync('tar', ['-xzf', to, '-C', folder]);
  const files = await readdir(join(folder, 'etcd-report-example'), { recursive: true });
  expect(files.toSorted()).toEqual(
    expect.arrayContaining(['about.txt', 'logs/example-0.log', 'logs/operator.log', 'resources/pods.yaml']),
  );
  expect(await readFile(join(folder, 'etcd-report-example/about.txt'), 'utf8')).toContain(
    'Missing: versions.txt',
  );
});

test('tar reads the archive of a cluster with the longest name', async () => {
  const name = 'e'.repeat(52);
  await bench.put('EtcdCluster', name, { status: WELL });
  const metadata = { name: `${name}-0`, namespace: 'default', labels: { [LABEL_CLUSTER]: name } };
  bench.server.kube.seed({ apiVersion: 'v1', kind: 'Pod', metadata });
  const to = join(folder, 'long.tar.gz');
  expect(await bench.run(`report ${name} --to ${to}`, { capture })).toMatchObject({ code: 0 });
  execFileSync('tar', ['-xzf', to, '-C', folder]);
  const log = await readFile(join(folder, `etcd-report-${name}/logs/${name}-0.log`), 'utf8');
  expect(log).toContain('a line that support must see');
});

test('what may not be read is named, and the rest is gathered', async () => {
  bench.server.fail(
    'list',
    (request, response) =>
      request.kind === 'Event' && forbidden('ana', 'list', 'events', 'default')(request, response),
    Infinity,
  );
  const to = join(folder, 'partly.tar.gz');
  const { code, err } = await bench.run(`report example --to ${to} -o json`, { capture });
  expect(err).toMatch(/not contained: events: .*cannot list resource "events"/);
  expect(code).toBe(0);
});

test('a file that exists is never overwritten', async () => {
  const to = join(folder, 'mine.tar.gz');
  await writeFile(to, 'mine');
  expect(await bench.run(`report example --to ${to}`, { capture })).toMatchObject({
    code: 1,
    err: expect.stringContaining('EEXIST'),
  });
  expect(await readFile(to, 'utf8')).toBe('mine');
});
