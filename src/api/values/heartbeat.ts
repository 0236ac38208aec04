/** How soon an activity counts as lost. */

/**
 * Activities heartbeat every three seconds; after so many seconds without one their worker is taken for dead. As long as a Lease
 * of the operator is kept.
 */
export const HEARTBEAT_SECONDS = 9;
