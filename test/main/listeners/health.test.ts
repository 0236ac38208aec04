import { Connection } from '@temporalio/client';
import { afterEach, describe, expect, test } from 'vitest';
import {
  healthPages,
  metricsPages,
  operatorChecks,
  type Pages,
  type Parts,
  servePages,
  temporalServing,
} from '../../../src/main/listeners/health.ts';
import type { PageServer } from '../../../src/main/listeners/serving.ts';
import { grpcStatus } from '../../../src/main/temporal/connection.ts';
import { grpcFailure } from '../../watcher/fakes.ts';

const healthy: Parts = {
  workerState: 'RUNNING',
  hasWorkerRole: true,
  leading: true,
  watcherSynced: true,
  stopping: false,
};

let server: PageServer | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
});

async function get(pages: Pages, path: string): Promise<[number, string]> {
  server ??= await servePages(0, pages);
  const response = await fetch(`http://127.0.0.1:${server.port}${path}`);
  return [response.status, await response.text()];
}

const cases: readonly [
  name: string,
  parts: Partial<Parts>,
  temporal: string[],
  live: string[],
  ready: string[],
][] = [
  ['all is well', {}, [], [], []],
  ['not the leader', { leading: false, watcherSynced: false }, [], [], []],
  [
    'leader before the first list',
    { watcherSynced: false },
    [],
    [],
    ['the watcher has not listed all resources yet'],
  ],
  ['Temporal away', {}, ['Temporal does not answer'], [], ['Temporal does not answer']],
  [
    'Temporal away since the start',
    { workerState: undefined },
    ['Temporal does not answer'],
    [],
    ['Temporal does not answer', 'the Temporal worker is waiting for Temporal'],
  ],
  ['only a watcher', { workerState: undefined, hasWorkerRole: false }, [], [], []],
  [
    'a failed worker',
    { workerState: 'FAILED' },
    [],
    ['the Temporal worker is FAILED'],
    ['the Temporal worker is FAILED'],
  ],
  [
    'a worker that stopped by itself',
    { workerState: 'STOPPED' },
    [],
    ['the Temporal worker is STOPPED'],
    ['the Temporal worker is STOPPED'],
  ],
  [
    'shutting down',
    { workerState: 'DRAINING', stopping: true },
    [],
    [],
    ['shutting down', 'the Temporal worker is DRAINING'],
  ],
  [
    'shut down',
    { workerState: 'STOPPED', stopping: true },
    [],
    [],
    ['shutting down', 'the Temporal worker is STOPPED'],
  ],
];

describe('live and ready', () => {
  test.each(cases)('%s', async (_, parts, temporal, live, ready) => {
    const pages = healthPages(
      operatorChecks(
        () => ({ ...healthy, ...parts }),
        () => temporal,
      ),
    );
    const expected = (problems: string[]): [number, string] =>
      problems.length === 0 ? [200, 'ok\n'] : [503, `${problems.join('\n')}\n`];
    expect(await get(pages, '/healthz')).toEqual(expected(live));
    expect(await get(pages, '/readyz')).toEqual(expected(ready));
  });
});

describe('over HTTP', () => {
  test('metrics keep their content type', async () => {
    server = await servePages(
      0,
      metricsPages({ contentType: 'text/x', text: () => Promise.resolve('a 1\n') }),
    );
    const response = await fetch(`http://127.0.0.1:${server.port}/metrics?x=1`);
    expect([response.headers.get('content-type'), await response.text()]).toEqual(['text/x', 'a 1\n']);
  });

  test('another path gets a list of the paths', async () => {
    expect(await get(metricsPages({ contentType: '', text: () => Promise.resolve('') }), '/')).toEqual([
      404,
      'try /metrics\n',
    ]);
  });

  test('a page that fails says no more than that', async () => {
    const pages = { '/x': () => Promise.reject(new Error('secret')) };
    expect(await get(pages, '/x')).toEqual([500, 'failed\n']);
  });

  test('a taken port is an error', async () => {
    server = await servePages(0, {});
    await expect(servePages(server.port, {})).rejects.toThrow('EADDRINUSE');
  });
});

describe('behind a frontend that passes on no health service', () => {
  /** What a call of Temporal's own services comes to. */
  const behind = (answer: () => Promise<unknown>) =>
    ({
      withDeadline: async (_: number, call: () => Promise<unknown>) => call(),
      healthService: { check: () => Promise.reject(grpcFailure(grpcStatus.unimplemented)) },
      workflowService: { getSystemInfo: answer },
    }) as unknown as Connection;
  const refusedKey = "Temporal refuses the operator's API key or certificate: the log says what to do";
  const failing = (code: number) => () => Promise.reject(grpcFailure(code));

  test.each([
    ['answers', () => Promise.resolve({}), []],
    ['does not know the key', failing(grpcStatus.unauthenticated), [refusedKey]],
    ['lets the key do nothing', failing(grpcStatus.permissionDenied), [refusedKey]],
    ['is away', failing(14), ['Temporal does not answer']],
  ])('a Temporal that %s', async (_, answer, expected) => {
    expect(await temporalServing(() => behind(answer))()).toEqual(expected);
  });
});

test('a Temporal that is not there is reported within the deadline', async () => {
  // Port 9 (discard) of this machine: refused.
  const connection = Connection.lazy({ address: '127.0.0.1:9', connectTimeout: 500 });
  const started = performance.now();
  expect(await temporalServing(() => connection, undefined, 500)()).toEqual(['Temporal does not answer']);
  expect(performance.now() - started).toBeLessThan(3_000);
  await connection.close();
});
