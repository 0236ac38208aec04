import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createProgress, formatDuration, type Progress } from '../../local/progress.ts';

let written = '';
const stream = (isTTY: boolean) => ({ isTTY, columns: 60, write: (text: string) => (written += text) });

beforeEach(() => {
  written = '';
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

function progressOn(isTTY: boolean): Progress {
  return createProgress({ stream: stream(isTTY), now: () => Date.now() });
}

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

/** Starts a step, and returns how to report on it and how to end it. */
function begin(progress: Progress, name: string) {
  const held = gate<void>();
  let report = (_detail: string): void => {};
  const done = progress.step(name, async given => {
    report = given;
    await held.promise;
  });
  return { report: (detail: string) => report(detail), end: () => (held.resolve(), done), held, done };
}

describe('progress without a terminal', () => {
  it('prints one line when a step starts, and one with the count and the duration when it ends', async () => {
    const progress = progressOn(false);
    progress.expect(2);
    const first = begin(progress, 'build etcd');
    await vi.advanceTimersByTimeAsync(12_000);
    await first.end();
    const second = begin(progress, 'build kube');
    await vi.advanceTimersByTimeAsync(4_000);
    await second.end();
    expect(written).toBe(
      'start   build etcd\ndone    [1/2] build etcd in 12 s\nstart   build kube\ndone    [2/2] build kube in 4.0 s\n',
    );
  });

  it('reports every 20 seconds what runs, for how long and how far it is', async () => {
    const progress = progressOn(false);
    progress.expect(3);
    const kube = begin(progress, 'build kube');
    const etcd = begin(progress, 'build etcd');
    kube.report('612 of 1650 packages');
    written = '';
    await vi.advanceTimersByTimeAsync(19_000);
    expect(written).toBe('');
    await vi.advanceTimersByTimeAsync(1_000);
    expect(written).toBe('running [0/3] build kube (20 s): 612 of 1650 packages; build etcd (20 s)\n');
    await etcd.end();
    written = '';
    await vi.advanceTimersByTimeAsync(120_000);
    expect(written.trim().split('\n')).toHaveLength(6);
    expect(written).toContain('running [1/3] build kube (2 min 20 s): 612 of 1650 packages\n');
    await kube.end();
    written = '';
    await vi.advanceTimersByTimeAsync(60_000);
    expect(written).toBe('');
  });

  it('says that a step failed, and passes the error on', async () => {
    const progress = progressOn(false);
    const step = begin(progress, 'fetch');
    const outcome = step.done.catch((error: Error) => error.message);
    step.held.reject(new Error('no route'));
    expect(await outcome).toBe('no route');
    expect(written).toContain('FAILED  [1/1] fetch in 0.0 s\n');
  });

  it('holds no timer once nothing runs or it is closed', async () => {
    const progress = progressOn(false);
    const step = begin(progress, 'one');
    progress.close();
    expect(vi.getTimerCount()).toBe(0);
    await step.end();
    await begin(progress, 'two').end();
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe('progress on a terminal', () => {
  it('draws the running steps in place and leaves a line for each that ended', async () => {
    const progress = progressOn(true);
    progress.expect(2);
    const kube = begin(progress, 'build kube');
    kube.report('a detail that is much too long for the width of this terminal');
    await vi.advanceTimersByTimeAsync(1_000);
    const screen = render(written);
    expect(screen).toHaveLength(1);
    expect(screen[0]).toMatch(/^ {2}\[0\/2\] build kube \(1\.0 s\): a detail/);
    expect(screen[0]?.length).toBeLessThan(60);
    const etcd = begin(progress, 'build etcd');
    expect(render(written)).toHaveLength(2);
    await kube.end();
    progress.note('a note');
    expect(render(written)).toEqual([
      expect.stringMatching(/✓.*build kube.*1\.0 s/),
      'a note',
      '  [1/2] build etcd (0.0 s)',
    ]);
    await etcd.end();
    progress.close();
    expect(render(written)).toHaveLength(3);
  });
});

/** What a terminal shows after this output: of the control sequences it knows "up N lines" and "erase all below". */
function render(output: string): string[] {
  const lines: string[] = [''];
  let row = 0;
  for (const part of output.split('\x1b[')) {
    const [, count, letter = '', text = part] = /^(\d*)([AJm])(.*)$/s.exec(part) ?? [];
    if (letter === 'A') row -= Number(count);
    if (letter === 'J') lines.length = row;
    for (const character of text) {
      if (character === '\n') row += 1;
      else if (character !== '\r') lines[row] = (lines[row] ?? '') + character;
    }
  }
  return lines;
}

describe('formatDuration', () => {
  it('uses the unit that reads best', () => {
    const cases: [number, string][] = [
      [0, '0.0 s'],
      [440, '0.4 s'],
      [9_949, '9.9 s'],
      [9_951, '10 s'],
      [119_000, '119 s'],
      [120_000, '2 min 00 s'],
      [305_000, '5 min 05 s'],
    ];
    for (const [milliseconds, text] of cases) expect(formatDuration(milliseconds)).toBe(text);
  });
});
