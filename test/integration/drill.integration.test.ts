/** The drill's load and checker on real etcd processes, of which one dies. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { check } from '../stack/drill/checker.ts';
import { startLoad } from '../stack/drill/client.ts';
import { hashes, readStored } from '../stack/drill/stored.ts';
import { EtcdProcessCluster } from '../stack/etcd-process.ts';
import { createEtcdPort } from '../../src/etcd/adapter.ts';
import { poll } from '../stack/poll.ts';

let cluster: EtcdProcessCluster;
beforeAll(async () => {
  cluster = await EtcdProcessCluster.start({ version: '3.6.16', size: 3 });
});
afterAll(() => cluster?.stop());

const address = (serial: number): string => `127.0.0.1:${cluster.member(serial).clientPort}`;
const all = [0, 1, 2].map(serial => () => address(serial));
const endpoints = async (): Promise<string[]> => all.map(of => of());

async function leader(): Promise<number> {
  const etcd = createEtcdPort();
  for (const [serial, { target }] of cluster.members.entries()) {
    const member = etcd.member(target);
    try {
      const { memberId, leaderId } = await member.status();
      if (memberId === leaderId) return serial;
    } finally {
      member.close();
    }
  }
  throw new Error('there is no leader');
}

test('kill -9 of the leader under load loses no acknowledged write', async () => {
  const load = await startLoad({ endpoints, prefix: 'kill' });
  await poll(async () => load.acknowledged() >= 300);
  const killed = await leader();
  await cluster.member(killed).stop('SIGKILL');
  const survived = load.acknowledged();
  await poll(async () => load.acknowledged() >= survived + 300);
  cluster.member(killed).start(['--initial-cluster-state=existing', `--initial-cluster=${initial()}`]);
  await cluster.member(killed).untilHealthy();
  const history = await load.stop();
  const verdict = check(history, await readStored(address(killed), 'kill'));
  expect(verdict.violations).toEqual([]);
  expect(verdict.acknowledged).toBeGreaterThanOrEqual(600);
  expect(verdict.acknowledged + verdict.unknown).toBe(history.writes.length);
  expect(verdict.reads).toBeGreaterThan(20);
  // An election takes at least a second of etcd's default timeouts.
  expect(verdict.longestStallMs).toBeGreaterThan(500);
  expect(new Set(Object.values(await hashes(await endpoints()))).size).toBe(1);
});

function initial(): string {
  return cluster.members.map(({ name, peerUrl }) => `${name}=${peerUrl}`).join(',');
}

test('a cluster whose data was put back is caught', async () => {
  const load = await startLoad({ endpoints, prefix: 'tampered' });
  await poll(async () => load.acknowledged() >= 50);
  const history = await load.stop();
  const stored = await readStored(address(0), 'tampered');
  expect(check(history, stored).violations).toEqual([]);
  await cluster.put('tampered/0', 'by somebody else');
  const { violations } = check(history, await readStored(address(0), 'tampered'));
  expect(violations).toEqual([
    expect.stringMatching(/^invented: tampered\/0=by somebody else@\d+ was written by nobody$/),
  ]);
});
