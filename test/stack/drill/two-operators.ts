/** Two releases of the operator for the drills of one file: the one before is installed first, this checkout at the end. */
import { loadavg } from 'node:os';
import { afterAll, beforeAll } from 'vitest';
import { installOperator } from '../../../local/operator.ts';
import { openWorld, type World } from '../e2e.ts';
import { type Releases, releasesOf } from '../operator-release.ts';
import { OperatorRoll } from './operator-roll.ts';

export interface TwoOperators {
  readonly world: () => World;
  readonly releases: () => Releases;
  readonly roll: () => OperatorRoll;
}

/** Installs the previous release with its own CRDs and roles. To be called before anything that makes clusters. */
export function twoOperators(): TwoOperators {
  let world: World;
  let releases: Releases;
  let roll: OperatorRoll;
  beforeAll(async () => {
    world = await openWorld();
    releases = await releasesOf(world);
    const { previous, current } = releases;
    console.log(`from ${previous.title} to ${current.title}, load ${load()}`);
    roll = new OperatorRoll(world);
    await roll.applyPrerequisites(previous);
    await roll.applyOperator(previous);
    await roll.settled(previous);
    // Releases before the EtcdRequest knew none; it comes back with the CRDs of this checkout.
    const crd = 'crd/etcdrequests.etcd.database.coreos.com';
    await world.stack.kubectl('delete', crd, '--ignore-not-found', '--timeout=60s');
  });
  afterAll(async () => {
    await installOperator(world.stack);
    await releases?.close();
    await world.close();
  });
  return { world: () => world, releases: () => releases, roll: () => roll };
}

/** The load average of the last minute, for users. */
export const load = (): string => loadavg()[0]?.toFixed(0) ?? '';

export const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;
