import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { layoutOf, stacksDirectory } from '../../local/stack/layout.ts';
import {
  newState,
  otherBlocks,
  readState,
  stackNames,
  type State,
  withStack,
  writeState,
} from '../../local/stack/state.ts';

let cache: string;
const earlier = process.env['ETCD_OPERATOR_CACHE'];

beforeEach(() => {
  cache = mkdtempSync(join(tmpdir(), 'stack-state-'));
  process.env['ETCD_OPERATOR_CACHE'] = cache;
});

afterEach(() => {
  if (earlier === undefined) delete process.env['ETCD_OPERATOR_CACHE'];
  else process.env['ETCD_OPERATOR_CACHE'] = earlier;
  rmSync(cache, { recursive: true });
});

const full: State = {
  ...newState('demo', '10.200.0.0/16'),
  ports: {
    etcd: 1,
    etcdPeer: 2,
    apiserver: 3,
    controllerManager: 4,
    scheduler: 5,
    dns: 6,
    dnsHealth: 7,
    dnsReady: 8,
  },
  nodes: [{ index: 1, disconnected: true, init: 77 }],
  images: [{ reference: 'a:1', archive: '/a.tar', digest: 'sha256:a' }],
  processes: { etcd: { pid: 5, startTime: '99', bootId: 'boot', token: 'aa' } },
  firewall: true,
};

describe('state', () => {
  test('is read as it was written, and leaves no partial file', () => {
    const layout = layoutOf('demo');
    expect(readState(layout)).toBeUndefined();
    writeState(layout, full);
    expect(readState(layout)).toEqual(full);
    expect(readdirSync(layout.directory)).toEqual(['state.json']);
  });

  test('of another shape is refused with the way out', () => {
    const layout = layoutOf('demo');
    mkdirSync(layout.directory, { recursive: true });
    writeFileSync(layout.stateFile, JSON.stringify({ ...full, version: 2 }));
    expect(() => readState(layout)).toThrow(/is not a state of this version.*remove/s);
  });

  test('reports the networks of the other stacks', () => {
    writeState(layoutOf('one'), newState('one', '10.130.0.0/16'));
    writeState(layoutOf('two'), newState('two', '10.131.0.0/16'));
    mkdirSync(join(stacksDirectory(), 'no-stack'));
    expect(stackNames().sort()).toEqual(['one', 'two']);
    expect(otherBlocks('one')).toEqual(['10.131.0.0/16']);
    expect(otherBlocks('three').sort()).toEqual(['10.130.0.0/16', '10.131.0.0/16']);
  });

  test('is changed by one at a time', async () => {
    const layout = layoutOf('demo');
    writeState(layout, newState('demo', '10.200.0.0/16'));
    const addNode = (index: number): Promise<void> =>
      withStack(layout, async () => {
        const state = readState(layout);
        if (state === undefined) throw new Error('no state');
        await new Promise(setImmediate);
        state.nodes.push({ index, disconnected: false });
        writeState(layout, state);
      });
    await Promise.all([1, 2, 3, 4, 5].map(addNode));
    expect(
      readState(layout)
        ?.nodes.map(node => node.index)
        .sort(),
    ).toEqual([1, 2, 3, 4, 5]);
    expect(existsSync(layout.lockFile)).toBe(true);
  });
});
