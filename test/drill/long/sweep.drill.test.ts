/**
 * The operators killed with -9 after each activity of a scale up, a scale down and a replacement. What the activities are
 * is learned from a run without a kill; that none is forgotten is checked against the planner's list of steps.
 */
import { expect, test } from 'vitest';
import type { StepKind } from '../../../src/planner/decision.ts';
import { drilledCluster } from '../../support/drill/drilled.ts';
import { leaderOf } from '../../support/drill/drill.ts';
import { type ActivityName, openOperations, type Operations } from '../../support/drill/operations.ts';
import { freshOperators, killOperators } from '../../support/operator-processes.ts';

const SIZE = 3;
const MORE = 4;
const REPLICAS = 2;
const cluster = drilledCluster('drill-sweep', SIZE);
const { at, world } = cluster;

/** The operations in which each step of the planner is met; empty: it belongs to another operation. */
const SWEPT: Record<StepKind, readonly string[]> = {
  addLearner: ['scale up', 'replace'],
  createMember: ['scale up', 'replace'],
  sealMembers: ['scale up', 'replace'],
  promoteLearner: ['scale up', 'replace'],
  stopMember: ['scale down'],
  removeMember: ['scale down', 'replace'],
  retireMember: ['scale down', 'replace'],
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
  awaitQuiet: [],
  replaceImage: [],
  awaitVersion: [],
  awaitAgreement: [],
  moveLeader: [],
  expandClaim: [],
  labelClaim: [],
  admitMembers: [],
  deletePods: [],
  releaseClaims: [],
  removeFinalizer: [],
  fenceMembers: [],
  switchIncarnation: [],
  fillVolume: [],
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
  readonly begin: () => Promise<void>;
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
const replace: Swept = {
  title: 'replace',
  operation: 'replaceMember',
  begin: async () => cluster.deletePodAndClaim((await leaderOf(world(), at)).member),
  size: SIZE,
  lost: 1,
};

const missed = new Set(
  Object.entries(SWEPT).flatMap(([step, titles]) => titles.map(title => `${step} of ${title}`)),
);
/** Runs one operation under load, and kills every operator as soon as `after` was completed; gives what was completed. */
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
      await swept.begin();
      if (after === undefined) return;
      await operations.await(operation, before, ({ completed }) => completed.includes(after));
      expect(killOperators(world())).toBeGreaterThan(0);
      missed.delete(`${after} of ${title}`);
    },
    { size, lost, silent: after !== undefined },
  );
  const newest = await operations.newest();
  expect(newest).toMatchObject({ operation });
  return newest?.completed ?? [];
}

test('scale up and scale down', async () => {
  const operations = await openOperations(world(), at);
  const plans = { up: await run(up, undefined, operations), down: await run(down, undefined, operations) };
  const kills = { up: [...new Set(plans.up)], down: [...new Set(plans.down)] };
  for (let turn = 0; turn < Math.max(kills.up.length, kills.down.length); turn += 1) {
    await run(up, kills.up[turn], operations);
    await run(down, kills.down[turn], operations);
  }
  await operations.close();
}, 1_800_000);

test('replace', async () => {
  const operations = await openOperations(world(), at);
  const plan = await run(replace, undefined, operations);
  for (const after of new Set(plan)) await run(replace, after, operations);
  await operations.close();
}, 1_800_000);

test('no activity is left out', () => {
  expect([...missed], 'activities that no kill came after').toEqual([]);
});
