import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  childOf,
  endMarked,
  endProcess,
  isRunning,
  markedProcesses,
  parseProcessStatus,
  type ProcessRecord,
  processTree,
  recordProcess,
  residentBytes,
  startService,
} from '../../local/stack/processes.ts';
import { poll } from '../stack/poll.ts';

describe('parseProcessStatus', () => {
  const rest = '1 7 7 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 987654 10000 200';

  test('counts fields from the last parenthesis', () => {
    expect(parseProcessStatus(`12 (a) S ${rest}`)).toEqual({ state: 'S', parent: 1, startTime: '987654' });
    const hostile = `12 (x) R 99 (y z) S ${rest}`;
    expect(parseProcessStatus(hostile)).toEqual({ state: 'S', parent: 1, startTime: '987654' });
  });

  test('gives nothing for what is cut off', () => {
    expect(parseProcessStatus('12 (a) S 1 2')).toBeUndefined();
    expect(parseProcessStatus('')).toBeUndefined();
  });
});

describe('services', () => {
  const stackId = `unit-${process.pid}`;
  let folder: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'stack-processes-'));
  });

  afterEach(async () => {
    await endMarked(stackId, () => true);
    rmSync(folder, { recursive: true });
  });

  const start = async (script: string): Promise<ProcessRecord> => {
    const logFile = join(folder, 'log');
    const service = {
      stackId,
      component: 'sleeper',
      command: 'bash',
      args: ['--norc', '-c', script],
      logFile,
    };
    const { record, release } = await startService(service);
    release();
    return record;
  };

  test('is known by process ID, start time and boot together', async () => {
    const record = await start('sleep 60 & wait');
    expect(isRunning(record)).toBe(true);
    expect(isRunning({ ...record, startTime: `${Number(record.startTime) - 1}` })).toBe(false);
    expect(isRunning({ ...record, bootId: '00000000-0000-0000-0000-000000000000' })).toBe(false);
    expect(isRunning(undefined)).toBe(false);
  });

  test('is not killed under a recycled process ID', async () => {
    const record = await start('sleep 60 & wait');
    await endProcess({ ...record, startTime: '1' });
    await endProcess({ ...record, bootId: 'an earlier boot' });
    expect(isRunning(record)).toBe(true);
    await endProcess(record);
    expect(isRunning(record)).toBe(false);
    await endProcess(record);
  });

  test('gets its time to end by itself, and no longer', async () => {
    const polite = await start('trap "echo bye; exit" TERM; echo ready; while :; do sleep 0.05; done');
    await poll(async () => readFileSync(join(folder, 'log'), 'utf8').includes('ready'));
    await endProcess(polite, 5000);
    expect(readFileSync(join(folder, 'log'), 'utf8')).toBe('ready\nbye\n');
    const stubborn = await start('trap "" TERM; echo stubborn; while :; do sleep 0.05; done');
    await poll(async () => readFileSync(join(folder, 'log'), 'utf8').includes('stubborn'));
    await endProcess(stubborn, 100);
    expect(isRunning(stubborn)).toBe(false);
  });

  test('waits until it is released, and then has its line', async () => {
    const logFile = join(folder, 'log');
    const args = ['--norc', '-c', 'read -r line && echo "got <$line>"'];
    const { record, release } = await startService({
      stackId,
      component: 'c',
      command: 'bash',
      args,
      logFile,
    });
    expect(isRunning(record)).toBe(true);
    release();
    await poll(async () => !isRunning(record));
    expect(readFileSync(logFile, 'utf8')).toBe('got <>\n');
  });

  test('is found by its mark with its children, whatever started it', async () => {
    const record = await start('sleep 60 & sleep 61 & wait');
    // A child between fork and exec shows no environment yet.
    const found = await poll(async () => {
      const all = markedProcesses(stackId);
      const tree = processTree([record.pid]).sort().join();
      const marked = all.map(({ pid }) => pid).sort();
      return all.length === 3 && tree === marked.join() && all;
    });
    expect(new Set(found.map(({ token }) => token))).toEqual(new Set([record.token]));
    expect(found.map(({ component }) => component)).toEqual(['sleeper', 'sleeper', 'sleeper']);
    expect(found.map(({ pid }) => pid)).toContain(childOf(record.pid));
    expect(residentBytes(record.pid, false)).toBeGreaterThan(2 ** 20);
    expect(markedProcesses(`${stackId}0`)).toEqual([]);
    const kept = await endMarked(stackId, ({ pid }) => pid !== record.pid);
    expect(kept).toBe(2);
  });

  test('that cannot start says which one', async () => {
    const service = { stackId, component: 'ghost', args: [], logFile: join(folder, 'log') };
    await expect(startService({ ...service, command: '/does/not/exist' })).rejects.toThrow(
      'ghost: cannot start',
    );
    expect(() => recordProcess(2 ** 22 + 1, 'token')).toThrow('ended at once');
  });
});
