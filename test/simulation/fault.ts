/** What befalls a world, and whom. */
import type { Random } from './random.ts';
import type { SimWorld } from './sim-world.ts';

/** Answers what it did, or undefined when there was nothing to do. */
export type Fault = (world: SimWorld, random: Random) => string | undefined;

/** What befalls one call: its process dies before or after it, it is refused, its answer is lost, nobody waits for it. */
export type Fate = 'crashBefore' | 'crashAfter' | 'apiError' | 'lostAnswer' | 'zombie';
