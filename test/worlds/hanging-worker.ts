/**
 * A worker in a process of its own, to be killed: it performs steps until one at which it hangs, heartbeating.
 * Usage: hanging-worker.ts <address> <task queue> <creation or approvedRepair> <steps to perform before it hangs>. Prints a
 * line when it hangs.
 */
import { NativeConnection, Worker } from '@temporalio/worker';
import { parseConfig } from '../../src/main/config/config.ts';
import { workerLimits } from '../../src/main/temporal/worker.ts';
import { approvedRepair, creation, scriptedActivities } from './scripted-activities.ts';
import { beQuiet, bundleOfWorkflows } from './workflow-bench.ts';

const [address = '', taskQueue = '', story = '', before = '0'] = process.argv.slice(2);
const script = story === 'approvedRepair' ? approvedRepair() : creation();
const hangsAt = script.remaining[Number(before)]?.kind;
if (hangsAt === undefined) throw new RangeError(`${script.operation} has no step ${before}`);
script.behaviours.set(hangsAt, () => {
  console.log(`hangs at ${hangsAt}`);
  return new Promise<never>(() => {});
});
beQuiet();
const worker = await Worker.create({
  connection: await NativeConnection.connect({ address }),
  taskQueue,
  activities: scriptedActivities(script),
  workflowBundle: { code: await bundleOfWorkflows() },
  ...workerLimits(parseConfig({}).worker),
});
await worker.run();
