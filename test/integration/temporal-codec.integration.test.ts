/** Payloads that are encrypted before they reach a real Temporal, which is then asked for everything that it keeps. */
import { randomBytes } from 'node:crypto';
import { Client, Connection } from '@temporalio/client';
import type { PayloadCodec } from '@temporalio/common';
import { NativeConnection, Worker } from '@temporalio/worker';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { codecOptions, encryptingCodec } from '../../src/main/temporal/codec/codec.ts';
import { KeyRing } from '../../src/main/temporal/codec/key-ring.ts';
import { sealedFailures } from '../../src/main/temporal/codec/sealed-failures.ts';
import { transfersQueue } from '../../src/workflows/messages/resource.ts';
import { MountedSecret } from '../fakes/mounted-secret.ts';
import { startTemporal, type TemporalServer } from '../stack/temporal-server.ts';
import { everythingOf } from '../worlds/history-texts.ts';
import { creation, refused, Script, scriptedActivities } from '../worlds/scripted-activities.ts';
import { beQuiet, bundleOfWorkflows, Entity, until } from '../worlds/workflow-bench.ts';

const CANARY = 'canary-91d2';
const [first, second] = [randomBytes(32).toString('base64'), randomBytes(32).toString('base64')];

let server: TemporalServer;
let code = '';
let connection: Connection;
let native: NativeConnection;
/** A client that knows of no codec. */
let plain: Client;
let entities = 100;
let secret: MountedSecret;
let ring: KeyRing;
const stops: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  beQuiet();
  [server, code] = await Promise.all([startTemporal(), bundleOfWorkflows()]);
  connection = await Connection.connect({ address: server.address });
  native = await NativeConnection.connect({ address: server.address });
  plain = new Client({ connection });
});
afterAll(async () => {
  await native?.close();
  await connection?.close();
  await server?.stop();
});
beforeEach(async () => {
  secret = await MountedSecret.of({ first, active: 'first' });
  const logger = { info: () => {}, warn: () => {} };
  ring = new KeyRing({ folder: secret.folder, logger, onOutdated: () => {}, everyMs: 50 });
  stops.push(
    () => secret.remove(),
    () => ring.close(),
  );
});
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
});

const clientWith = (codec: PayloadCodec): Client =>
  new Client({ connection, dataConverter: codecOptions(codec) });

/** Runs the workers of an entity until the returned function is called. */
async function serve(
  { taskQueue }: Entity,
  script: Script,
  codec?: PayloadCodec,
): Promise<() => Promise<void>> {
  const shared = {
    connection: native,
    activities: scriptedActivities(script),
    dataConverter: codecOptions(codec),
    interceptors: { activity: codec === undefined ? [] : [sealedFailures] },
    shutdownForceTime: '2s',
  } as const;
  const workers = [
    await Worker.create({ ...shared, taskQueue, workflowBundle: { code } }),
    await Worker.create({ ...shared, taskQueue: transfersQueue(taskQueue) }),
  ];
  const running = Promise.all(workers.map(worker => worker.run()));
  const stop = async () => {
    for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown();
    await running;
  };
  stops.push(stop);
  return stop;
}

const entityOf = (client: Client): Entity => new Entity(client, (entities += 1));

/** The entity of the same workflow, asked by another client. */
async function pausedBy(client: Client, { id }: Entity): Promise<unknown> {
  return (await client.workflow.getHandle(id).query<{ paused?: unknown }>('status')).paused;
}

/** Everything that the server shows of the workflow and its operation without a key. */
async function toldOf(entity: Entity): Promise<ReturnType<typeof everythingOf>> {
  const ids = [entity.id, entity.operation.workflowId];
  const histories = await Promise.all([entity.histories(), entity.histories('operation')]);
  const described = await Promise.all(
    ids.map(async id => (await plain.workflow.getHandle(id).describe()).raw),
  );
  return everythingOf([histories, described]);
}

test('a creation with a person, a refusal and failures runs, and what Temporal keeps of it cannot be read', async () => {
  const codec = encryptingCodec(ring);
  const client = clientWith(codec);
  const script = creation();
  script.fail('awaitQuorum', [new Error(`${CANARY} of a step`), new Error(`${CANARY} of another`)]);
  const entity = entityOf(client);
  await serve(entity, script, codec);
  await entity.changed();
  expect(await entity.ended()).toMatchObject({ outcome: 'ended' });
  expect(script.remaining).toEqual([]);
  await entity.handle.signal('pause', { by: `${CANARY}-ana`, reason: `${CANARY}-reason` });
  await until(async () => JSON.stringify(await pausedBy(client, entity)).includes(`${CANARY}-reason`));
  script.judge = ({ id }) => ({ id, outcome: 'refused', message: `${CANARY}-refusal` });
  const asked = { to: 'example-9', by: `${CANARY}-ben`, reason: `${CANARY}-why` };
  await expect(entity.update('moveLeader', asked)).rejects.toThrow(`${CANARY}-refusal`);
  await entity.quiet();

  const { payloads, raw, others } = await toldOf(entity);
  // Of summaries, arguments, results, signals, details: there are many, and each is encrypted.
  expect(payloads.length).toBeGreaterThan(30);
  const encodings = new Set(payloads.map(({ metadata }) => metadata['encoding']));
  expect([...encodings]).toEqual(['binary/encrypted']);
  expect(new Set(payloads.map(({ metadata }) => metadata['encryption-key-id']))).toEqual(new Set(['first']));
  const within = payloads.map(({ data }) => data).join('\n');
  for (const text of [CANARY, entity.name, 'example-0', 'bootstrapMembers'])
    expect(within).not.toContain(text);
  // What a workflow throws goes around the codec (docs/operations/temporal.md names it).
  const readable = others.filter(text => text.includes(CANARY));
  expect(readable.filter(text => !text.includes(`${CANARY}-refusal`))).toEqual([]);
  // With the key it is all there.
  const opened = everythingOf(await codec.decode([...raw]));
  expect(opened.payloads.map(({ data }) => data).join('\n')).toContain(`${CANARY}-reason`);
});

