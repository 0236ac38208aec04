/** A worker whose connection is exchanged with the credentials for Temporal, and a question that only it can answer. */
import type { Client } from '@temporalio/client';
import { Worker } from '@temporalio/worker';
import type { TemporalLink } from '../../src/main/temporal/link.ts';
import { poll } from '../stack/poll.ts';
import { Script, scriptedActivities } from './scripted-activities.ts';
import { Entity } from './workflow-bench.ts';

let entities = 0;

export interface LinkedWorker {
  readonly worker: Worker;
  /** The workflow that it runs. */
  readonly entity: Entity;
  /** Waits until the client of the link reaches Temporal and the worker answers a question to its workflow. */
  answers(): Promise<void>;
}

/**
 * Runs workflows through the link, once they answer.
 * @param direct reaches Temporal whatever becomes of the link
 * @param stops to which the end of the worker is added
 */
export async function workThrough(
  link: TemporalLink,
  { direct, code, stops }: { direct: Client; code: string; stops: (() => Promise<unknown>)[] },
): Promise<LinkedWorker> {
  const entity = new Entity(direct, (entities += 1));
  const { worker } = await link.makeWorkers(async connection => {
    const made = await Worker.create({
      connection,
      taskQueue: entity.taskQueue,
      activities: scriptedActivities(new Script()),
      workflowBundle: { code },
    });
    return { worker: made, reconnect: to => (made.connection = to) };
  });
  const ended = worker.run();
  stops.push(async () => {
    worker.shutdown();
    await ended;
  });
  await entity.changed();
  const ask = () => {
    const client = link.client();
    return client.withDeadline(Date.now() + 15_000, () =>
      client.workflow.getHandle(entity.id).query('status'),
    );
  };
  const answers = async () => {
    await poll(async () => (await ask()) !== undefined, { timeoutMs: 150_000 });
  };
  await answers();
  return { worker, entity, answers };
}
