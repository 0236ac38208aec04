/** How many keys real members say they have, and that a restored one has them at the very revision that it opened with. */
import { mkdtemp, rm } from 'node:fs/promises';
import { createWriteStream } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { Etcd3 } from 'etcd3';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createEtcdPort } from '../../src/etcd/adapter.ts';
import { initialClusterId } from '../../src/etcd/cluster-id.ts';
import type { EtcdMember } from '../../src/etcd/port.ts';
import { verifiedSnapshot } from '../../src/etcd/verified-snapshot.ts';
import { restoredRevision } from '../../src/planner/operations/restore/revision-bump.ts';
import { EtcdProcessCluster } from '../stack/etcd-process.ts';
import { startSeeded } from '../stack/seeded-member.ts';

const port = createEtcdPort();
const BUMP = 1_000_000_000;
const KEYS = 20;

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'restored-keys-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function startRestored(
  cluster: EtcdProcessCluster,
  { bump, ...of }: { readonly snapshot: string; readonly version: string; readonly bump: number },
): Promise<EtcdMember> {
  const { target } = await startSeeded(cluster, { ...of, token: 'restored', revisionBump: bump });
  return port.member(target);
}

async function snapshotTo(file: string, member: EtcdMember): Promise<void> {
  const signal = new AbortController().signal;
  await pipeline(
    verifiedSnapshot(member.snapshot({ signal, deadlineMs: 30_000 })).bytes,
    createWriteStream(file),
  );
}

describe.each(['3.5.35', '3.6.16', '3.7.3'])('etcd %s', version => {
  test.each([
    ['raised', BUMP],
    ['not raised', 0],
  ])(
    'a restored member has the keys of the backup, with revisions %s',
    async (_, bump) => {
      const cluster = await EtcdProcessCluster.start({ version, size: 1 });
      const other = await EtcdProcessCluster.unstarted({ version });
      const { host, port: at } = cluster.member(0).target;
      const client = new Etcd3({ hosts: `${host}:${at}` });
      const members = [port.member(cluster.member(0).target)];
      try {
        const [member] = members as [EtcdMember];
        expect((await member.countKeys()).keys).toBe(0);
        for (let key = 0; key < KEYS; key += 1) await client.put(`key-${key}`).value('1');
        // Overwritten, deleted, deleted and written again, and first and last of all that a name can be.
        await client.put('key-3').value('2');
        await client.delete().key('key-4');
        await client.delete().key('key-5');
        await client.put('key-5').value('2');
        await client.put(Buffer.from([0])).value('first');
        await client.put(Buffer.from([255, 255])).value('last');
        const lease = client.lease(1, { autoKeepAlive: false });
        await lease.put('leased').value('for a second');
        await client.delete().key('key-6');
        const { keys, revision } = await member.countKeys();
        expect(keys).toBe(KEYS - 2 + 3);
        expect(revision).toBe((await member.linearizableRead()).revision);
        // Of a deletion that was compacted nothing but its revision is left.
        if (bump > 0) await client.kv.compact({ revision, physical: true });
        const snapshot = join(folder, `${version}-${bump}.db`);
        await snapshotTo(snapshot, member);

        const restored = await startRestored(other, { snapshot, version, bump });
        members.push(restored);
        const { clusterId } = await restored.status();
        expect(clusterId).toBe(initialClusterId('restored', [[other.member(0).peerUrl]]));
        const opened = String(Number(revision) + bump);
        expect(await restored.countKeys(opened)).toMatchObject({ keys });
        // What comes later changes the number of now, and not that of then.
        await other.put('later', 'x');
        const now = await restored.countKeys();
        expect(Number(now.revision)).toBeGreaterThan(Number(opened));
        expect(await restored.countKeys(opened)).toEqual({ keys, revision: now.revision });
        const future = String(Number(now.revision) + 10);
        await expect(restored.countKeys(future)).rejects.toMatchObject({ code: 'other' });
        const before = await restored
          .countKeys(String(Number(opened) - 1))
          .then(({ keys: count }) => `${count - keys} more`)
          .catch((error: Error) => /compacted/.exec(error.message)?.[0]);
        expect(before).toBe(bump > 0 ? 'compacted' : '1 more');
      } finally {
        for (const member of members) member.close();
        client.close();
        await Promise.all([cluster.stop(), other.stop()]);
      }
    },
    60_000,
  );

  test.each([BUMP, 0])(
    'a restored member that no one has written to begins where the planner expects it, with revisions raised by %i',
    async bump => {
      const cluster = await EtcdProcessCluster.start({ version, size: 1 });
      const other = await EtcdProcessCluster.unstarted({ version });
      const member = port.member(cluster.member(0).target);
      let restored: EtcdMember | undefined;
      try {
        const { keys, revision } = await member.countKeys();
        expect([keys, revision]).toEqual([0, '1']);
        const snapshot = join(folder, `${version}-${bump}-empty.db`);
        await snapshotTo(snapshot, member);
        restored = await startRestored(other, { snapshot, version, bump });
        const opened = restoredRevision({ revision: 1 }, bump);
        expect(await restored.countKeys(String(opened))).toEqual({ keys: 0, revision: String(opened) });
      } finally {
        member.close();
        restored?.close();
        await Promise.all([cluster.stop(), other.stop()]);
      }
    },
    60_000,
  );
});