test('a client without a codec signals and asks, and its message is not lost', async () => {
  const codec = encryptingCodec(ring);
  const entity = entityOf(clientWith(codec));
  const script = new Script();
  await serve(entity, script, codec);
  await entity.changed();
  await until(() => script.workflowStates.length > 0);
  await server.cli(
    ...['workflow', 'signal', '--workflow-id', entity.id, '--name', 'pause'],
    ...['--input', JSON.stringify({ by: 'cli', reason: 'by hand' })],
  );
  await until(() => script.workflowStates.at(-1)?.paused !== undefined);
  expect(await pausedBy(clientWith(codec), entity)).toMatchObject({ by: 'cli', reason: 'by hand' });
});

test('a workflow from before continues, keys are exchanged in its middle, and its history replays with all of them', async () => {
  const codec = encryptingCodec(ring);
  const client = clientWith(codec);
  const entity = entityOf(client);
  const script = new Script();
  const stop = await serve(entity, script);
  await plain.workflow.signalWithStart('etcdCluster', {
    workflowId: entity.id,
    taskQueue: entity.taskQueue,
    args: [{ namespace: 'shop', name: entity.name, uid: 'a-uid' }],
    signal: 'pause',
    signalArgs: [{ by: 'ana', reason: 'before' }],
  });
  await until(() => script.workflowStates.at(-1)?.paused !== undefined);
  await entity.quiet();
  await stop();

  await serve(entity, script, codec);
  await entity.handle.signal('resume');
  await until(() => script.workflowStates.at(-1)?.paused === undefined);
  await entity.handle.signal('pause', { by: 'ben', reason: 'with the first key' });
  await until(() => script.workflowStates.at(-1)?.paused !== undefined);
  await secret.become({ first, second, active: 'second' });
  await until(() => ring.active()?.id === 'second');
  await entity.handle.signal('resume');
  await until(() => script.workflowStates.at(-1)?.paused === undefined);
  await entity.handle.signal('pause', { by: 'cho', reason: 'with the second key' });
  await until(() => script.workflowStates.at(-1)?.paused !== undefined);
  expect(await pausedBy(client, entity)).toMatchObject({ reason: 'with the second key' });
  await entity.quiet();

  const histories = await entity.histories();
  const { payloads } = everythingOf(histories);
  const used = new Set(payloads.map(({ metadata }) => metadata['encryption-key-id']));
  expect(used).toEqual(new Set([undefined, 'first', 'second']));
  // A run that has just begun has nothing to replay, and the SDK would wait for its first task.
  const begun = histories.filter(({ events }) =>
    events?.some(event => event.workflowTaskCompletedEventAttributes),
  );
  const replayAll = async () => {
    for (const history of begun)
      await Worker.runReplayHistory(
        { workflowBundle: { code }, dataConverter: codecOptions(codec) },
        history,
        entity.id,
      );
  };
  await replayAll();
  await secret.become({ second, active: 'second' });
  await until(() => ring.find('first') === undefined);
  await expect(replayAll()).rejects.toThrow('encrypted with the key first');
});

test('a worker without the key waits for it, and continues when it is there', async () => {
  const other = await MountedSecret.of({ first, second, active: 'second' });
  stops.push(() => other.remove());
  const logger = { info: () => {}, warn: () => {} };
  const ahead = new KeyRing({ folder: other.folder, logger, onOutdated: () => {} });
  stops.push(() => ahead.close());
  const entity = entityOf(clientWith(encryptingCodec(ahead)));
  const script = new Script();
  await serve(entity, script, encryptingCodec(ring));
  await entity.changed();
  await until(async () => {
    const { events } = await plain.workflow.getHandle(entity.id).fetchHistory();
    return JSON.stringify(events).includes('encrypted with the key second, which TEMPORAL_CODEC_KEYS');
  });
  expect(script.workflowStates).toEqual([]);
  await secret.become({ first, second, active: 'first' });
  await until(() => script.workflowStates.length > 0);
});

test('a workflow says why its pass fails, although the message is encrypted', async () => {
  const codec = encryptingCodec(ring);
  const client = clientWith(codec);
  const entity = entityOf(client);
  const script = new Script();
  script.beforePass = async () => {
    throw refused(`${CANARY}: the API server said no`);
  };
  await serve(entity, script, codec);
  await entity.changed();
  await until(() => script.reported.length > 0);
  expect(script.reported[0]).toMatchObject({ message: `${CANARY}: the API server said no`, times: 1 });
  const { events } = await plain.workflow.getHandle(entity.id).fetchHistory();
  const { payloads, others } = everythingOf(events);
  expect([...payloads.map(({ data }) => data), ...others].filter(text => text.includes(CANARY))).toEqual([]);
});
