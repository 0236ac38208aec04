/**
 * `make bench`: what the operator takes, beside a floor measured on the same machine in the same run. Works on a local
 * stack named `bench`, which it leaves up for the next run (`local/local down --wipe --name bench` ends it). Prints
 * a table and judges nothing: times depend on the machine, ratios hardly do.
 */
import {
  awaitCondition,
  createNamespace,
  manifest,
  removeNamespace,
  startWorld,
} from '../test/support/e2e.ts';
import { measureBackup } from './bench/backup.ts';
import { measureCreation } from './bench/creation.ts';
import { type Row, table } from './bench/figures.ts';
import { measureIdle } from './bench/idle.ts';
import { measureReaction } from './bench/reaction.ts';

const NAMESPACE = 'bench';
const IDLE = 'idle';

const begun = performance.now();
const rows: Row[] = [];
console.log('backups of 256 MiB and 1 GiB, in turns with etcdctl ...');
for (const mebibytes of [256, 1024]) rows.push(...(await measureBackup(mebibytes)));
const world = await startWorld('bench');
try {
  await removeNamespace(world, NAMESPACE);
  await createNamespace(world, NAMESPACE);
  console.log('creation, in turns with the same pods by hand ...');
  rows.push(await measureCreation(world, NAMESPACE));
  await world.kube.apply(manifest(NAMESPACE, IDLE, { size: 3, version: '3.6.16' }));
  await awaitCondition(world, { namespace: NAMESPACE, name: IDLE }, { type: 'Healthy' });
  console.log('reaction to signals ...');
  rows.push(...(await measureReaction(world, NAMESPACE, IDLE)));
  console.log('idle cost, 30 s ...');
  rows.push(...(await measureIdle(world, NAMESPACE, IDLE)));
  console.log(`\n${table(rows)}\n\n${((performance.now() - begun) / 1000).toFixed(0)} s in all`);
} finally {
  await removeNamespace(world, NAMESPACE);
  await world.close();
}
