/** A volume that is full: what does not fit leaves nothing, and what fits still goes in. */
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, rmdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openStore } from '../../src/store/open.ts';
import type { Store } from '../../src/store/port.ts';
import { bytes, failure } from '../store/contract.ts';

const run = promisify(execFile);
const MIB = 1024 * 1024;

let folder = '';
let store: Store;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'full-'));
  await run('mount', ['-t', 'tmpfs', '-o', 'size=4m', 'tmpfs', folder]);
  store = await openStore({ type: 'File', folder, path: 'etcd/backup' }, undefined);
});
afterAll(async () => {
  await store?.close();
  await run('umount', [folder]);
  await rmdir(folder);
});

test('what does not fit is reported as full, and leaves nothing', async () => {
  const { code, message } = await failure(store.put('etcd/backup', bytes(8 * MIB)));
  expect(code).toBe('full');
  expect(message).toContain('free space on the volume or expand it');
  expect(await readdir(join(folder, 'etcd'))).toEqual([]);
});

test('what fits goes in afterwards', async () => {
  await store.put('etcd/backup', bytes(3 * MIB));
  expect((await store.head('etcd/backup'))?.size).toBe(3 * MIB);
});
