import { readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { freePorts, onFreePort } from '../stack/free-ports.ts';

const servers: Server[] = [];
afterEach(async () => {
  await Promise.all(servers.splice(0).map(server => new Promise(closed => server.close(closed))));
});

async function listen(port: number): Promise<Server> {
  const server = createServer();
  await new Promise<void>((listening, failed) => {
    server.once('error', failed);
    server.listen(port, '127.0.0.1', listening);
  });
  servers.push(server);
  return server;
}

test('the ports are different ones, below those that the kernel gives to outgoing connections', async () => {
  const ports = Object.values(await freePorts('a', 'b', 'c', 'd', 'e'));
  expect(new Set(ports).size).toBe(5);
  const [lowest] = (await readFile('/proc/sys/net/ipv4/ip_local_port_range', 'utf8')).trim().split(/\s+/);
  expect(Math.max(...ports)).toBeLessThan(Number(lowest));
});

test('what finds its port taken is started on another one', async () => {
  const tried: number[] = [];
  const { port } = await onFreePort(async found => {
    tried.push(found);
    if (tried.length === 1) await listen(found);
    return listen(found);
  });
  expect(tried).toHaveLength(2);
  expect(tried[1]).toBe(port);
});

test.each([
  ['any other error', new Error('no such file'), 1],
  ['a port that is taken each time', new Error('bind: address already in use'), 3],
])('%s is thrown', async (_, error, times) => {
  let tries = 0;
  const starting = onFreePort(async () => {
    tries += 1;
    throw error;
  });
  await expect(starting).rejects.toBe(error);
  expect(tries).toBe(times);
});
