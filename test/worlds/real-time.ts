/** For files that share a process: what one of them does to the time that activities pass ends with it. */
import { afterAll } from 'vitest';
import { time } from '../../src/activities/runtime/poll.ts';

const real = { ...time };
afterAll(() => void Object.assign(time, real));
