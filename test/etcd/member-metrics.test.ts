import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import { isReceiving, memoryInUse, readMetrics } from '../../src/etcd/member-metrics.ts';

const page = (inflight: number): string => `# TYPE etcd_network_snapshot_receive_inflights_total gauge
etcd_network_snapshot_receive_inflights_total{From="8e9e05c52164694d"} ${inflight}
etcd_network_snapshot_receive_success{From="8e9e05c52164694d"} 1
`;

it('a member receives a snapshot while its metrics count one that comes in', () => {
  expect(isReceiving(page(1))).toBe(true);
  expect(isReceiving(page(0))).toBe(false);
  expect(isReceiving('')).toBe(false);
});

it('a member needs what its heap and its stacks have in use', () => {
  const heap = 'go_memstats_heap_inuse_bytes 3.5e+07\n';
  const stack = 'go_memstats_stack_inuse_bytes 1.5e+06\n';
  expect(memoryInUse(`${heap}${stack}process_resident_memory_bytes 9e+08\n`)).toBe(36_500_000);
  expect(memoryInUse(heap)).toBeUndefined();
});

it('the metrics of a member are asked for, and a member that has none is an error', async () => {
  let status = 200;
  const server = createServer((_, response) => response.writeHead(status).end(page(1)));
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  try {
    expect(await readMetrics('127.0.0.1', Date.now() + 2_000, port)).toBe(page(1));
    status = 503;
    await expect(readMetrics('127.0.0.1', Date.now() + 2_000, port)).rejects.toMatchObject({
      code: 'unreachable',
    });
  } finally {
    server.close();
  }
  await expect(readMetrics('127.0.0.1', Date.now() + 2_000, port)).rejects.toMatchObject({
    code: 'unreachable',
  });
});
