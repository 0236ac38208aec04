import { createServer } from 'node:http';
import { afterEach, expect, test } from 'vitest';
import { metricsPages, servePages } from '../../../src/main/listeners/health.ts';
import type { PageServer } from '../../../src/main/listeners/serving.ts';
import { sdkMetrics } from '../../../src/main/listeners/sdk-metrics.ts';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

async function served(): Promise<{ readonly bindAddress: string; readonly server: PageServer }> {
  const metrics = await sdkMetrics();
  const server = await servePages(0, metricsPages(metrics));
  closing.push(() => server.close());
  return { bindAddress: metrics.bindAddress, server };
}

test('what the SDK serves on the loopback is served to all', async () => {
  const { bindAddress, server } = await served();
  const [host = '', port = ''] = bindAddress.split(':');
  const sdk = createServer((request, response) => response.end(`asked_for{path="${request.url}"} 1\n`));
  await new Promise<void>(resolve => sdk.listen(Number(port), host, resolve));
  closing.push(() => sdk.close());
  const answer = await fetch(`http://127.0.0.1:${server.port}/metrics`);
  expect([host, answer.headers.get('content-type'), await answer.text()]).toEqual([
    '127.0.0.1',
    'text/plain; version=0.0.4',
    'asked_for{path="/metrics"} 1\n',
  ]);
});

test('an SDK that does not answer is a page that fails', async () => {
  const { server } = await served();
  const answer = await fetch(`http://127.0.0.1:${server.port}/metrics`);
  expect([answer.status, await answer.text()]).toEqual([500, 'failed\n']);
});
