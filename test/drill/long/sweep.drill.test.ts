/**
 * The operators killed with -9 after each activity of a scale up, a scale down and a replacement, of a lost member and of one that is well, of
 * a defragmentation, of the end of NOSPACE and of a comparison of data; and Temporal wiped in the middle of the last three. What the activities are is learned from a run without a kill; that none
 * is forgotten is checked against the planner's list of steps, sweep by sweep, so that each can be run alone.
 */
import { expect, test } from 'vitest';
import type { StepKind } from '../../../src/planner/model/decision.ts';
import { drilledCluster } from '../../stack/drill/drilled.ts';
import { leaderOf } from '../../stack/drill/drill.ts';
import { readyEndpoints } from '../../stack/drill/endpoints.ts';
import { openOperations, type Operations } from '../../stack/drill/operations.ts';
import type { ActivityName } from '../../stack/drill/timeline.ts';
import { readCluster } from '../../stack/e2e.ts';
import { freshOperators, killOperators } from '../../stack/operator-processes.ts';
import { poll } from '../../stack/poll.ts';

const SIZE = 3;
const MORE = 4;
const REPLICAS = 2;
const cluster = drilledCluster('drill-sweep', SIZE);
const { at, world } = cluster;

/** The sweeps in which each step of the planner is met; empty: it belongs to another operation. */
const SWEPT: Record<StepKind, readonly string[]> = {
  addLearner: ['scale up', 'replace a lost member', 'replace a healthy member'],
  createMember: ['scale up', 'replace a lost member', 'replace a healthy member'],
  sealMembers: ['scale up', 'replace a lost member', 'replace a healthy member'],
  promoteLearner: ['scale up', 'replace a lost member', 'replace a healthy member'],
  moveLeader: ['replace a healthy member', 'defragment every member'],
  stopMember: ['scale down', 'replace a healthy member'],
  removeMember: ['scale down', 'replace a lost member', 'replace a healthy member'],
  retireMember: ['scale down', 'replace a healthy member'],
  recordIncarnation: [],
  bootstrapMembers: [],
  awaitQuorum: [],
  recordClusterId: [],
  issueCertificates: [],
  requestCertificates: [],
  ensureObjects: [],
  awaitMembers: [],
  restartMember: [],
  applyObjects: [],
  remakeMembers: [],
  awaitQuiet: [],
  requestBackup: [],
  awaitBackup: [],
  replaceImage: [],
  awaitVersion: [],
  awaitAgreement: [],
  // Killed in test/drill/long/downgrade.drill.test.ts.
  enableDowngrade: [],
  cancelDowngrade: [],
  compareKeys: ['compare the data of all members'],
  defragmentMember: ['defragment every member'],
  compactHistory: [],
  disarmNoSpace: ['end NOSPACE'],
  // Killed in test/drill/long/corruption.drill.test.ts.
  disarmCorrupt: [],
  withdrawMembers: [],
  expandClaim: [],
  labelClaim: [],
  modifyVolume: [],
  labelPods: [],
  stampResource: [],
  leaveObjects: [],
  takeUpMembers: [],
  forceDeletePods: [],

  admitMembers: [],
  deletePods: [],
  releaseClaims: [],
  removeFinalizer: [],
  fenceMembers: [],
  switchIncarnation: [],
  fillVolume: [],
  copySurvivor: [],
  inspectSurvivor: [],
  requestRecovery: [],
  unpackBackup: [],
  startSeed: [],
  requestRestore: [],
  disarmAlarms: [],
  concludeRestore: [],
  abandonRestore: [],
  revertRestore: [],
};

interface Swept {
  readonly title: string;
  readonly operation: string;
  readonly begin: (operations: Operations) => Promise<void>;
  readonly size: number;
  readonly lost: number;
}

const up: Swept = {
  title: 'scale up',
  operation: 'scaleCluster',
  begin: () => cluster.apply({ size: MORE }),
  size: MORE,
  lost: 0,
};
const down: Swept = {
  title: 'scale down',
  operation: 'scaleCluster',
  begin: () => cluster.apply({ size: SIZE }),
  size: SIZE,
  lost: 1,
};
const replaceLost: Swept = {
  title: 'replace a lost member',
  operation: 'replaceMember',
  begin: async () => cluster.deletePodAndClaim((await leaderOf(world(), at)).member),
  size: SIZE,
  lost: 1,
};
/** The leader, so that it hands over first. */
const replaceHealthy: Swept = {
  title: 'replace a healthy member',
  operation: 'replaceMember',
  begin: async operations =>
    operations.signal('replaceMember', { member: (await leaderOf(world(), at)).member }),
  size: SIZE,
  lost: 1,
};

/** Of members that have nothing to free: what is done to them besides is the same. */
const defragment: Swept = {
  title: 'defragment every member',
  operation: 'defragmentMembers',
  begin: operations => operations.signal('defragment', {}),
  size: SIZE,
  lost: 0,
};

