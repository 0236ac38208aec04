/**
 * What the release before cannot go on with (CHANGELOG.md), on a deployed stack: a cluster whose Service somebody has kept changing,
 * and an EtcdBackup that was asked to verify a backup. The workflow of the cluster rests there, nothing else does, and both go on when this checkout
 * is back. With a release before that knows both there is nothing to see, and the tests are skipped.
 */
import { Client, Connection } from '@temporalio/client';
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { runsOf } from '../../stack/drill/recorded-work.ts';
import { SmallClusters } from '../../stack/drill/small-clusters.ts';
import { failedTasks } from '../../stack/drill/two-releases.ts';
import { load, seconds, twoOperators } from '../../stack/drill/two-operators.ts';
import { createNamespace, leaveNamespace, openWorld, readCluster, type World } from '../../stack/e2e.ts';
import { poll } from '../../stack/poll.ts';

const NAMESPACE = 'drill-operator-rollback';
const MENDED = 'mended';
const VERIFIED = 'verified';
const PATIENT_MS = 300_000;

vi.setConfig({ testTimeout: 1_500_000 });

const { releases, roll } = twoOperators();
let world: World;
let small: SmallClusters;
let connection: Connection;
let meddling: { stop(): Promise<void> } | undefined;
const began = new Date();

beforeEach(async ({ skip }) => {
  const needed = ['pause-between-repeats', 'verifyStoredBackup'];
  const known = await Promise.all(needed.map(text => releases().previousKnows(text)));
  skip(known.includes(true), `${releases().previous.title} can go on with one of them`);
});
beforeAll(async () => {
  await roll().applyPrerequisites(releases().current);
  await roll().applyOperator(releases().current);
  await roll().settled(releases().current);
  world = await openWorld();
  await createNamespace(world, NAMESPACE);
  connection = await Connection.connect({ address: world.stack.temporalAddress });
  small = new SmallClusters(world, NAMESPACE);
  await small.restores.createClaim();
  await small.create(MENDED);
  await small.create('beside');
  await small.running(MENDED, 'beside');
  await small.restores.backUp(VERIFIED, 'beside');
});
afterAll(async () => {
  await meddling?.stop();
  await connection?.close();
  await leaveNamespace(world, NAMESPACE);
});

const runs = () => runsOf(new Client({ connection, namespace: 'etcd-operator' }), NAMESPACE, began);

/** The workflow tasks of the entity of a resource that failed. */
const failed = async (name: string): Promise<string[]> =>
  failedTasks((await runs()).filter(({ workflowId }) => workflowId.split('/')[2] === name));

/** Changes the Service whenever it has been mended, as another controller would, until told to stop. */
function meddle(): { stop(): Promise<void> } {
  const change = JSON.stringify({ spec: { selector: { meddled: 'with' } } });
  let stopping = false;
  const running = poll(
    async () => {
      const service = ['service', `${MENDED}-client`];
      const found = await small.kubectl('get', ...service, '--output=jsonpath={.spec.selector.meddled}');
      if (found === '') await small.kubectl('patch', ...service, '--type=merge', '-p', change);
      return stopping;
    },
    { timeoutMs: 4 * PATIENT_MS, intervalMs: 500 },
  );
  return {
    async stop() {
      stopping = true;
      await running;
    },
  };
}

test('a cluster waits between repairs, and a stored backup is verified', async () => {
  await small.ask('verify', { backupRef: { name: VERIFIED }, action: 'VerifyBackup' });
  await small.asked('verify', 'Completed');
  meddling = meddle();
  await poll(
    async () => {
      const ofMended = (await runs()).filter(({ workflowId }) => workflowId.split('/')[2] === MENDED);
      return ofMended.some(({ events }) => events.some(event => event.markerRecordedEventAttributes));
    },
    { timeoutMs: PATIENT_MS, intervalMs: 1_000, otherwise: () => 'no repair was waited with' },
  );
  expect(await failed(MENDED)).toEqual([]);
  expect(await failed(VERIFIED)).toEqual([]);
});

// The run of the EtcdBackup may have continued as new by then, and its successor knows nothing of the verification.
test('the cluster rests on the release before, and nothing but these two does', async () => {
  const before = await small.members(MENDED, 'beside');
  await roll().undo();
  await roll().settled(releases().previous);
  await small.scale(MENDED, 3);
  await poll(async () => (await failed(MENDED)).length > 0, {
    timeoutMs: PATIENT_MS,
    intervalMs: 1_000,
    otherwise: () => `the release before goes on with ${MENDED}`,
  });
  await meddling?.stop();
  for (const sentence of [...(await failed(MENDED)), ...(await failed(VERIFIED))])
    expect(sentence).toContain('Nondeterminism error');
  expect(await small.members(MENDED, 'beside')).toEqual(before);
  await small.scale('beside', 3);
  await small.create('another');
  await small.running('another');
  await poll(
    async () => (await readCluster(world, NAMESPACE, 'beside'))?.status?.members?.ready?.length === 3,
    {
      timeoutMs: PATIENT_MS,
    },
  );
  expect(await small.members(MENDED)).toHaveLength(1);
});

test('they go on when this release is back', async () => {
  console.log(`kubectl apply without --force-conflicts: ${await roll().conflictsOf(releases().current)}`);
  await roll().applyOperator(releases().current);
  await roll().settled(releases().current);
  const back = Date.now();
  await small.ask('once-more', { backupRef: { name: VERIFIED }, action: 'BackupNow' });
  await small.asked('once-more', 'Completed');
  const backedUp = Date.now();
  await small.converged();
  expect(await small.members(MENDED)).toHaveLength(3);
  console.log(
    `both go on: the EtcdBackup ${seconds(backedUp - back)}, the cluster ${seconds(Date.now() - back)} after this release was back; load ${load()}`,
  );
});
