/**
 * How fast a snapshot goes into a file, beside etcdctl on the same member; how fast such a file becomes a member's data, beside
 * etcdutl on the same file; and what memory that takes. Needs no stack.
 */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Etcd3 } from 'etcd3';
import { ensureToolchain } from '../../local/toolchain/index.ts';
import { CLAIM_STORE_HOST } from '../../src/objects/claim-store.ts';
import { SNAPSHOT_KEY } from '../../src/objects/seed-pod.ts';
import { createAuthority, issueLeaf } from '../../src/tls/issue.ts';
import { EtcdProcessCluster } from '../../test/stack/etcd-process.ts';
import { asClaimStore, asOperator, type Taken } from './as-operator.ts';
import type { Row } from './figures.ts';

const VERSION = '3.6.16';
const REPETITIONS = 3;
const MIB = 2 ** 20;

const execute = promisify(execFile);

/** Rows of seconds and of memory for a database of that many MiB. Leaves nothing behind. */
export async function measureBackup(mebibytes: number): Promise<readonly Row[]> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-backup-'));
  try {
    const saved = await measureSaving(folder, mebibytes);
    return [...saved, ...(await measureRestoring(folder, mebibytes))];
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Leaves the file `ours-0` in the folder. */
async function measureSaving(folder: string, mebibytes: number): Promise<readonly Row[]> {
  const cluster = await EtcdProcessCluster.start({ version: VERSION, size: 1 });
  try {
    const { host, port } = cluster.member(0).target;
    await fill(`${host}:${port}`, mebibytes);
    const ours: Taken[] = [];
    const etcdctl: number[] = [];
    for (let repetition = 0; repetition < REPETITIONS; repetition += 1) {
      const file = join(folder, 'etcdctl');
      etcdctl.push(await timed(() => saveWithEtcdctl(`${host}:${port}`, file)));
      await rm(file);
      ours.push(await asOperator('save', host, `${port}`, folder, `ours-${repetition}`));
      if (repetition > 0) await rm(join(folder, `ours-${repetition}`));
    }
    return rowsOf(`backup of ${mebibytes} MiB into a file`, ours, {
      what: 'etcdctl snapshot save',
      measured: etcdctl,
    });
  } finally {
    await cluster.stop();
  }
}

/** As a restore does it: examined, brought to the pod with the volume, unpacked there by etcdutl. */
async function measureRestoring(folder: string, mebibytes: number): Promise<readonly Row[]> {
  const volume = join(folder, 'volume');
  await mkdir(volume);
  const { authority, identity } = await certificates(folder);
  const pod = await asClaimStore(volume, ...identity);
  try {
    const ours: Taken[] = [];
    const etcdutl: number[] = [];
    for (let repetition = 0; repetition < REPETITIONS; repetition += 1) {
      const data = join(folder, 'data');
      etcdutl.push(await timed(() => restoreWithEtcdutl(join(folder, 'ours-0'), data)));
      await rm(data, { recursive: true });
      const brought = await asOperator('bring', folder, 'ours-0', `${pod.port}`, authority);
      const unpacked = await timed(() => restoreWithEtcdutl(join(volume, SNAPSHOT_KEY), data));
      await rm(data, { recursive: true });
      await rm(join(volume, SNAPSHOT_KEY));
      ours.push({ ...brought, seconds: brought.seconds + unpacked });
    }
    return rowsOf(`restore of ${mebibytes} MiB onto a volume`, ours, {
      what: 'etcdutl snapshot restore',
      measured: etcdutl,
    });
  } finally {
    pod.stop();
  }
}

function rowsOf(what: string, taken: readonly Taken[], floor: NonNullable<Row['floor']>): readonly Row[] {
  return [
    { what, unit: 's', measured: taken.map(({ seconds }) => seconds), floor },
    {
      what: 'its process, at most',
      unit: 'MiB',
      measured: taken.map(({ peakMebibytes }) => peakMebibytes),
    },
  ];
}

/** Files: that of the authority, and certificate and key of the pod. */
async function certificates(
  folder: string,
): Promise<{ authority: string; identity: readonly [string, string] }> {
  const validity = { now: Date.now(), lasts: 3_600_000 };
  const authority = await createAuthority('bench', validity);
  const names = {
    commonName: 'bench',
    usages: ['server'],
    dnsNames: [CLAIM_STORE_HOST],
    addresses: [],
  } as const;
  const leaf = await issueLeaf(authority, names, validity);
  const write = async (name: string, text: string): Promise<string> => {
    await writeFile(join(folder, name), text);
    return join(folder, name);
  };
  return {
    authority: await write('ca.crt', authority.cert),
    identity: [await write('tls.crt', leaf.cert), await write('tls.key', leaf.key)],
  };
}

async function fill(address: string, mebibytes: number): Promise<void> {
  const client = new Etcd3({ hosts: address });
  for (let key = 0; key < mebibytes; key += 1)
    await client.put(`key-${key}`).value(Buffer.alloc(MIB, `${key} `));
  client.close();
}

async function saveWithEtcdctl(address: string, file: string): Promise<void> {
  await execute(await tool('etcdctl'), ['--endpoints', address, 'snapshot', 'save', file]);
}

async function restoreWithEtcdutl(file: string, data: string): Promise<void> {
  const raised = ['--bump-revision=1000000000', '--mark-compacted'];
  await execute(await tool('etcdutl'), ['snapshot', 'restore', file, `--data-dir=${data}`, ...raised]);
}

async function tool(name: 'etcdctl' | 'etcdutl'): Promise<string> {
  const versioned = `${name}@${VERSION}` as const;
  return (await ensureToolchain({ only: [versioned] })).path(versioned);
}

async function timed(work: () => Promise<void>): Promise<number> {
  const begun = performance.now();
  await work();
  return (performance.now() - begun) / 1000;
}
