/** What befalls a world, and whom. */
import type { Random } from './random.ts';
import type { SimWorld } from './sim-world.ts';

/** Answers what it did, or undefined when there was nothing to do. */
export type Fault = (world: SimWorld, random: Random) => string | undefined;
