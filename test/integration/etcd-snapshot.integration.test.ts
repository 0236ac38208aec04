/** Snapshots of real members: whole, provable, cancellable, through TLS; and when the member is killed in the middle. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createWriteStream } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { Etcd3 } from 'etcd3';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ensureToolchain } from '../../local/toolchain/index.ts';
import { createEtcdPort } from '../../src/etcd/adapter.ts';
import type { EtcdMember } from '../../src/etcd/port.ts';
import { storageVersionOf } from '../../src/etcd/snapshot-facts.ts';
import { verifiedSnapshot } from '../../src/etcd/verified-snapshot.ts';
import { verifySnapshot } from '../../src/main/pods/verification.ts';
import { EtcdProcessCluster, etcdBinary } from '../stack/etcd-process.ts';
import { freePorts } from '../stack/free-ports.ts';
import { poll } from '../stack/poll.ts';

const execute = promisify(execFile);
const port = createEtcdPort();
const NEVER = new AbortController().signal;
const KEYS = 200;

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'snapshots-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function fill(cluster: EtcdProcessCluster): Promise<void> {
  const { host, port: at } = cluster.member(0).target;
  const client = new Etcd3({ hosts: `${host}:${at}` });
  const value = Buffer.alloc(32 * 1024, 'x');
  for (let key = 0; key < KEYS; key += 1) await client.put(`key-${key}`).value(value);
  client.close();
}

/** A member writes it every four seconds (etcd, server/etcdserver/server.go, monitorStorageVersion); 3.5 does not. */
async function untilStorageVersion(member: EtcdMember, version: string): Promise<void> {
  if (version === '3.5.35') return;
  await poll(async () => (await member.version()).storage !== undefined);
}

describe.each(['3.5.35', '3.6.16', '3.7.3'])('etcd %s', version => {
  let cluster: EtcdProcessCluster;
  beforeAll(async () => {
    cluster = await EtcdProcessCluster.start({ version, size: 1 });
    await fill(cluster);
  }, 60_000);
  afterAll(() => cluster.stop());

  test('a snapshot is what etcdutl takes for a whole one, of at least the revision that was read', async () => {
    const member = port.member(cluster.member(0).target);
    try {
      await untilStorageVersion(member, version);
      const { revision } = await member.linearizableRead();
      const snapshot = verifiedSnapshot(member.snapshot({ signal: NEVER, deadlineMs: 30_000 }));
      const file = join(folder, `${version}.db`);
      const hash = createHash('sha256');
      await pipeline(
        snapshot.bytes,
        async function* (chunks: AsyncIterable<Uint8Array>) {
          for await (const chunk of chunks) {
            hash.update(chunk);
            yield chunk;
          }
        },
        createWriteStream(file),
      );
      const proof = snapshot.proof();
      expect(proof.wholeSha256).toBe(hash.digest('hex'));
      expect(snapshot.expected()).toBe(proof.size - 32);
      expect(proof.storageVersion.startsWith(version.slice(0, 3))).toBe(version !== '3.5.35');
      const whole = await readFile(file);
      const ranges = async (offset: number, length: number) => whole.subarray(offset, offset + length);
      expect(await storageVersionOf(ranges)).toBe(proof.storageVersion);
      const tool = `etcdutl@${version}` as const;
      const etcdutl = (await ensureToolchain({ only: [tool] })).path(tool);
      const { stdout } = await execute(etcdutl, ['snapshot', 'status', file, '-w', 'json']);
      const status = JSON.parse(stdout) as { readonly revision: number; readonly totalKey: number };
      expect(status.revision).toBe(Number(revision));
      // 3.5 counts the keys of all buckets.
      expect(status.totalKey).toBeGreaterThanOrEqual(KEYS);
      const { client, peer } = await freePorts('client', 'peer');
      const report = await verifySnapshot({
        tools: { etcd: await etcdBinary(version), snapshot: etcdutl },
        folder: await mkdtemp(join(folder, 'scratch-')),
        snapshot: file,
        restore: true,
        revision,
        ports: { client, peer },
      });
      expect(report).toMatchObject({
        kind: 'read',
        structure: { revision: Number(revision), keys: status.totalKey },
        restored: { revision, ...(await member.hashKv(revision)) },
      });
    } finally {
      member.close();
    }
  });

  test('leaving the loop ends the call, and the member continues', async () => {
    const member = port.member(cluster.member(0).target);
    try {
      for await (const chunk of member.snapshot({ signal: NEVER, deadlineMs: 30_000 })) {
        expect(chunk.blob.length).toBeGreaterThan(0);
        break;
      }
      expect((await member.status()).version).toBe(version);
    } finally {
      member.close();
    }
  });

  test('an abort and a deadline end it', async () => {
    const member = port.member(cluster.member(0).target);
    const controller = new AbortController();
    try {
      const aborted = async () => {
        for await (const _ of member.snapshot({ signal: controller.signal, deadlineMs: 30_000 })) {
          controller.abort(new Error('no longer wanted'));
        }
      };
      await expect(aborted()).rejects.toThrow('no longer wanted');
      const late = async () => {
        for await (const _ of member.snapshot({ signal: NEVER, deadlineMs: 1 })) void _;
      };
      await expect(late()).rejects.toMatchObject({ code: 'timeout' });
    } finally {
      member.close();
    }
  });
});

test('a user with a password reads and takes snapshots; without one no one does', async () => {
  const cluster = await EtcdProcessCluster.start({ version: '3.6.16', size: 1 });
  const { target } = cluster.member(0);
  const root = { username: 'root', password: 'a-password-of-root' };
  const client = new Etcd3({ hosts: `${target.host}:${target.port}` });
  await client.user('root').create(root.password);
  await client.user('root').addRole('root');
  await client.auth.authEnable();
  client.close();
  const outcomes = [];
  for (const credentials of [root, { ...root, password: 'wrong' }, undefined]) {
    const member = port.member({ ...target, credentials });
    const take = async () => {
      await member.linearizableRead();
      const snapshot = verifiedSnapshot(member.snapshot({ signal: NEVER, deadlineMs: 30_000 }));
      for await (const _ of snapshot.bytes) void _;
      return snapshot.proof().size > 0;
    };
    outcomes.push(await take().catch((error: { readonly code: string }) => error.code));
    member.close();
  }
  await cluster.stop();
  expect(outcomes).toEqual([true, 'denied', 'denied']);
}, 60_000);

test('a member that is killed in the middle leaves no snapshot that proves itself', async () => {
  const cluster = await EtcdProcessCluster.start({ version: '3.6.16', size: 1 });
  const member = port.member(cluster.member(0).target);
  try {
    await fill(cluster);
    const snapshot = verifiedSnapshot(member.snapshot({ signal: NEVER, deadlineMs: 30_000 }));
    const read = async () => {
      let chunks = 0;
      for await (const _ of snapshot.bytes) {
        chunks += 1;
        if (chunks === 3) await cluster.member(0).stop('SIGKILL');
      }
    };
    await expect(read()).rejects.toMatchObject({ code: expect.stringMatching(/unreachable|other|corrupt/) });
    expect(() => snapshot.proof()).toThrow('not read to its end');
  } finally {
    member.close();
    await cluster.stop();
  }
}, 60_000);
