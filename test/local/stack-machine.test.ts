import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, watch, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { cgroupTree, hierarchies, isUnified } from '../../local/stack/cgroups.ts';
import {
  inotifyInUse,
  inotifyNeed,
  raiseInotifyLimit,
  restoreInotifyLimit,
} from '../../local/stack/inotify.ts';
import { checkPlatform, choosePort } from '../../local/stack/machine.ts';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'stack-machine-'));
});

afterEach(() => {
  rmSync(folder, { recursive: true });
});

describe('checkPlatform', () => {
  const road = /existing cluster, kind included: point KUBECONFIG at it/;

  test('says what is missing and what the other road is', () => {
    expect(() => checkPlatform({ system: 'darwin', userId: 0 })).toThrow(
      'needs Linux; this machine runs darwin',
    );
    expect(() => checkPlatform({ system: 'darwin', userId: 0 })).toThrow(road);
    expect(() => checkPlatform({ system: 'linux', userId: 1000 })).toThrow('needs root');
    expect(() => checkPlatform({ system: 'linux', userId: 1000 })).toThrow(road);
    expect(() => checkPlatform({ system: 'linux', userId: 0, cgroups: folder })).toThrow('needs cgroups');
  });

  test('is content with either version of cgroups', () => {
    mkdirSync(join(folder, 'v1', 'memory'), { recursive: true });
    mkdirSync(join(folder, 'v2'));
    writeFileSync(join(folder, 'v2', 'cgroup.controllers'), 'cpu memory\n');
    checkPlatform({ system: 'linux', userId: 0, cgroups: join(folder, 'v1') });
    checkPlatform({ system: 'linux', userId: 0, cgroups: join(folder, 'v2') });
    expect(isUnified(join(folder, 'v1'))).toBe(false);
    expect(isUnified(join(folder, 'v2'))).toBe(true);
  });
});

describe('cgroups', () => {
  test('of v1 are one tree for each controller, without the bare v2 tree of a hybrid machine', () => {
    for (const name of ['cpu', 'memory', 'unified']) mkdirSync(join(folder, name));
    expect(hierarchies(folder).sort()).toEqual([join(folder, 'cpu'), join(folder, 'memory')]);
  });

  test('are listed deepest first, as they must be removed', () => {
    mkdirSync(join(folder, 'a', 'b', 'c'), { recursive: true });
    mkdirSync(join(folder, 'a', 'd'));
    const tree = cgroupTree(join(folder, 'a'));
    expect(tree).toHaveLength(4);
    expect(tree.at(-1)).toBe(join(folder, 'a'));
    expect(tree.indexOf(join(folder, 'a', 'b', 'c'))).toBeLessThan(tree.indexOf(join(folder, 'a', 'b')));
    expect(cgroupTree(join(folder, 'gone'))).toEqual([]);
  });
});

test('choosePort passes over ports that are taken, on this address or on all, or promised already', async () => {
  const server = createServer();
  await new Promise<void>(resolve => server.listen({ host: '0.0.0.0', port: 0 }, resolve));
  const address = server.address();
  const taken = typeof address === 'object' && address !== null ? address.port : 0;
  try {
    const next = await choosePort('127.0.0.1', taken, new Set());
    expect(next).toBeGreaterThan(taken);
    expect(await choosePort('127.0.0.1', taken, new Set([next]))).toBeGreaterThan(next);
  } finally {
    await new Promise(resolve => server.close(resolve));
  }
});

describe('the inotify limit', () => {
  const files = (limit: number): { limit: string; memory: string } => {
    const paths = { limit: join(folder, 'limit'), memory: join(folder, 'memory') };
    writeFileSync(paths.limit, `${limit}\n`);
    return paths;
  };
  const value = (paths: { limit: string }): string => readFileSync(paths.limit, 'utf8').trim();

  test('stays where it is when it suffices', () => {
    const paths = files(inotifyInUse() + inotifyNeed(3) + 50);
    const before = value(paths);
    raiseInotifyLimit(inotifyNeed(3), paths);
    expect(value(paths)).toBe(before);
    expect(existsSync(paths.memory)).toBe(false);
  });

  test('is raised when it does not, once, and put back to what it was', () => {
    const paths = files(inotifyInUse() + 10);
    const before = value(paths);
    raiseInotifyLimit(inotifyNeed(3), paths);
    raiseInotifyLimit(inotifyNeed(3), paths);
    expect(value(paths)).toBe('8192');
    restoreInotifyLimit(paths);
    expect(value(paths)).toBe(before);
    expect(existsSync(paths.memory)).toBe(false);
    restoreInotifyLimit(paths);
    expect(value(paths)).toBe(before);
  });

  test('is left as another program set it since', () => {
    const paths = files(1);
    raiseInotifyLimit(inotifyNeed(1), paths);
    writeFileSync(paths.limit, '65536\n');
    restoreInotifyLimit(paths);
    expect(value(paths)).toBe('65536');
  });

  test('counts what this process has open', () => {
    const watchers = [watch(folder), watch(tmpdir())];
    try {
      expect(inotifyInUse()).toBeGreaterThan(0);
    } finally {
      for (const watcher of watchers) watcher.close();
    }
  });
});
