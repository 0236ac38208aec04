/**
 * A process that asks Temporal through both of the operator's connections, once for each line that it reads:
 * `node calls-temporal.ts ADDRESS NAMESPACE`. It answers each with a line of JSON.
 */
import { createInterface } from 'node:readline';
import { lazyConnection, workerConnection } from '../../src/main/temporal/connection.ts';

/** Which of them answered. */
export interface Answered {
  readonly client: boolean;
  readonly worker: boolean;
}

const CALL_MS = 5_000;
const [, , address = '', namespace = ''] = process.argv;
const client = lazyConnection({ address, namespace });
const worker = await workerConnection({ address, namespace });

async function answers(connection: typeof client | typeof worker): Promise<boolean> {
  const call = () => connection.workflowService.describeNamespace({ namespace });
  return connection.withDeadline(Date.now() + CALL_MS, call).then(
    () => true,
    () => false,
  );
}

for await (const _ of createInterface({ input: process.stdin })) {
  const [ofClient, ofWorker] = await Promise.all([answers(client), answers(worker)]);
  process.stdout.write(`${JSON.stringify({ client: ofClient, worker: ofWorker } satisfies Answered)}\n`);
}
process.exit(0);
