import { afterAll, beforeAll, expect, test } from 'vitest';
import { EXIT } from '../../src/plugin/exit-codes.ts';
import { run } from '../../src/plugin/run.ts';
import { PluginBench, WELL } from './bench.ts';

let bench: PluginBench;
beforeAll(async () => {
  bench = await PluginBench.start();
  await bench.put('EtcdCluster', 'example', { status: WELL });
  await bench.put('EtcdCluster', 'orders', {});
  await bench.put('EtcdBackup', 'nightly', {});
});
afterAll(() => bench.stop());

/** What is offered after these words, and cobra's directive. */
async function offered(words: readonly string[]): Promise<string[]> {
  let out = '';
  const io = { out: (text: string) => void (out += text), env: {} } as Parameters<typeof run>[1];
  expect(await run(['__complete', ...words], io)).toBe(EXIT.done);
  return out.split('\n').map(line => line.split('\t')[0] ?? '');
}

const at = (): string => `--kubeconfig=${bench.server.kubeconfig}`;

test.each<[string[], string[]]>([
  [['st'], ['status', ':4', '']],
  [
    ['help', 'expl'],
    ['explain', ':4', ''],
  ],
  [
    ['status', '--w'],
    ['--watch', ':4', ''],
  ],
  [
    ['pause', '--wa'],
    ['--wait', ':4', ''],
  ],
  [
    ['fleet', '-o', ''],
    ['json', 'yaml', ':4', ''],
  ],
  [
    ['fleet', '--kubeconfig', ''],
    [':0', ''],
  ],
  [
    ['completion', ''],
    ['kubectl', 'bash', 'zsh', 'fish', ':4', ''],
  ],
  [
    ['forward', '--o'],
    [':4', ''],
  ],
  [
    ['nothing', ''],
    [':4', ''],
  ],
  [
    ['status', '--nothing', ''],
    [':4', ''],
  ],
])('%j is completed by %j', async (words, expected) => {
  expect(await offered(words)).toEqual(expected);
});

test.each<[string[], string[]]>([
  [
    ['status', ''],
    ['example', 'orders', ':4', ''],
  ],
  [
    ['status', 'ex'],
    ['example', ':4', ''],
  ],
  [
    ['backup', ''],
    ['nightly', ':4', ''],
  ],
  [
    ['replace', 'example', ''],
    ['example-0', 'example-1', 'example-2', ':4', ''],
  ],
  [
    ['status', 'example', ''],
    [':4', ''],
  ],
])('%j is completed by what there is: %j', async (words, expected) => {
  expect(await offered([at(), ...words])).toEqual(expected);
});

test('without an API server nothing is offered, and nothing is said', async () => {
  await bench.server.down();
  expect(await offered([at(), 'status', ''])).toEqual([':4', '']);
  await bench.server.up();
});
