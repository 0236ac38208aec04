import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { layoutOf } from '../../local/stack/layout.ts';
import { newState, writeState } from '../../local/stack/state.ts';

const cache = mkdtempSync(join(tmpdir(), 'stack-command-'));
afterAll(() => rmSync(cache, { recursive: true }));

const main = resolve(import.meta.dirname, '../../local/main.ts');

function local(...args: string[]): { status: number | null; stdout: string; stderr: string } {
  const env = { ...process.env, ETCD_OPERATOR_CACHE: cache };
  return spawnSync(process.execPath, [main, ...args], { encoding: 'utf8', env });
}

test('help is asked for with nothing, and given with an error for an unknown command', () => {
  expect(local()).toMatchObject({ status: 0, stderr: expect.stringContaining('usage: local COMMAND') });
  const unknown = local('frob');
  expect(unknown.status).toBe(2);
  expect(unknown.stderr).toContain('there is no command frob');
});

test.each([
  [['status', '--name', 'nope'], 'local status: there is no stack nope; `local up --name nope` makes one'],
  [['--name', 'nope', 'kubeconfig'], 'there is no stack nope'],
  [['kubectl', '--name=nope', 'get', 'pods', '--watch'], 'there is no stack nope'],
  [['env', '--name', 'A'], 'use 1 to 20 lower-case letters'],
  [['up', '--nodes', 'three'], '--nodes: a whole number from 1 on is needed, got three'],
  [['up', '--nodes', '99'], '--nodes 99: a stack has 1 to 32 nodes'],
  [['up', '--frob'], "Unknown option '--frob'"],
  [['node', 'explode', '1'], 'use one of: stop, start, remove, disconnect, connect, run'],
  [['disk', 'fast', '1'], 'use one of: slow'],
])('%j fails with one line', (args, message) => {
  const { status, stderr } = local(...args);
  expect(stderr).toContain(message);
  expect(stderr.trim().split('\n')).toHaveLength(1);
  expect(status).toBe(1);
});

test('env and kubeconfig follow from the state alone, wherever the name stands', () => {
  const layout = layoutOf('demo', join(cache, 'stacks'));
  writeState(layout, newState('demo', '10.200.0.0/16'));
  const { stdout, status } = local('env');
  expect(status).toBe(0);
  expect(stdout.trim().split('\n')).toEqual([
    `export KUBECONFIG='${layout.kubeconfig}'`,
    "export TEMPORAL_ADDRESS='10.200.0.2:7233'",
    'export TEMPORAL_NAMESPACE=etcd-operator',
    "export TEMPORAL_UI='http://10.200.0.2:8233'",
    `export PATH='${layout.bin}':"$PATH"`,
  ]);
  expect(local('kubeconfig', '--name', 'demo').stdout).toBe(`${layout.kubeconfig}\n`);
  expect(local('--name=demo', 'kubeconfig').stdout).toBe(`${layout.kubeconfig}\n`);
});
