import type { ObstacleReason } from '../../api/obstacles/catalogue.ts';
import type { Consent, Step } from './decision.ts';

/** What stands in the way: a stable reason for machines, a message for people. */
export interface Obstacle {
  readonly reason: ObstacleReason;
  readonly message: string;
  /** A person who approves of this takes it out of the way. */
  readonly consent?: Consent;
  /** It goes by itself within so many milliseconds, and is nobody's fault. */
  readonly waitMs?: number;
  /** What finds out whether it is one: a step of the operation that it is in the way of. */
  readonly first?: Step;
}
