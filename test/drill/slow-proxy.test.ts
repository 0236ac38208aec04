import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { startSlowProxy } from '../fakes/slow-proxy.ts';

const DELAY_MS = 200;

test('what is sent through it comes back late, whole and in order', async () => {
  const echo = createServer(socket => socket.pipe(socket)).listen(0, '127.0.0.1');
  onTestFinished(() => void echo.close());
  await once(echo, 'listening');
  const server = `127.0.0.1:${(echo.address() as AddressInfo).port}`;
  const proxy = await startSlowProxy({ server, delayMs: DELAY_MS });
  onTestFinished(() => proxy.stop());
  const [host = '', port] = proxy.address.split(':');
  const client = connect(Number(port), host);
  const sent = Array.from({ length: 1_000 }, (_, line) => `line ${line}\n`);
  const begun = performance.now();
  for (const line of sent) client.write(line);
  client.end();
  let received = '';
  client.on('data', (chunk: Buffer) => (received += chunk.toString()));
  await once(client, 'data');
  expect(performance.now() - begun).toBeGreaterThanOrEqual(DELAY_MS - 2);
  await once(client, 'close');
  expect(received).toBe(sent.join(''));
});
