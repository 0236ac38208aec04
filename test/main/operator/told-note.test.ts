import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseConfig } from '../../../src/main/config/config.ts';
import { NOTHING_TOLD, noteOf, programOf, toldBefore } from '../../../src/main/operator/told-note.ts';

const ENVIRONMENT = { TEMPORAL_ADDRESS: 'temporal:7233', POD_NAMESPACE: 'etcd-operator', REDACT: 'canary' };
const through = { EtcdCluster: '1207', Pod: '9311' };
let folder: string;

beforeAll(() => {
  folder = join(mkdtempSync(join(tmpdir(), 'etcd-operator-program-')), 'main');
  mkdirSync(folder);
  writeFileSync(join(folder, 'operator.js'), 'start();');
  writeFileSync(join(folder, '../workflow-bundle.js'), 'workflows();');
});
afterAll(() => rmSync(join(folder, '..'), { recursive: true }));

const programWith = (more: Record<string, string> = {}) =>
  programOf(parseConfig({ ...ENVIRONMENT, ...more }), folder);

/** What a replica of this program knows that has taken a Lease with these annotations. */
const toldTo = (program: string, annotations: Readonly<Record<string, string>>, transitions = 1) =>
  toldBefore(program, { annotations, transitions });

describe('what was told', () => {
  test('is read by another replica of the program', () => {
    expect(toldTo('a', noteOf('a', through))).toEqual(through);
  });

  test('is nothing where nobody has held the Lease before, which the next replica of the program knows too', () => {
    expect(toldTo('a', {}, 0)).toEqual(NOTHING_TOLD);
    expect(toldTo('a', noteOf('a', NOTHING_TOLD))).toEqual(NOTHING_TOLD);
    expect(toldTo('b', noteOf('a', NOTHING_TOLD))).toBeUndefined();
  });

  test('is not known when the same pod runs another program than before', () => {
    expect(toldTo('b', noteOf('a', through), 0)).toBeUndefined();
  });

  test('does not count for another program, and is nothing when it cannot be read', () => {
    const [[name, text] = ['', '']] = Object.entries(noteOf('a', through));
    expect(toldTo('b', noteOf('a', through))).toBeUndefined();
    for (const other of ['', '{', 'null', '7', '{"program":"a"}', text.replace('"1207"', '1207')])
      expect(toldTo('a', { [name]: other })).toBeUndefined();
    expect(toldTo('a', { [name]: text.replace('1207', 'soon') })).toBeUndefined();
    expect(toldTo('a', {})).toBeUndefined();
  });
});

describe('a program', () => {
  test('is the same in every pod with the same settings', async () => {
    expect(await programWith({ POD_NAME: 'one' })).toBe(
      await programWith({ POD_NAME: 'two', METRICS_PORT: '9091' }),
    );
  });

  test('is another one with other settings, other code and other workflows', async () => {
    const before = await programWith();
    expect(await programWith({ BACKUP_JITTER_SECONDS: '60' })).not.toBe(before);
    writeFileSync(join(folder, '../workflow-bundle.js'), 'others();');
    const others = await programWith();
    expect(others).not.toBe(before);
    writeFileSync(join(folder, 'chunk.js'), '');
    expect(await programWith()).not.toBe(others);
  });

  test('that runs from sources is no other’s', async () => {
    const config = parseConfig(ENVIRONMENT);
    expect(await programOf(config, undefined)).not.toBe(await programOf(config, undefined));
  });
});
