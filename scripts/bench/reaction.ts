/** How long the operator takes from a change of the resource, and from a signal, to looking. */
import { Client, Connection } from '@temporalio/client';
import { poll } from '../../test/stack/poll.ts';
import { readCluster, type World } from '../../test/stack/e2e.ts';
import type { Row } from './figures.ts';

const REPETITIONS = 15;

type Handle = ReturnType<Client['workflow']['getHandle']>;
type HistoryEvent = NonNullable<Awaited<ReturnType<Handle['fetchHistory']>>['events']>[number];

/** Milliseconds, by the clock of the Temporal server, which is that of this machine. */
export async function measureReaction(world: World, namespace: string, name: string): Promise<Row[]> {
  const connection = await Connection.connect({ address: world.stack.temporalAddress });
  try {
    const client = new Client({ connection, namespace: 'etcd-operator' });
    const workflow = (await readCluster(world, namespace, name))?.status?.workflowID;
    if (workflow === undefined) throw new Error(`${namespace}/${name} has no workflow yet`);
    const handle = client.workflow.getHandle(workflow);
    const signalled: number[] = [];
    const looked: number[] = [];
    const floor: number[] = [];
    for (let repetition = 0; repetition < REPETITIONS; repetition += 1) {
      floor.push(await roundTrip(handle));
      const { runId } = await handle.describe();
      const begun = Date.now();
      await handle.signal('resync', { by: 'bench' });
      const pass = await nextPass(() => eventsFrom(client, workflow, runId), begun);
      signalled.push(pass.started - pass.signalled);
      looked.push(pass.completed - pass.signalled);
    }
    const what = 'one call to Temporal';
    return [
      {
        what: 'signal to start of the pass',
        unit: 'ms',
        measured: signalled,
        floor: { what, measured: floor },
      },
      { what: 'signal to end of the pass', unit: 'ms', measured: looked, floor: { what, measured: floor } },
    ];
  } finally {
    await connection.close();
  }
}

async function roundTrip(handle: Handle): Promise<number> {
  const begun = performance.now();
  await handle.describe();
  return performance.now() - begun;
}

interface Pass {
  readonly signalled: number;
  readonly started: number;
  readonly completed: number;
}

/** The events of a run and of those that it continued as, which may happen at any time. */
async function eventsFrom(client: Client, workflow: string, runId: string): Promise<readonly HistoryEvent[]> {
  const events: HistoryEvent[] = [];
  for (let run: string | undefined = runId; run; ) {
    const history = await client.workflow.getHandle(workflow, run).fetchHistory();
    events.push(...(history.events ?? []));
    run = events.at(-1)?.workflowExecutionContinuedAsNewEventAttributes?.newExecutionRunId ?? undefined;
  }
  return events;
}

/** The first signal after `since` and the pass that it caused. */
function nextPass(eventsNow: () => Promise<readonly HistoryEvent[]>, since: number): Promise<Pass> {
  return poll(async () => {
    const later = (await eventsNow()).filter(event => milliseconds(event) >= since);
    const signal = later.find(
      event => event.workflowExecutionSignaledEventAttributes?.signalName === 'resync',
    );
    const started = later.find(event => event.activityTaskStartedEventAttributes);
    const completed = later.find(event => event.activityTaskCompletedEventAttributes);
    if (signal === undefined || started === undefined || completed === undefined) return undefined;
    return {
      signalled: milliseconds(signal),
      started: milliseconds(started),
      completed: milliseconds(completed),
    };
  });
}

function milliseconds({ eventTime }: HistoryEvent): number {
  return Number(eventTime?.seconds ?? 0) * 1000 + Number(eventTime?.nanos ?? 0) / 1e6;
}
