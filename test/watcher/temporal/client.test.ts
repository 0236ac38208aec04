import { getEventListeners } from 'node:events';
import { Client, Connection } from '@temporalio/client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { temporalPort } from '../../../src/watcher/temporal/client.ts';
import { refTo } from '../objects.ts';

/** Nobody listens there: each call fails, and ends as any other does. */
const UNREACHABLE = '127.0.0.1:1';
let connection: Connection;

beforeAll(() => {
  connection = Connection.lazy({ address: UNREACHABLE });
});

afterAll(async () => {
  await connection.close();
});

test('nothing of a call is kept by the signal that would have ended it', async () => {
  const client = new Client({ connection, namespace: 'default' });
  const port = temporalPort(() => client, { taskQueue: 'tasks', deadlineMs: 300 });
  const { signal } = new AbortController();
  const ref = refTo('EtcdCluster', 'example');
  for (const call of [
    () => port.signal(ref, {}, signal),
    () => port.signalIfRunning(ref, signal),
    () => port.running('here', signal),
    () => port.pollers(signal),
  ])
    await expect(call()).rejects.toThrow();
  expect(getEventListeners(signal, 'abort')).toEqual([]);
});
