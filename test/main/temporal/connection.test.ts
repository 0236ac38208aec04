import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { lazyConnection } from '../../../src/main/temporal/connection.ts';
import { grpcCode } from '../../../src/watcher/temporal/client.ts';
import { poll } from '../../stack/poll.ts';

/** Errors that nobody caught, which would otherwise end the run of all tests. */
let uncaught: unknown[] = [];
const note = (error: unknown): void => void uncaught.push(error);
let others: NodeJS.UncaughtExceptionListener[] = [];

beforeEach(() => {
  uncaught = [];
  others = process.listeners('uncaughtException');
  process.removeAllListeners('uncaughtException');
  process.on('uncaughtException', note);
});
afterEach(() => {
  process.off('uncaughtException', note);
  for (const listener of others) process.on('uncaughtException', listener);
});

function connectionTo(port: number) {
  return lazyConnection({ address: `127.0.0.1:${port}`, namespace: 'default' });
}

test('a call on a connection that is closed fails', async () => {
  const connection = connectionTo(1);
  await connection.close();
  const error: unknown = await connection.workflowService
    .getSystemInfo({})
    .catch((caught: unknown) => caught);
  expect(grpcCode(error)).toBe(1);
  expect(uncaught).toEqual([]);
});

test('a call that would be tried again on a connection that was closed meanwhile fails', async () => {
  let tries = 0;
  const server = createServer(socket => {
    tries += 1;
    socket.destroy();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const connection = connectionTo(port);
  const outcome: { code?: number | undefined } = {};
  const call = () => connection.workflowService.getSystemInfo({});
  void connection.withDeadline(Date.now() + 60_000, call).catch((error: unknown) => {
    outcome.code = grpcCode(error);
  });
  try {
    await poll(async () => tries > 0);
    await connection.close();
    await poll(async () => outcome.code !== undefined || uncaught.length > 0, { timeoutMs: 10_000 });
    expect(uncaught).toEqual([]);
    expect(outcome.code).toBe(1);
  } finally {
    server.close();
  }
});
