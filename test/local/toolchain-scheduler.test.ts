import { describe, expect, it } from 'vitest';
import { runJobs } from '../../local/toolchain/scheduler.ts';

/** A promise that is settled from outside. */
function gate<T>() {
  let resolve: (value: T) => void = () => {};
  let reject: (error: Error) => void = () => {};
  const promise = new Promise<T>((onValue, onError) => {
    resolve = onValue;
    reject = onError;
  });
  return { promise, resolve, reject };
}

/** Jobs that end on request, and what has started so far. */
function controlledJobs(seconds: readonly number[]) {
  const started: number[] = [];
  const gates = seconds.map(() => gate<string>());
  const jobs = seconds.map((duration, index) => ({
    seconds: duration,
    run: () => {
      started.push(duration);
      return gates[index]?.promise ?? Promise.reject(new Error('no such job'));
    },
  }));
  return { jobs, started, gates };
}

/** Lets every promise that can settle do so. */
async function settle(): Promise<void> {
  await new Promise(resolve => setImmediate(resolve));
}

describe('runJobs', () => {
  it('starts the longest first, no more than the limit at once, and returns results in the given order', async () => {
    const { jobs, started, gates } = controlledJobs([5, 400, 45, 80]);
    const done = runJobs(jobs, 2);
    await settle();
    expect(started).toEqual([400, 80]);
    gates[3]?.resolve('eighty');
    await settle();
    expect(started).toEqual([400, 80, 45]);
    gates[2]?.resolve('forty-five');
    await settle();
    expect(started).toEqual([400, 80, 45, 5]);
    gates[0]?.resolve('five');
    gates[1]?.resolve('four hundred');
    expect(await done).toEqual(['five', 'four hundred', 'forty-five', 'eighty']);
  });

  it('starts nothing more after a failure, but lets what runs come to its end', async () => {
    const { jobs, started, gates } = controlledJobs([30, 20, 10]);
    let over = false;
    const done = runJobs(jobs, 2).finally(() => {
      over = true;
    });
    const outcome = done.catch((error: Error) => error.message);
    await settle();
    gates[0]?.reject(new Error('first broke'));
    await settle();
    expect(over).toBe(false);
    gates[1]?.resolve('fine');
    expect(await outcome).toBe('first broke');
    expect(started).toEqual([30, 20]);
  });

  it('reports every failure of those that ran together', async () => {
    const { jobs, gates } = controlledJobs([2, 1]);
    const outcome = runJobs(jobs, 2).catch((error: Error) => error.message);
    gates[0]?.reject(new Error('one broke'));
    gates[1]?.reject(new Error('two broke'));
    expect(await outcome).toBe('one broke\ntwo broke');
  });

  it('does nothing when there is nothing to do', async () => {
    expect(await runJobs([], 4)).toEqual([]);
  });
});
