/**
 * Replays histories as a worker does that was just started, in a process of its own, without
 * anything in its cache. Prints a JSON list of {@link Replayed}, the floor first. Usage: node scripts/bench/replay-process.ts
 */
import { fileURLToPath } from 'node:url';
import { historyFromJSON } from '@temporalio/common/lib/proto-utils.js';
import { DefaultLogger, type ReplayWorkerOptions, Runtime, Worker } from '@temporalio/worker';
import { bundleWorkflows } from '../../src/main/temporal/workflow-bundle.ts';
import { historyOfFloor, longestOfEachType } from './recorded.ts';

export interface Replayed {
  readonly type: string;
  readonly events: number;
  /** Of processor time, of all threads, for each replay. */
  readonly milliseconds: readonly number[];
}

const SAMPLES = 5;

const quiet = new DefaultLogger('ERROR', () => {});
Runtime.install({ logger: quiet, telemetryOptions: { logging: { filter: 'OFF' } } });
const path = fileURLToPath(new URL('floor-workflow.ts', import.meta.url));
const workflowBundle = { code: await bundleWorkflows(path, quiet) };
// Replays would else run as for a debugger, which is not how workers run. The limit is one of a clock, and machines are busy.
const options = { workflowBundle, debugMode: false, isolateExecutionTimeout: '10m' } as ReplayWorkerOptions;

const longest = longestOfEachType();
const events = longest[0]?.history.events.length ?? 0;
const all = [historyOfFloor(Math.round(events / 6)), ...longest];
const replayed = all.map(({ type, history }) => ({
  type,
  events: history.events.length,
  milliseconds: [] as number[],
}));

// In turns, so that a machine that is busy for a while is so for all of them; the first turn warms up.
const turns = Array.from({ length: 1 + SAMPLES }, () => all).flat();
const histories = turns.map(({ workflowId, history }) => ({ workflowId, history: historyFromJSON(history) }));
let done = 0;
let before = process.cpuUsage();
for await (const { error } of Worker.runReplayHistories(options, histories)) {
  if (error !== undefined) throw error;
  const { user, system } = process.cpuUsage(before);
  if (done >= all.length) replayed[done % all.length]?.milliseconds.push((user + system) / 1000);
  done += 1;
  before = process.cpuUsage();
}
console.log(JSON.stringify(replayed satisfies Replayed[]));
process.exit(0);
