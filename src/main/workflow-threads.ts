/**
 * Makes the threads of Temporal's SDK that run workflows cheap; loaded into every thread before anything else, with
 * `node --import`. Without it everything works, at more than twice the processor time (docs/decisions/0026-*). Two
 * things are switched off that the SDK has no option for:
 *
 * - The stack of every promise, taken for the query `__stack_trace`, which then answers that it is not enabled.
 * - The watchdog of every call into a workflow: Node starts and ends a thread of the operating system for each, which is slow
 *   where processors are short. A workflow that never yields would hold up its thread; its tasks time out, and the
 *   conditions of its resource say so.
 */
import v8 from 'node:v8';
import vm from 'node:vm';
import { isMainThread } from 'node:worker_threads';

function leavePromisesAlone(): void {
  v8.promiseHooks.createHook = () => {
    // The SDK goes on without, and says so once on the console, in a line that is no log record.
    const { warn } = console;
    console.warn = () => {
      console.warn = warn;
    };
    throw new Error('promise stacks are disabled');
  };
}

function callWithoutWatchdog(): void {
  const { runInContext } = vm.Script.prototype;
  vm.Script.prototype.runInContext = function withoutTimeout(context, options = {}) {
    const { timeout: _, ...others } = options;
    return runInContext.call(this, context, others);
  };
}

if (!isMainThread) {
  leavePromisesAlone();
  callWithoutWatchdog();
}
