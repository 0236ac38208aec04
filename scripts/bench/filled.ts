/** Members that run on this host and hold so much, and etcd's own tools beside them. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Etcd3 } from 'etcd3';
import { ensureToolchain } from '../../local/toolchain/index.ts';
import { EtcdProcessCluster } from '../../test/stack/etcd-process.ts';
import type { Taken } from './as-operator.ts';
import type { Row } from './figures.ts';

const VERSION = '3.6.16';
const MIB = 2 ** 20;
export const REPETITIONS = 3;

const execute = promisify(execFile);

/** Has something done with a new folder, which is removed afterwards. */
export async function withFolder<Result>(
  purpose: string,
  act: (folder: string) => Promise<Result>,
): Promise<Result> {
  const folder = await mkdtemp(join(tmpdir(), `bench-${purpose}-`));
  try {
    return await act(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Has something done with a cluster of one member that holds so many MiB, which is stopped afterwards. */
export async function withFilled<Result>(
  mebibytes: number,
  act: (target: { readonly host: string; readonly port: number }) => Promise<Result>,
): Promise<Result> {
  const cluster = await EtcdProcessCluster.start({ version: VERSION, size: 1 });
  try {
    const { host, port } = cluster.member(0).target;
    const client = new Etcd3({ hosts: `${host}:${port}` });
    for (let key = 0; key < mebibytes; key += 1)
      await client.put(`key-${key}`).value(Buffer.alloc(MIB, `${key} `));
    client.close();
    return await act({ host, port });
  } finally {
    await cluster.stop();
  }
}

export async function saveWithEtcdctl(
  { host, port }: { readonly host: string; readonly port: number },
  file: string,
): Promise<void> {
  await execute(await tool('etcdctl'), ['--endpoints', `${host}:${port}`, 'snapshot', 'save', file]);
}

/** With the options that a restore of the operator has. */
export async function restoreWithEtcdutl(file: string, data: string): Promise<void> {
  const raised = ['--bump-revision=1000000000', '--mark-compacted'];
  await execute(await tool('etcdutl'), ['snapshot', 'restore', file, `--data-dir=${data}`, ...raised]);
}

async function tool(name: 'etcdctl' | 'etcdutl'): Promise<string> {
  const versioned = `${name}@${VERSION}` as const;
  return (await ensureToolchain({ only: [versioned] })).path(versioned);
}

/** Seconds. */
export async function timed(work: () => Promise<unknown>): Promise<number> {
  const begun = performance.now();
  await work();
  return (performance.now() - begun) / 1000;
}

/** How long it took beside etcd's own tool, and the memory of the process of ours. */
export function transferRows(
  what: string,
  taken: readonly Taken[],
  floor: NonNullable<Row['floor']>,
): readonly Row[] {
  return [
    { what, unit: 's', measured: taken.map(({ seconds }) => seconds), floor },
    {
      what: 'its process, at most',
      unit: 'MiB',
      measured: taken.map(({ peakMebibytes }) => peakMebibytes),
    },
  ];
}
