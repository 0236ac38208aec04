/** Two frontends behind one name: both of the operator's connections go on when the one that they use dies. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { root } from '../../scripts/run.ts';
import { type SlowProxy, startSlowProxy } from '../fakes/slow-proxy.ts';
import type { Answered } from '../stack/calls-temporal.ts';
import { poll } from '../stack/poll.ts';
import { freePort } from '../stack/free-ports.ts';
import { startTemporal, type TemporalServer } from '../stack/temporal-server.ts';

const NAME = 'temporal.test';
const ADDRESSES = ['127.0.0.2', '127.0.0.3'] as const;
const BOTH: Answered = { client: true, worker: true };
const LONG = { timeoutMs: 60_000 };

let temporal: TemporalServer;
let folder = '';
let port = 0;
let child: ChildProcess;
let said = '';
let lines: AsyncIterator<string>;
const frontends = new Map<string, SlowProxy>();

/** Another frontend of the same server, as far as a client can say. */
async function start(host: string): Promise<void> {
  frontends.set(host, await startSlowProxy({ server: temporal.address, host, port, delayMs: 0 }));
}

function kill(host: string): void {
  frontends.get(host)?.stop();
}

beforeAll(async () => {
  temporal = await startTemporal();
  [port, folder] = await Promise.all([freePort(), mkdtemp(join(tmpdir(), 'frontends-'))]);
  for (const host of ADDRESSES) await start(host);
  const hosts = join(folder, 'hosts');
  await writeFile(hosts, ADDRESSES.map(address => `${address} ${NAME}\n`).join(''));
  // The name exists for this process alone: it has its own view of /etc/hosts.
  const rights = process.getuid?.() === 0 ? [] : ['--map-root-user'];
  const program = join(root, 'test/stack/calls-temporal.ts');
  child = spawn(
    'unshare',
    [
      ...rights,
      '--mount',
      'sh',
      '-c',
      'mount --bind "$1" /etc/hosts && shift && exec "$@"',
      'sh',
      hosts,
    ].concat([process.execPath, program, `${NAME}:${port}`, 'default']),
    { stdio: ['pipe', 'pipe', 'pipe'] },
  );
  child.stderr?.on('data', (chunk: Buffer) => (said += chunk.toString()));
  if (child.stdout === null) throw new Error('the process has no output');
  lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
}, 120_000);

afterAll(async () => {
  child?.kill('SIGKILL');
  for (const host of ADDRESSES) kill(host);
  await temporal?.stop();
  await rm(folder, { recursive: true, force: true });
});

async function asked(): Promise<Answered> {
  child.stdin?.write('?\n');
  const { value, done } = await lines.next();
  if (done === true) throw new Error(`the process has ended: ${said}`);
  return JSON.parse(value) as Answered;
}

const answer = (expected: Answered) =>
  poll(
    async () => {
      const { client, worker } = await asked();
      return client === expected.client && worker === expected.worker;
    },
    { ...LONG, otherwise: async () => JSON.stringify(await asked()) },
  );

test('calls go on with the other address of the name, whichever dies, and with the first once it is back', async () => {
  const [first, second] = ADDRESSES;
  await answer(BOTH);
  kill(first);
  await answer(BOTH);
  // One of the two had no reason to move unless its address died: now each has had one.
  await start(first);
  kill(second);
  await answer(BOTH);
  kill(first);
  await answer({ client: false, worker: false });
  await start(second);
  await answer(BOTH);
  expect(said).toBe('');
}, 300_000);
