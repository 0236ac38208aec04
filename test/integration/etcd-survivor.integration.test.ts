/** What is made of the data of the one real member that is left: all that it knew to be committed, and its own data stays as it was. */
import { createHash } from 'node:crypto';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Etcd3 } from 'etcd3';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createEtcdPort } from '../../src/etcd/adapter.ts';
import { initialClusterId } from '../../src/etcd/cluster-id.ts';
import { copySurvivor } from '../../src/main/pods/survivor.ts';
import { SNAPSHOT_KEY } from '../../src/objects/seed-pod.ts';
import { type EtcdProcess, EtcdProcessCluster, etcdBinary } from '../stack/etcd-process.ts';
import { freePorts } from '../stack/free-ports.ts';
import { poll } from '../stack/poll.ts';
import { requireUsers } from '../stack/stack-keys.ts';
import { startSeeded } from '../stack/seeded-member.ts';

const port = createEtcdPort();
const BUMP = 1_000_000_000;

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'survivors-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Of every file below. */
async function digestOf(path: string): Promise<string> {
  const hash = createHash('sha256');
  for (const name of (await readdir(path, { recursive: true })).toSorted()) {
    const file = join(path, name);
    if ((await stat(file)).isFile()) hash.update(name).update(await readFile(file));
  }
  return hash.digest('hex');
}

/** Writes numbers one after the other until it fails; answers how many were acknowledged. */
async function writeUntilLost(member: EtcdProcess, enough: (count: number) => void): Promise<number> {
  const client = new Etcd3({ hosts: `127.0.0.1:${member.clientPort}` });
  let acknowledged = 0;
  try {
    for (;;) {
      await client.put(`n-${acknowledged}`).value(String(acknowledged));
      acknowledged += 1;
      enough(acknowledged);
    }
  } catch {
    return acknowledged;
  } finally {
    client.close();
  }
}

describe.each(['3.5.35', '3.6.16', '3.7.3'])('etcd %s', version => {
  test.each(['SIGTERM', 'SIGKILL'] as const)(
    'of a survivor that was ended with %s nothing is lost that it knew to be committed, and old members have nothing to do with what is made of it',
    async signal => {
      const cluster = await EtcdProcessCluster.start({ version, size: 3 });
      const recovered = await EtcdProcessCluster.unstarted({ version });
      try {
        const [first, second, survivor] = cluster.members as [EtcdProcess, EtcdProcess, EtcdProcess];
        let isLost = false;
        const acknowledged = await writeUntilLost(first, count => {
          if (count < 400 || isLost) return;
          isLost = true;
          void Promise.all([first.stop(), second.stop()]);
        });
        expect(acknowledged).toBeGreaterThanOrEqual(400);
        const member = port.member(survivor.target);
        const status = await poll(async () => {
          const said = await member.status();
          return said.leaderId === undefined ? said : undefined;
        });
        member.close();
        const revision = Number(status.revision);
        // The first write makes revision 2. What is beyond what it knew to be committed may be lost.
        const kept = Math.min(revision - 1, acknowledged);
        expect(acknowledged - kept).toBeLessThan(50);
        await survivor.stop(signal);
        const before = await digestOf(survivor.dataDir);
        const volume = await mkdtemp(join(folder, 'volume-'));
        const etcd = await etcdBinary(version);
        const ports = await freePorts('client', 'peer');
        const of = { etcd, data: survivor.dataDir, volume, revision, ports };
        // An attempt that was cut short leaves half a copy, and is done again.
        await mkdir(join(volume, 'restore'), { recursive: true });
        await cp(survivor.dataDir, join(volume, 'restore', 'survivor'), { recursive: true });
        await rm(join(volume, 'restore', 'survivor', 'member', 'wal'), { recursive: true });
        await copySurvivor(of);
        const facts = await copySurvivor(of);
        expect(facts).toMatchObject({ clusterId: status.clusterId, hash: expect.any(String) });
        expect(Number(facts.revision)).toBeGreaterThanOrEqual(revision);
        expect(await readdir(join(volume, 'restore'))).toEqual(['snapshot.db']);
        expect(await digestOf(survivor.dataDir)).toBe(before);
        const seed = await startSeeded(recovered, {
          snapshot: join(volume, SNAPSHOT_KEY),
          version,
          token: 'recovered',
          revisionBump: BUMP,
          isDatabase: true,
        });
        const asked = port.member(seed.target);
        const client = new Etcd3({ hosts: `127.0.0.1:${seed.clientPort}` });
        try {
          const { clusterId } = await asked.memberList();
          expect(clusterId).toBe(initialClusterId('recovered', [[seed.peerUrl]]));
          expect(clusterId).not.toBe(status.clusterId);
          const found = await client.getAll().prefix('n-').keys();
          const missing = Array.from({ length: kept }, (_, number) => `n-${number}`).filter(
            key => !found.includes(key),
          );
          expect(missing).toEqual([]);
          await client.put('after').value('yes');
          expect(Number((await asked.linearizableRead()).revision)).toBeGreaterThan(BUMP);
        } finally {
          client.close();
          asked.close();
        }
      } finally {
        await Promise.all([cluster.stop(), recovered.stop()]);
      }
    },
    90_000,
  );
});

test.each(['3.5.35', '3.6.5', '3.6.16', '3.7.3'])(
  'the data of a cluster of etcd %s that requires users is taken over without a password',
  async version => {
    const cluster = await EtcdProcessCluster.start({ version, size: 1 });
    try {
      const [member] = cluster.members as [EtcdProcess];
      const client = new Etcd3({ hosts: `127.0.0.1:${member.clientPort}` });
      await client.put('a').value('1');
      await requireUsers(client, 'a password');
      client.close();
      await member.stop('SIGTERM');
      const volume = await mkdtemp(join(folder, 'volume-'));
      const etcd = await etcdBinary(version);
      const ports = await freePorts('client', 'peer');
      const facts = await copySurvivor({ etcd, data: member.dataDir, volume, revision: 2, ports });
      expect(facts).toMatchObject({ revision: '2', hash: expect.stringMatching(/^\d+$|^[0-9a-f]+$/) });
      expect(await readdir(join(volume, 'restore'))).toEqual(['snapshot.db']);
    } finally {
      await cluster.stop();
    }
  },
  60_000,
);

describe('data that is not what was looked at', () => {
  test('is refused when it has a lower revision, and when there is none', async () => {
    const version = '3.6.16';
    const cluster = await EtcdProcessCluster.start({ version, size: 1 });
    try {
      await cluster.put('a', '1');
      const [member] = cluster.members as [EtcdProcess];
      await member.stop('SIGTERM');
      const volume = await mkdtemp(join(folder, 'volume-'));
      const of = {
        etcd: await etcdBinary(version),
        volume,
        revision: 3,
        ports: await freePorts('client', 'peer'),
      };
      await expect(copySurvivor({ ...of, data: member.dataDir })).rejects.toThrow(
        'its data has revision 2, but revision 3 was approved',
      );
      await expect(copySurvivor({ ...of, data: volume })).rejects.toThrow('contains no data of etcd');
      expect(await readdir(join(volume, 'restore'))).not.toContain('snapshot.db');
    } finally {
      await cluster.stop();
    }
  }, 60_000);
});
