/**
 * `make bench`: what the operator takes, beside a floor measured on the same machine in the same run. Prints a table and
 * judges nothing: times depend on the machine, ratios hardly do.
 * Usage: scripts/bench.ts [replay] [fleet] [backup] [restore] [creation] [reaction] [idle] [upgrade], all of them when none is named. The
 * last four work on a local stack named `bench`, which is left up for the next run (`local/local down --wipe --name bench` ends it).
 * The fleet takes `--clusters N` (up to 1,000), `--phases a,b` (./bench/fleet/phases.ts), `--rate R` (creations a second), `--replicas N` and
 * `--temporal postgres`.
 */
import {
  awaitCondition,
  createNamespace,
  manifest,
  removeNamespace,
  startWorld,
  type World,
} from '../test/stack/e2e.ts';
import { parseBenchArguments } from './bench/arguments.ts';
import { measureBackup } from './bench/backup.ts';
import { measureCreation } from './bench/creation.ts';
import { measureFleet } from './bench/fleet.ts';
import { type Row, table } from './bench/figures.ts';
import { measureIdle } from './bench/idle.ts';
import { measureReaction } from './bench/reaction.ts';
import { measureReplay } from './bench/replay.ts';
import { measureRestore } from './bench/restore.ts';
import { measureUpgrade } from './bench/upgrade.ts';

const NAMESPACE = 'bench';
const IDLE = 'idle';
const ON_STACK = ['creation', 'reaction', 'idle', 'upgrade'];
const ALL = ['replay', 'fleet', 'backup', 'restore', ...ON_STACK];
const DATABASES_IN_MEBIBYTES = [256, 1024];

const { names: named, fleet } = parseBenchArguments(process.argv.slice(2), ALL);
const measures = (name: string) => named.length === 0 || named.includes(name);

const begun = performance.now();
const rows: Row[] = [];
if (measures('replay')) {
  console.log('replays of the longest recorded histories ...');
  rows.push(...(await measureReplay()));
}
if (measures('fleet')) {
  console.log('a fleet on simulated nodes ...');
  if (!(await measureFleet(fleet))) process.exitCode = 1;
}
if (measures('backup')) {
  console.log('backups of 256 MiB and 1 GiB, in turns with etcdctl ...');
  for (const mebibytes of DATABASES_IN_MEBIBYTES) rows.push(...(await measureBackup(mebibytes)));
}
if (measures('restore')) {
  console.log('restores of 256 MiB and 1 GiB, in turns with etcdutl ...');
  for (const mebibytes of DATABASES_IN_MEBIBYTES) rows.push(...(await measureRestore(mebibytes)));
}
if (ON_STACK.some(measures)) await measureOnStack();
if (rows.length > 0) console.log(`\n${table(rows)}`);
console.log(`\n${((performance.now() - begun) / 1000).toFixed(0)} s in all`);

async function measureOnStack(): Promise<void> {
  const world = await startWorld('bench');
  try {
    await removeNamespace(world, NAMESPACE);
    await createNamespace(world, NAMESPACE);
    if (measures('creation')) {
      console.log('creation, in turns with the same pods by hand ...');
      rows.push(await measureCreation(world, NAMESPACE));
    }
    if (measures('reaction') || measures('idle')) await measureLeftAlone(world);
    if (measures('upgrade')) {
      console.log('upgrades there and back, in turns with the same by hand ...');
      rows.push(await measureUpgrade(world, NAMESPACE));
    }
  } finally {
    await removeNamespace(world, NAMESPACE);
    await world.close();
  }
}

/** On one cluster that is there alone: whatever else is in the namespace is not idle. */
async function measureLeftAlone(world: World): Promise<void> {
  await world.kube.apply(manifest(NAMESPACE, IDLE, { size: 3, version: '3.6.16' }));
  await awaitCondition(world, { namespace: NAMESPACE, name: IDLE }, { type: 'Healthy' });
  if (measures('reaction')) {
    console.log('reaction to signals ...');
    rows.push(...(await measureReaction(world, NAMESPACE, IDLE)));
  }
  if (measures('idle')) {
    console.log('idle cost: two minutes, when the cluster has come to rest ...');
    rows.push(...(await measureIdle(world, NAMESPACE, IDLE)));
  }
}
