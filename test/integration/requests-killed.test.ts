/**
 * An EtcdRequest while everything that carries it out is killed: the watcher at each of its calls for it, before and after the call took
 * effect, and the process of the activities meanwhile. On a real Temporal server with the real workflows; it happens once all the same.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { API_VERSION, REQUEST_KIND } from '../../src/api/names.ts';
import type { EtcdRequestStatus } from '../../src/api/schemas/types.ts';
import {
  approve,
  backupNow,
  pause,
  replaceMember,
  restart,
  type Scene,
  verifyBackup,
} from '../worlds/killed-requests.ts';
import { type Death, MortalWatcher } from '../worlds/mortal-watcher.ts';
import { until, WorkflowBench } from '../worlds/workflow-bench.ts';

let bench: WorkflowBench;
beforeAll(async () => {
  bench = await WorkflowBench.start();
}, 120_000);
afterAll(() => bench.stop());

/** What comes of the request when the watcher, and the worker meanwhile, die so. */
async function carriedOut(scene: Scene, death: Death) {
  const { kube } = scene;
  const first = new MortalWatcher(bench, scene, death);
  await first.watcher.start();
  const ref = { apiVersion: API_VERSION, kind: REQUEST_KIND, namespace: 'shop', name: 'asked' };
  kube.seed({
    ...ref,
    metadata: { namespace: 'shop', name: 'asked', creationTimestamp: new Date().toISOString() },
    spec: scene.spec,
  });
  scene.kill(death.at, death.arrives);
  const statusOf = () => (kube.peek(ref)?.['status'] ?? {}) as EtcdRequestStatus;
  let second: MortalWatcher | undefined;
  await until(async () => {
    if (first.isDead && second === undefined) {
      await scene.meddle?.();
      second = new MortalWatcher(bench, scene, { at: 0, arrives: false });
      await second.watcher.start();
    }
    return statusOf().completedAt !== undefined && (death.at === 0 || second !== undefined);
  });
  // The record of an operation is written after the pass that found the request done.
  await scene.quiet();
  const left = await scene.left();
  const { phase, conditions = [] } = statusOf();
  await (second ?? first).watcher.stop();
  return {
    died: first.isDead,
    phase,
    conditions: conditions.map(({ type, status: is, reason }) => `${type} ${is} ${reason}`),
    left,
    workerDied: scene.deaths() > 0,
  };
}

const DONE = ['Accepted True Taken', 'Completed True Done', 'Ready True Completed'];

interface Sweep {
  readonly scene: (bench: WorkflowBench) => Promise<Scene>;
  readonly deaths: readonly Death[];
  readonly conditions?: readonly string[];
  readonly left: unknown;
  /** No activity has anything to do for it. */
  readonly needsNoWorker?: true;
}

const callsTo = (last: number) => Array.from({ length: last }, (_, index) => index + 1);
/** Before and after each call took effect. The watcher does the same whatever is asked for, so one action has all of them. */
const beforeAndAfter = (last: number): Death[] =>
  [true, false].flatMap(arrives => callsTo(last).map(at => ({ at, arrives })));
/** At each call, in turn after and before it took effect. */
const inTurn = (last: number): Death[] => callsTo(last).map(at => ({ at, arrives: at % 2 === 1 }));

/**
 * The watcher is killed at each of its calls: it delivers and says so where the workflow answers at once; else it asks what became of it, and
 * says that as well.
 */
const SWEEPS: Readonly<Record<string, Sweep>> = {
  Restart: {
    scene: restart,
    deaths: [{ at: 0, arrives: false }, ...beforeAndAfter(4)],
    left: { pods: 2, asked: 1 },
  },
  Pause: { scene: pause, deaths: beforeAndAfter(2), left: { isRight: true }, needsNoWorker: true },
  Approve: {
    scene: approve,
    deaths: beforeAndAfter(2),
    left: { members: 3, replaced: [true], approvals: undefined },
  },
  ReplaceMember: {
    scene: replaceMember,
    deaths: inTurn(4),
    left: { members: [0, 2, 3], pods: 3, asked: 1 },
  },
  BackupNow: {
    scene: backupNow,
    deaths: inTurn(4),
    left: { objects: 2, asked: 'ana', outcome: 'Succeeded' },
  },
  VerifyBackup: {
    scene: verifyBackup,
    deaths: inTurn(4),
    conditions: [...DONE, 'Verified True BackupVerified'],
    left: { objects: 1, verified: ['Restore'], levels: ['Restore'], pods: 0 },
  },
};

/** So many worlds at a time: more would only wait for each other. */
const AT_ONCE = 5;

it.each(Object.entries(SWEEPS))(
  '%s happens once, and its conditions end right, wherever the watcher and the worker are killed',
  async (_, { scene, deaths, conditions = DONE, left, needsNoWorker }) => {
    for (let first = 0; first < deaths.length; first += AT_ONCE) {
      const ends = deaths.slice(first, first + AT_ONCE).map(async death => {
        const end = await carriedOut(await scene(bench), death);
        return { death, ...end };
      });
      for (const end of await Promise.all(ends))
        expect(end).toMatchObject({
          died: end.death.at > 0,
          phase: 'Completed',
          conditions,
          left,
          ...(needsNoWorker === undefined && { workerDied: true }),
        });
    }
  },
  400_000,
);
