import { type WaitOutcome, waitUntil } from '../runtime/poll.ts';
import type { Perform } from './shared/perform.ts';

/** Lets time pass, until the planner is to look again. What changes meanwhile is seen then. */
export const awaitQuiet: Perform<'awaitQuiet', WaitOutcome> = (deps, _ref, step) =>
  waitUntil(deps, () => Promise.resolve(deps.now() >= step.until ? 'done' : 'notYet'));
