/** Looks into the histories of a cluster's operations, and does to its workflows what users can do to them. */
import { Client, Connection } from '@temporalio/client';
import { readCluster, type World } from '../e2e.ts';
import { poll } from '../poll.ts';
import { holdOperatorsWhen } from '../operator-processes.ts';
import type { Place } from './drill.ts';
import { strike, type Verb } from './strike.ts';
import { type ActivityName, type TimedActivity, timedActivities } from './timeline.ts';

export interface OperationRun {
  readonly runId: string;
  /** The workflow type. */
  readonly operation: string;
  /** When it was read. */
  readonly isOver: boolean;
  /** In the order in which they were completed. */
  readonly completed: readonly ActivityName[];
  /** The same with their times. */
  readonly timed: readonly TimedActivity[];
}

interface Listed {
  readonly runId: string;
  readonly type: string;
  readonly isOver: boolean;
  readonly startTime: Date;
}

export interface Operations {
  /** The newest run of the slot, over or not; undefined when there was none yet. */
  newest(): Promise<OperationRun | undefined>;
  /** All runs after `before`, the oldest first: what comes after a look that found something in the way is another run. */
  since(before: OperationRun | undefined): Promise<readonly OperationRun[]>;
  /** Waits for a run of this operation, after `before`, for which `is` holds. */
  await(
    operation: string,
    before: OperationRun | undefined,
    is: (run: OperationRun) => boolean,
  ): Promise<OperationRun>;
  /**
   * Ends or restarts a workflow as users do, and at once: what is struck may last for a second only.
   * @throws when this run of the operation had ended before it, or the entity, was struck
   */
  act(verb: Verb, on: 'operation' | 'entity', run: OperationRun): Promise<void>;
  /** The same to the present run of any workflow. */
  strikeNow(verb: Verb, workflowId: string): Promise<void>;
  /**
   * Keeps every operator from going on as soon as a run of this operation, other than `before`, has an activity under way, and
   * lets them go on when `act` is done. False when that run was over by then; `act` is not called.
   */
  whileHeld(
    operation: string,
    before: OperationRun | undefined,
    act: (run: OperationRun) => Promise<void>,
  ): Promise<boolean>;
  /** Sends the entity a signal; a request names what it is for. */
  signal(name: string, request?: object): Promise<void>;
  close(): Promise<void>;
}

/** How often a history is read, in milliseconds: shorter than the shortest activity. */
const CHECK_MS = 20;
/** Three members in new pods take two minutes on a busy machine before the last activity comes. */
const PATIENT_MS = 300_000;

/** @param workflowId the entity's; that of the EtcdCluster when it is left out */
export async function openOperations(world: World, at: Place, workflowId?: string): Promise<Operations> {
  const connection = await Connection.connect({ address: world.stack.temporalAddress });
  const client = new Client({ connection, namespace: 'etcd-operator' });
  const entity = workflowId ?? (await readCluster(world, at.namespace, at.name))?.status?.workflowID ?? '';
  const slot = `${entity}/operation`;
  const newest = async (): Promise<OperationRun | undefined> => {
    const handle = client.workflow.getHandle(slot);
    const described = await handle.describe().catch(() => undefined);
    if (described === undefined) return undefined;
    const { runId, type, status } = described;
    const isOver = status.name !== 'RUNNING';
    const timed = await timedOf({ runId });
    return { runId, operation: type, isOver, completed: timed.map(({ name }) => name), timed };
  };
  /** Runs that are over, by their ids. */
  const over = new Map<string, OperationRun>();
  const runOf = async ({ runId, type, isOver }: Listed): Promise<OperationRun> => {
    const known = over.get(runId);
    if (known !== undefined) return known;
    const timed = await timedOf({ runId });
    const run = { runId, operation: type, isOver, completed: timed.map(({ name }) => name), timed };
    if (isOver) over.set(runId, run);
    return run;
  };
  /** Those that a list shows, which does not show the newest at once. */
  const listed = async (before: OperationRun | undefined): Promise<readonly Listed[]> => {
    const found: Listed[] = [];
    for await (const { runId, type, status, startTime } of client.workflow.list({
      query: `WorkflowId = "${slot}"`,
    }))
      found.push({ runId, type, isOver: status.name !== 'RUNNING', startTime });
    found.sort((a, b) => a.startTime.getTime() - b.startTime.getTime());
    return found.slice(found.findIndex(({ runId }) => runId === before?.runId) + 1);
  };
  const since = async (before: OperationRun | undefined): Promise<readonly OperationRun[]> => {
    const last = await newest();
    const older = (await listed(before)).filter(({ runId }) => runId !== last?.runId);
    const isNew = last !== undefined && last.runId !== before?.runId;
    return [...(await Promise.all(older.map(runOf))), ...(isNew ? [last] : [])];
  };
  const timedOf = async ({ runId }: Pick<OperationRun, 'runId'>): Promise<TimedActivity[]> => {
    const { events } = await client.workflow.getHandle(slot, runId).fetchHistory();
    return timedActivities(events ?? []);
  };
  const strikeNow = async (verb: Verb, workflowId: string): Promise<void> => {
    const { runId } = await client.workflow.getHandle(workflowId).describe();
    await strike(world, client, { workflowId, runId, verb });
  };
  return {
    newest,
    since,
    await: (operation, before, is) =>
      poll(
        async () => {
          const runs = await since(before);
          return runs.find(run => run.operation === operation && is(run));
        },
        {
          timeoutMs: PATIENT_MS,
          intervalMs: CHECK_MS,
          otherwise: async () =>
            `no ${operation} came to that: ${JSON.stringify(await newest().catch(() => undefined))}`,
        },
      ),
    async act(verb, on, { runId }) {
      // The CLI takes seconds on a busy machine, and the operation would go on meanwhile.
      const release = await holdOperatorsWhen(world, async () => true);
      try {
        if (on === 'operation') return await strike(world, client, { workflowId: slot, runId, verb });
        const { status } = await client.workflow.getHandle(slot, runId).describe();
        if (status.name !== 'RUNNING')
          throw new Error(`${slot} (${runId}) had ended before its entity was struck`);
        await strikeNow(verb, entity);
      } finally {
        release();
      }
    },
    strikeNow,
    async whileHeld(operation, before, act) {
      const release = await holdOperatorsWhen(world, async () => {
        const { runId, type, raw, status } = await client.workflow.getHandle(slot).describe();
        const isNew = runId !== before?.runId && type === operation;
        return isNew && ((raw.pendingActivities ?? []).length > 0 || status.name !== 'RUNNING');
      });
      try {
        const { runId, status } = await client.workflow.getHandle(slot).describe();
        if (status.name !== 'RUNNING') return false;
        await act({ runId, operation, isOver: false, completed: [], timed: [] });
        return true;
      } finally {
        release();
      }
    },
    async signal(name, request = {}) {
      await client.workflow.getHandle(entity).signal(name, { by: 'drill', ...request });
    },
    close: () => connection.close(),
  };
}
