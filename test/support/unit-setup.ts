/** Runs around every file of the unit level. Files share processes: what one of them did to the time is taken back for the next. */
import { afterAll } from 'vitest';
import { time } from '../../src/activities/poll.ts';

const asItWas = { ...time };
afterAll(() => void Object.assign(time, asItWas));
