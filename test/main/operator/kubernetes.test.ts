import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { LeaseElection } from '../../../src/kube/lease-election.ts';
import { connectKubernetes, type Kubernetes } from '../../../src/main/operator/kubernetes.ts';
import { createLogger } from '../../../src/telemetry/logger.ts';
import { createMetrics } from '../../../src/telemetry/metrics.ts';
import { FaultyApiserver } from '../../fakes/kubernetes/faulty-apiserver.ts';
import { poll } from '../../stack/poll.ts';
import { podRef } from '../../kube/support.ts';

/** A deadline that a call among those of the passes would miss, and that a busy machine does not. */
const TIMING = {
  leaseDurationMs: 8_000,
  renewDeadlineMs: 7_000,
  renewEveryMs: 400,
  retryPeriodMs: 400,
  patienceMs: 200,
};
/** Clusters that are looked at at once, and how long the apiserver takes for what they ask. */
const PASSES = 60;
const SLOW_MS = 2_000;

let server: FaultyApiserver;
let kubernetes: Kubernetes;
let passing: AbortController;

beforeEach(async () => {
  server = await FaultyApiserver.start();
  passing = new AbortController();
  const logger = createLogger({ level: 'error', scrub: text => text });
  const config = {
    kubeconfig: server.kubeconfig,
    inCluster: undefined,
    pod: { name: 'a', namespace: 'ops' },
  };
  kubernetes = connectKubernetes(config, { logger, metrics: createMetrics() });
});

afterEach(async () => {
  passing.abort();
  await kubernetes.close();
  await server.stop();
});

/** Activities that read pods, one call after the other, of an apiserver that is slow for pods alone. */
async function pressure(): Promise<void> {
  const slow = async (request: { kind: string }): Promise<boolean> => {
    if (request.kind === 'Pod') await new Promise(resolve => setTimeout(resolve, SLOW_MS));
    return false;
  };
  server.fail('get', slow, Number.POSITIVE_INFINITY);
  for (let pass = 0; pass < PASSES; pass += 1) {
    void (async () => {
      while (!passing.signal.aborted)
        await kubernetes.client
          .get({ ...podRef(`p-${pass}`), namespace: `team-${pass}` }, { signal: passing.signal })
          .catch(() => undefined);
    })();
  }
  await poll(async () => server.count('get') > 24);
}

async function follow(client: Kubernetes['client']): Promise<{ log: string[]; stop: () => Promise<void> }> {
  const log: string[] = [];
  const election = new LeaseElection({
    client,
    namespace: 'ops',
    name: 'watcher',
    identity: 'a',
    timing: TIMING,
    onStartedLeading: () => log.push('leads'),
    onStoppedLeading: because => log.push(because),
  });
  election.start();
  await vi.waitUntil(() => election.isLeader, { timeout: 100_000 });
  return { log, stop: () => election.stop() };
}

describe('an operator whose passes wait for a slow apiserver', { timeout: 120_000 }, () => {
  test('keeps its lease, which has connections of its own', async () => {
    const { log, stop } = await follow(kubernetes.leaseClient);
    await pressure();
    const before = server.count('replace');
    await poll(async () => server.count('replace') > before + 25);
    expect(log).toEqual(['leads']);
    passing.abort();
    await stop();
  });
});
