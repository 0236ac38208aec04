import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { expect, test } from 'vitest';
import { lazyConnection } from '../../src/main/temporal/connection.ts';
import { poll } from '../stack/poll.ts';

/** By then gRPC alone would wait for more than three seconds before it tries again. */
const AWAY_MS = 14_000;

test('a Temporal that is away is tried again every two seconds, however long it is away', async () => {
  const tries: number[] = [];
  const server = createServer(socket => {
    tries.push(performance.now());
    socket.destroy();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const connection = lazyConnection({ address: `127.0.0.1:${port}`, namespace: 'default' });
  const begun = performance.now();
  try {
    await poll(
      async () => {
        const call = () => connection.workflowService.getSystemInfo({});
        await connection.withDeadline(Date.now() + 200, call).catch(() => undefined);
        return performance.now() - begun > AWAY_MS;
      },
      { timeoutMs: 2 * AWAY_MS },
    );
  } finally {
    await connection.close();
    server.close();
  }
  const waits = tries.slice(1).map((at, index) => at - (tries[index] ?? 0));
  expect(tries.length).toBeGreaterThan(3);
  // gRPC varies a wait by a fifth.
  expect(Math.max(...waits)).toBeLessThan(3_000);
});
