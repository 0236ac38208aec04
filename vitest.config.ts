import { defineConfig } from 'vitest/config';

/** For levels that share one local stack with the operator in it. */
const onStack = {
  pool: 'forks',
  globalSetup: 'test/stack/e2e-setup.ts',
  testTimeout: 600_000,
  hookTimeout: 1_800_000,
} as const;

/** Of code that has no effects: nothing that one file does can change what another one sees. */
const PURE = 'test/{api,objects,planner}/**/*.test.ts';
/** Needs nothing but a while: every point at which something can break is tried, or many processes are started. */
const THOROUGH = 'test/**/*.thorough.test.ts';
/** Needs minutes for one fact, and no stack: run with the drills. */
const LONG = 'test/**/*.long.test.ts';
/** Writes what a file reached, if the gate of the simulation runs it. */
const COVERAGE = 'test/simulation/take-coverage.ts';

/**
 * Levels, run in this order and, from the integration tests on, never side by side: each one's failures make the next one's
 * pointless, and two cores are not to be shared by a test that measures time. Forks, because a process has one Temporal Runtime.
 */
export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: 'pure',
          include: [PURE],
          pool: 'forks',
          maxWorkers: 2,
          setupFiles: COVERAGE,
          // Most of a short file's time would be a process of its own that loads everything anew.
          isolate: false,
          testTimeout: 120_000,
          sequence: { groupOrder: 1 },
        },
      },
      {
        test: {
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: [
            'test/{replay,integration,e2e}/**',
            'test/drill/**/*.drill.test.ts',
            PURE,
            THOROUGH,
            LONG,
          ],
          pool: 'forks',
          setupFiles: COVERAGE,
          // Twice the cores: many files wait for real time rather than compute.
          maxWorkers: 4,
          // As above; what a file changes of its process it puts back.
          isolate: false,
          // For what hangs; a machine that is busy with builds is no failure.
          testTimeout: 120_000,
          sequence: { groupOrder: 2 },
        },
      },
      {
        test: {
          name: 'thorough',
          include: [THOROUGH],
          pool: 'forks',
          maxWorkers: 2,
          // For what hangs: one of these takes two minutes, and eight on a busy machine.
          testTimeout: 900_000,
          sequence: { groupOrder: 3 },
        },
      },
      {
        test: {
          name: 'replay',
          include: ['test/replay/**/*.test.ts'],
          pool: 'forks',
          // With the unit tests, since it measures nothing: alone it would leave a core idle.
          maxWorkers: 4,
          testTimeout: 180_000,
          hookTimeout: 180_000,
          sequence: { groupOrder: 2 },
        },
      },
      {
        test: {
          name: 'integration',
          globalSetup: 'test/stack/integration-setup.ts',
          include: ['test/integration/**/*.test.ts'],
          exclude: [LONG],
          pool: 'forks',
          // Half of what these files do is wait.
          maxWorkers: 3,
          testTimeout: 300_000,
          hookTimeout: 300_000,
          sequence: { groupOrder: 5 },
        },
      },
      {
        test: {
          name: 'long',
          include: [LONG],
          pool: 'forks',
          maxWorkers: 2,
          testTimeout: 600_000,
          hookTimeout: 600_000,
          sequence: { groupOrder: 9 },
        },
      },
      {
        test: {
          ...onStack,
          name: 'e2e',
          include: ['test/e2e/**/*.test.ts'],
          // Nothing in these files disturbs what another one uses, and all of them mostly wait.
          maxWorkers: 4,
          sequence: { groupOrder: 6 },
        },
      },
      {
        test: {
          ...onStack,
          name: 'drill',
          include: ['test/drill/*.drill.test.ts'],
          maxWorkers: 1,
          sequence: { groupOrder: 7 },
        },
      },
      {
        test: {
          ...onStack,
          name: 'long-drill',
          include: ['test/drill/long/*.drill.test.ts'],
          maxWorkers: 1,
          sequence: { groupOrder: 8 },
        },
      },
    ],
  },
});