/** Once a minute, where it is once a day otherwise. */
const compare: Swept = {
  title: 'compare the data of all members',
  operation: 'compareData',
  begin: () => cluster.apply({ size: SIZE, maintenance: { compareDataEvery: '1m' } }),
  size: SIZE,
  lost: 0,
};

/** As if the database were full, which has room: the alarm is disarmed, and a write is tried. */
const endNoSpace: Swept = {
  title: 'end NOSPACE',
  operation: 'reclaimSpace',
  begin: () => raiseNoSpace(),
  size: SIZE,
  lost: 0,
};

/** What etcd does itself when the database of a member has reached its quota. */
async function raiseNoSpace(): Promise<void> {
  const [endpoint = ''] = await readyEndpoints(world(), at.namespace, at.name);
  const post = (call: string, body: object): Promise<Response> =>
    fetch(`http://${endpoint}/v3/maintenance/${call}`, { method: 'POST', body: JSON.stringify(body) });
  const { header } = (await (await post('status', {})).json()) as { header: { member_id: string } };
  await post('alarm', { action: 'ACTIVATE', memberID: header.member_id, alarm: 'NOSPACE' });
}

const struck: Record<string, Set<string>> = {};

/** Fails unless a kill came after each step of the planner that this sweep is to meet. */
function expectNoneMissed({ title }: Swept): void {
  const met = Object.entries(SWEPT).filter(([, titles]) => titles.includes(title));
  const missed = met.filter(([step]) => !struck[title]?.has(step)).map(([step]) => step);
  expect(missed, `steps of "${title}" that no kill came after`).toEqual([]);
}

/** Runs one operation under load and kills every operator as soon as `after` was completed, if anything. */
async function run(
  swept: Swept,
  after: ActivityName | undefined,
  operations: Operations,
): Promise<readonly ActivityName[]> {
  await freshOperators(world(), REPLICAS);
  const before = await operations.newest();
  const { title, operation, size, lost } = swept;
  await cluster.drill(
    after === undefined ? `${title}, nobody killed` : `${title}, operators killed after ${after}`,
    async () => {
      await swept.begin(operations);
      await operations.await(
        operation,
        before,
        ({ completed }) => after === undefined || completed.includes(after),
      );
      if (after === undefined) return;
      expect(killOperators(world())).toBeGreaterThan(0);
      (struck[title] ??= new Set()).add(after);
    },
    { size, lost, silent: after !== undefined },
  );
  // A run that finds something in the way ends, and another one continues.
  const runs = await operations.since(before);
  return runs.filter(found => found.operation === operation).flatMap(({ completed }) => completed);
}

test('scaling up and down survives the death of the operator in each step', async () => {
  const operations = await openOperations(world(), at);
  const plans = { up: await run(up, undefined, operations), down: await run(down, undefined, operations) };
  const kills = { up: [...new Set(plans.up)], down: [...new Set(plans.down)] };
  for (let turn = 0; turn < Math.max(kills.up.length, kills.down.length); turn += 1) {
    await run(up, kills.up[turn], operations);
    await run(down, kills.down[turn], operations);
  }
  await operations.close();
  expectNoneMissed(up);
  expectNoneMissed(down);
}, 1_800_000);

test.each([replaceLost, replaceHealthy, defragment, endNoSpace, compare])(
  '$title',
  async replace => {
    const operations = await openOperations(world(), at);
    const plan = await run(replace, undefined, operations);
    for (const after of new Set(plan)) await run(replace, after, operations);
    await operations.close();
    expectNoneMissed(replace);
  },
  1_800_000,
);

test.each([defragment, endNoSpace, compare])(
  '$title: Temporal is wiped in the middle, and it comes to its end',
  async swept => {
    await freshOperators(world(), REPLICAS);
    const operations = await openOperations(world(), at);
    const before = await operations.newest();
    let wiped = Infinity;
    const { title, operation, size, lost } = swept;
    await cluster.drill(
      `${title}, Temporal wiped`,
      async () => {
        await swept.begin(operations);
        await operations.await(operation, before, () => true);
        await operations.close();
        wiped = Math.floor(Date.now() / 1_000) * 1_000;
        await world().stack.temporal.wipe();
      },
      { size, lost, silent: true },
    );
    const status = async () => (await readCluster(world(), at.namespace, at.name))?.status;
    await poll(
      async () => {
        const { history = [], dataComparison } = (await status()) ?? {};
        // A comparison that finds nothing is in no history.
        const compared = swept === compare ? [dataComparison?.comparedAt] : [];
        const ended = history
          .filter(({ type, outcome }) => type === operation && outcome === 'Succeeded')
          .map(({ completedAt }) => completedAt);
        return [...compared, ...ended].some(time => Date.parse(time ?? '') >= wiped);
      },
      { timeoutMs: 180_000, otherwise: async () => JSON.stringify(await status(), null, 1) },
    );
  },
  900_000,
);
