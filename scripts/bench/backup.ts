/** How fast a snapshot goes into a file, beside etcdctl on the same member, and what memory that takes. Needs no stack. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Etcd3 } from 'etcd3';
import { ensureToolchain } from '../../local/toolchain/index.ts';
import { createEtcdPort } from '../../src/etcd/adapter.ts';
import { verifiedSnapshot } from '../../src/etcd/verified-snapshot.ts';
import { openFileStore } from '../../src/store/file.ts';
import { EtcdProcessCluster } from '../../test/support/etcd-process.ts';
import type { Row } from './figures.ts';

const VERSION = '3.6.16';
const REPETITIONS = 3;
const MIB = 2 ** 20;
const SAMPLE_MS = 20;

const execute = promisify(execFile);

/** One row of seconds and one of memory for a database of that many MiB. Leaves nothing behind. */
export async function measureBackup(mebibytes: number): Promise<readonly Row[]> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-backup-'));
  const cluster = await EtcdProcessCluster.start({ version: VERSION, size: 1 });
  try {
    const { host, port } = cluster.member(0).target;
    await fill(`${host}:${port}`, mebibytes);
    const ours: number[] = [];
    const etcdctl: number[] = [];
    const memory: number[] = [];
    for (let repetition = 0; repetition < REPETITIONS; repetition += 1) {
      etcdctl.push(
        await timed(() => saveWithEtcdctl(`${host}:${port}`, join(folder, `etcdctl-${repetition}`))),
      );
      const before = process.memoryUsage().rss;
      let peak = before;
      const watch = setInterval(() => (peak = Math.max(peak, process.memoryUsage().rss)), SAMPLE_MS);
      ours.push(await timed(() => saveWithOurs(cluster, folder, `ours-${repetition}`)));
      clearInterval(watch);
      memory.push((peak - before) / MIB);
    }
    return [
      {
        what: `backup of ${mebibytes} MiB into a file`,
        unit: 's',
        measured: ours,
        floor: { what: 'etcdctl snapshot save', measured: etcdctl },
      },
      { what: `memory above idle, ${mebibytes} MiB`, unit: 'MiB', measured: memory },
    ];
  } finally {
    await cluster.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

async function fill(address: string, mebibytes: number): Promise<void> {
  const client = new Etcd3({ hosts: address });
  for (let key = 0; key < mebibytes; key += 1)
    await client.put(`key-${key}`).value(Buffer.alloc(MIB, `${key} `));
  client.close();
}

async function saveWithEtcdctl(address: string, file: string): Promise<void> {
  const tool = `etcdctl@${VERSION}` as const;
  const etcdctl = (await ensureToolchain({ only: [tool] })).path(tool);
  await execute(etcdctl, ['--endpoints', address, 'snapshot', 'save', file]);
}

async function saveWithOurs(cluster: EtcdProcessCluster, folder: string, key: string): Promise<void> {
  const member = createEtcdPort().member(cluster.member(0).target);
  try {
    await member.linearizableRead();
    const options = { signal: new AbortController().signal, deadlineMs: 600_000 };
    const snapshot = verifiedSnapshot(member.snapshot(options));
    await openFileStore(folder).put(key, snapshot.bytes, options);
    snapshot.proof();
  } finally {
    member.close();
  }
}

async function timed(work: () => Promise<void>): Promise<number> {
  const begun = performance.now();
  await work();
  return (performance.now() - begun) / 1000;
}
