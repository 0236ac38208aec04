/** A process that is held up: a quota of CPU that is used up, a frozen virtual machine. */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { expect, test } from 'vitest';
import { createKubeClient } from '../../src/kube/client.ts';
import { connectionOf } from '../../src/kube/connection.ts';
import { LeaseElection } from '../../src/kube/lease-election.ts';

const timing = { leaseDurationMs: 4_000, renewDeadlineMs: 3_000, renewEveryMs: 500, retryPeriodMs: 500 };

test('a leader stays the leader whose renewal was answered in time, though it was held up until just after the deadline', async () => {
  const apiserver = new Worker(ONE_LEASE, { eval: true });
  const [port] = (await once(apiserver, 'message')) as [number];
  const client = createKubeClient({ credentials: at(port) });
  const happened: string[] = [];
  const election = new LeaseElection({
    client,
    namespace: 'ops',
    name: 'etcd-operator',
    identity: 'a',
    timing,
    onStartedLeading: () => happened.push('leads'),
    onStoppedLeading: because => happened.push(because),
  });
  election.start();
  try {
    // The deadline counts from before the write that won the lease is sent.
    await once(apiserver, 'message');
    const won = performance.now();
    await once(apiserver, 'message');
    // Nothing else runs in this thread meanwhile.
    const heldUpMs = won + timing.renewDeadlineMs + 50 - performance.now();
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, heldUpMs);
    // A renewal after it: whatever was due at the deadline has happened.
    await once(apiserver, 'message');
    expect(happened).toEqual(['leads']);
    expect(election.isLeader).toBe(true);
  } finally {
    await election.stop();
    await client.close();
    await apiserver.terminate();
  }
}, 120_000);

function at(port: number) {
  const server = new URL(`http://127.0.0.1:${port}`);
  const connection = connectionOf({ server, proxyUrl: undefined, headers: {}, tls: {} });
  return { connection: () => Promise.resolve(connection), invalidate: () => undefined };
}

/** An API server in a thread that keeps one object: reports its port and each write, and answers a write a moment later. */
const ONE_LEASE = `
  const { createServer } = require('node:http');
  const { parentPort } = require('node:worker_threads');
  let stored;
  let version = 0;
  const server = createServer(async (request, response) => {
    const send = (code, object) => {
      response.writeHead(code, { 'content-type': 'application/json' });
      response.end(JSON.stringify(object));
    };
    if (request.method === 'GET') {
      if (stored === undefined) send(404, { kind: 'Status', apiVersion: 'v1', code: 404, reason: 'NotFound' });
      else send(200, stored);
      return;
    }
    let body = '';
    for await (const part of request) body += part;
    version += 1;
    stored = JSON.parse(body);
    stored.metadata.resourceVersion = String(version);
    parentPort.postMessage('written');
    setTimeout(() => send(200, stored), 50);
  });
  server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port));
`;
