/**
 * An EtcdRequest while the process that makes the passes and the steps is killed, at each of the calls that follow, before and after it took
 * effect. On a real Temporal server with the real workflows; it happens once all the same.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { API_VERSION, REQUEST_KIND } from '../../src/api/names.ts';
import type { EtcdRequestStatus } from '../../src/api/schemas/types.ts';
import { Reflector } from '../../src/kube/reflector.ts';
import { WATCHER_FIELD_MANAGER } from '../../src/watcher/conditions/condition-writer.ts';
import { temporalPort } from '../../src/watcher/temporal/client.ts';
import { createWatcher } from '../../src/watcher/watcher.ts';
import { ListLogger, noSurveyor } from '../watcher/fakes.ts';
import {
  approve,
  backupNow,
  pause,
  replaceMember,
  restart,
  type Scene,
  verifyBackup,
} from '../worlds/killed-requests.ts';
import { until, WorkflowBench } from '../worlds/workflow-bench.ts';

interface Death {
  readonly at: number;
  readonly arrives: boolean;
}

let bench: WorkflowBench;
beforeAll(async () => {
  bench = await WorkflowBench.start();
}, 120_000);
afterAll(() => bench.stop());

function watcherOf({ kube: world, taskQueue, unseen }: Scene) {
  const kube = world.as(WATCHER_FIELD_MANAGER);
  return createWatcher({
    kube,
    reflector: ({ onChange, ...options }) =>
      new Reflector({ client: kube, ...options, ...(options.kind.kind !== unseen && { onChange }) }),
    temporal: temporalPort(() => bench.client, { taskQueue }),
    health: () => ({ ask: async () => 'well', forget: () => {}, close: () => {} }),
    surveyor: noSurveyor,
    recordEvent: () => {},
    options: { taskQueue },
    logger: new ListLogger(),
  });
}

/** What comes of the request when the worker dies so. */
async function carriedOut(scene: Scene, death: Death) {
  const { kube } = scene;
  const watcher = watcherOf(scene);
  await watcher.start();
  const ref = { apiVersion: API_VERSION, kind: REQUEST_KIND, namespace: 'shop', name: 'asked' };
  scene.kill(death.at, death.arrives);
  kube.seed({
    ...ref,
    metadata: { namespace: 'shop', name: 'asked', creationTimestamp: new Date().toISOString() },
    spec: scene.spec,
  });
  const statusOf = () => (kube.peek(ref)?.['status'] ?? {}) as EtcdRequestStatus;
  await until(() => statusOf().completedAt !== undefined);
  // The record of an operation is written after the pass that found the request done.
  await scene.quiet();
  const left = await scene.left();
  const { phase, conditions = [] } = statusOf();
  await watcher.stop();
  return {
    phase,
    conditions: conditions.map(({ type, status: is, reason }) => `${type} ${is} ${reason}`),
    left,
    died: scene.deaths() > 0,
  };
}

const DONE = ['Accepted True Taken', 'Completed True Done', 'Ready True Completed'];

interface Sweep {
  readonly scene: (bench: WorkflowBench) => Promise<Scene>;
  readonly deaths: readonly Death[];
  readonly conditions?: readonly string[];
  readonly left: unknown;
}

/** At every so many calls, in turn after and before it took effect. */
const deaths = (count: number, every: number): Death[] =>
  Array.from({ length: count }, (_, index) => ({ at: 1 + index * every, arrives: index % 2 === 0 }));

const SWEEPS: Readonly<Record<string, Sweep>> = {
  Restart: { scene: restart, deaths: deaths(12, 3), left: { pods: 2, asked: 1 } },
  Pause: { scene: pause, deaths: deaths(16, 1), left: { wasPaused: true, isPaused: false } },
  Approve: {
    scene: approve,
    deaths: deaths(8, 3),
    left: { members: 3, replaced: [true], approvals: undefined },
  },
  ReplaceMember: {
    scene: replaceMember,
    deaths: deaths(8, 5),
    left: { members: [0, 2, 3], pods: 3, asked: 1 },
  },
  BackupNow: {
    scene: backupNow,
    deaths: deaths(8, 3),
    left: { objects: 2, asked: 'ana', outcome: 'Succeeded' },
  },
  VerifyBackup: {
    scene: verifyBackup,
    deaths: deaths(8, 3),
    conditions: [...DONE, 'Verified True BackupVerified'],
    left: { objects: 1, verified: ['Restore'], levels: ['Restore'], pods: 0 },
  },
};

/** So many worlds at a time: more would only wait for each other. */
const AT_ONCE = 4;

it.each(Object.entries(SWEEPS))(
  '%s happens once, and its conditions end right, wherever the worker is killed',
  async (_, { scene, deaths: all, conditions = DONE, left }) => {
    for (let first = 0; first < all.length; first += AT_ONCE) {
      const ends = all.slice(first, first + AT_ONCE).map(async death => {
        const end = await carriedOut(await scene(bench), death);
        return { death, ...end };
      });
      for (const end of await Promise.all(ends))
        expect(end).toMatchObject({ died: true, phase: 'Completed', conditions, left });
    }
  },
  400_000,
);
