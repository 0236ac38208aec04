/**
 * A worker in a process of its own, with the limits of the operator, to be killed and to be slowed down: every resource is as
 * it should be. Usage: node restarted-worker.ts <address> <task queue>. Prints `ready` and begins to work when it reads a line.
 */
import { once } from 'node:events';
import { NativeConnection, Worker } from '@temporalio/worker';
import { parseConfig } from '../../src/main/config/config.ts';
import { workerLimits } from '../../src/main/temporal/worker.ts';
import { Script, scriptedActivities } from './scripted-activities.ts';
import { beQuiet, bundleOfWorkflows } from './workflow-bench.ts';

const [address = '', taskQueue = ''] = process.argv.slice(2);
beQuiet();
const worker = await Worker.create({
  ...workerLimits(parseConfig({}).worker),
  connection: await NativeConnection.connect({ address }),
  taskQueue,
  activities: scriptedActivities(new Script()),
  workflowBundle: { code: await bundleOfWorkflows() },
});
console.log('ready');
await once(process.stdin, 'data');
await worker.run();
