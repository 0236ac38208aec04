/** How much Temporal has recorded of all workflows. */
import { Client, Connection } from '@temporalio/client';
import type { SimulatedWorld } from '../simulated/world.ts';

/** One run of a workflow, open or closed. */
interface RecordedRun {
  readonly workflowId: string;
  readonly runId: string;
  readonly events: number;
  readonly bytes: number;
}

interface Recorded {
  readonly events: number;
  readonly bytes: number;
  readonly runs: number;
}

/** So many runs are asked for at once. */
const AT_ONCE = 16;

/** All runs of all workflows. Of a run that is open a list does not know how long it is: it is asked for by itself. */
export async function recordedRuns({ temporal }: Pick<SimulatedWorld, 'temporal'>): Promise<RecordedRun[]> {
  const connection = await Connection.connect({ address: temporal.address });
  try {
    const client = new Client({ connection, namespace: 'etcd-operator' });
    const open: { readonly workflowId: string; readonly runId: string }[] = [];
    const found: RecordedRun[] = [];
    for await (const run of client.workflow.list()) {
      const { workflowId, runId, status, historyLength: events, historySize: bytes = 0 } = run;
      if (status.name === 'RUNNING') open.push({ workflowId, runId });
      else found.push({ workflowId, runId, events, bytes });
    }
    for (let from = 0; from < open.length; from += AT_ONCE) {
      const asked = open.slice(from, from + AT_ONCE).map(async ({ workflowId, runId }) => {
        const { historyLength: events, historySize: bytes = 0 } = await client.workflow
          .getHandle(workflowId, runId)
          .describe();
        return { workflowId, runId, events, bytes };
      });
      found.push(...(await Promise.all(asked)));
    }
    return found;
  } finally {
    await connection.close();
  }
}

export async function recorded(world: Pick<SimulatedWorld, 'temporal'>): Promise<Recorded> {
  const all = await recordedRuns(world);
  const sum = (of: 'events' | 'bytes') => all.reduce((total, run) => total + run[of], 0);
  return { events: sum('events'), bytes: sum('bytes'), runs: all.length };
}
