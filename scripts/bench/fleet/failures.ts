/** The operator, the API server or Temporal goes away and comes back. */
import { setTimeout as delay } from 'node:timers/promises';
import { poll } from '../../../test/stack/poll.ts';
import { cost } from './cost.ts';
import { grown, largest } from './count.ts';
import { type Figure, percentile, type Section, spread } from './figure.ts';
import { changeAndRepair, type Fleet, sampleOf, untilQuiet } from './fleet.ts';
import { targetsOf } from './targets.ts';
import { reading, untilWatched } from './usage.ts';

/** How many clusters are changed as soon as it is possible. */
const CHANGES = 20;
const LOOKED_AFTER_PATIENCE_MS = 300_000;
/** How long servers are away. */
const AWAY_MS = 5_000;
/** Many changes at once are looked for less often. */
const INTERVAL_MS = 250;

const changeSome = (fleet: Fleet): Promise<number[]> =>
  Promise.all(sampleOf(fleet.names, CHANGES).map(name => changeAndRepair(fleet, name, INTERVAL_MS)));

/** kill -9 of the replica that watches; another one is started at once, as a kubelet does. */
export async function operatorKilled(fleet: Fleet): Promise<Section> {
  const { world, names, progress } = fleet;
  const watching = await untilWatched(world);
  const before = await reading(world);
  await world.killOperator(watching);
  const killed = Date.now();
  const [, took, again] = await Promise.all([
    world.startOperator(),
    changeSome(fleet),
    untilLookedAfter(fleet, killed),
  ]);
  progress('every cluster is looked after again');
  await untilQuiet(fleet);
  const after = await reading(world);
  const isList = (call: string): boolean => call.startsWith('GET ');
  const calls = [...grown(before.callsByKind, after.callsByKind)];
  return {
    figures: [
      ...spread('until every member of a cluster is asked again', again, {
        target: targetsOf(names.length).lookedAfter,
      }),
      ...changes('made at the kill', took),
      {
        what: 'API calls that read',
        unit: '',
        value: calls.reduce((all, [call, count]) => all + (isList(call) ? count : 0), 0),
        target: 'lists of each kind',
      },
      ...cost(before, after, { clusters: names.length }),
    ],
    notes: [`API calls: ${largest(new Map(calls), 1)}`],
  };
}

/** SIGKILL of the API server, which is away for five seconds. */
export async function apiserverRestarted(fleet: Fleet): Promise<Section> {
  const { world, names } = fleet;
  await untilQuiet(fleet);
  const before = await reading(world);
  await world.plane.stopApiserver();
  await delay(AWAY_MS);
  await world.plane.startApiserver();
  const took = await changeSome(fleet);
  await untilQuiet(fleet);
  const after = await reading(world);
  return {
    figures: [
      ...changes('made when it serves again', took),
      ...cost(before, after, { clusters: names.length }),
    ],
    notes: [`API calls: ${largest(grown(before.callsByKind, after.callsByKind), 1)}`],
  };
}

/** SIGKILL of Temporal, which is away for five seconds, in which clusters change. */
export async function temporalRestarted(fleet: Fleet): Promise<Section> {
  const { world, names } = fleet;
  await untilQuiet(fleet);
  const before = await reading(world);
  await world.temporal.kill();
  const away = performance.now();
  const repairs = changeSome(fleet);
  await delay(AWAY_MS);
  await world.temporal.restart();
  const back = performance.now() - away;
  const took = (await repairs).map(total => Math.max(0, total - back));
  await untilQuiet(fleet);
  const after = await reading(world);
  return {
    figures: [
      ...changes('made while it was away, from when it serves again', took),
      ...cost(before, after, { clusters: names.length }),
    ],
  };
}

const changes = (which: string, took: readonly number[]): Figure[] => [
  ...spread(`changes ${which}: until the end of the first step`, took),
  { what: `changes ${which}: the slowest`, unit: 's', value: percentile(took, 1) / 1_000 },
];

/** Milliseconds from `since` until all members of each cluster were asked for their health, once all were. */
async function untilLookedAfter({ world, names }: Fleet, since: number): Promise<number[]> {
  let asked: readonly number[] = [];
  const look = async (): Promise<boolean> => {
    const again = await world.kubelet.askedAgain(since);
    asked = [...again.values()].filter(at => at !== undefined);
    return asked.length >= names.length;
  };
  await poll(look, {
    intervalMs: 500,
    timeoutMs: LOOKED_AFTER_PATIENCE_MS,
    otherwise: () => `the members of ${names.length - asked.length} clusters are asked no more`,
  });
  return asked.map(at => at - since);
}
