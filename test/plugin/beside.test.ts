/** Programs that work beside a command, as real processes. */
import { expect, test } from 'vitest';
import { beside } from '../../src/plugin/programs.ts';
import { poll } from '../stack/poll.ts';

const SIGN = /^ready (\d+)$/m;
const node = (source: string, until: AbortSignal) =>
  beside(process.execPath, ['-e', source], { sign: SIGN, until });

test('a program says its sign, and ends when it is not needed any more', async () => {
  const stop = new AbortController();
  const source = 'console.log(`ready ${process.pid}`); setInterval(() => console.log("x".repeat(4096)), 1)';
  const said = await node(source, stop.signal);
  if (!('sign' in said)) throw new Error(said.err);
  const pid = Number(said.sign[1]);
  expect(isRunning(pid)).toBe(true);
  stop.abort();
  await poll(async () => !isRunning(pid));
});

test.each([
  ['that ends without it', 'console.error("no such service"); process.exit(3)', { code: 3 }],
  ['that is not there', undefined, { code: 127, err: 'no-such-program is not on PATH' }],
])('a program %s', async (_, source, answer) => {
  const { signal } = new AbortController();
  const said = await (source === undefined
    ? beside('no-such-program', [], { sign: SIGN, until: signal })
    : node(source, signal));
  expect(said).toMatchObject(answer);
});

test('nothing is started once the command is interrupted', async () => {
  expect(await beside('no-such-program', [], { sign: SIGN, until: AbortSignal.abort() })).toMatchObject({
    err: 'interrupted',
  });
});

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
