/**
 * Reads a snapshot with the tools of etcd's own image, which are found through the file system of a process of that image, and
 * starts what they restore on this pod's own loopback, where nobody else is.
 */
import { execFile, spawn } from 'node:child_process';
import { access, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { createEtcdPort } from '../../etcd/adapter.ts';
import type { EtcdMember } from '../../etcd/port.ts';
import type { RestoredFacts, VerificationReport } from '../../planner/backup/verification.ts';
import { messageOf } from '../../api/values/message-of.ts';

const run = promisify(execFile);
/** Enough for an image to come up, and for a large database to be read into memory. */
const FIND_MS = 60_000;
const START_MS = 10 * 60_000;
const CHECK_MS = 200;
/** Of what a tool said; and of that as JSON, in bytes: it ends in a termination message of 4 KiB, of which half would be no report. */
const LONGEST = 2_000;
const LONGEST_AS_JSON = 3_000;

/** Paths of programs. */
export interface Tools {
  readonly etcd: string;
  /** etcdutl; for 3.4, which has none, etcdctl. */
  readonly snapshot: string;
}

/** Waits until a process of etcd's image is there to be seen. */
export async function findTools(folder = '/usr/local/bin'): Promise<Tools> {
  const end = performance.now() + FIND_MS;
  do {
    for (const pid of (await readdir('/proc')).filter(name => /^\d+$/.test(name))) {
      const bin = join('/proc', pid, 'root', folder);
      const etcd = join(bin, 'etcd');
      if (!(await fileExists(etcd))) continue;
      const etcdutl = join(bin, 'etcdutl');
      return { etcd, snapshot: (await fileExists(etcdutl)) ? etcdutl : join(bin, 'etcdctl') };
    }
    await pause(CHECK_MS);
  } while (performance.now() < end);
  throw new Error(
    'no process of the etcd image is visible: check that the container runtime supports shareProcessNamespace',
  );
}

/** Whether there is such a file; also of one that must not be seen it says no. */
export function fileExists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

export interface Verification {
  readonly tools: Tools;
  readonly folder: string;
  readonly snapshot: string;
  readonly restore: boolean;
  /** In decimal; empty: the last there is. */
  readonly revision: string;
  /** Of the loopback, where the restored etcd listens. */
  readonly ports: { readonly client: number; readonly peer: number };
}

/** Reads the snapshot, and restores it where that is asked for. Never throws. */
export async function verifySnapshot(of: Verification): Promise<VerificationReport> {
  const { tools, snapshot, restore } = of;
  try {
    const { stdout } = await run(tools.snapshot, ['snapshot', 'status', snapshot, '-w', 'json'], QUIET);
    const { hash, revision, totalKey: keys } = JSON.parse(stdout) as Record<string, number>;
    const structure = { hash: hash ?? 0, revision: revision ?? 0, keys: keys ?? 0 };
    return { kind: 'read', structure, ...(restore && { restored: await restored(of) }) };
  } catch (error) {
    return failureOf(error);
  }
}

const QUIET = { env: { ETCDCTL_API: '3' }, maxBuffer: 16 * 1024 * 1024 };

/** Only a tool that ends by itself and finds fault with the snapshot says something about it. */
function failureOf(error: unknown): VerificationReport {
  const {
    code,
    stderr = '',
    message,
  } = error as Error & { readonly code?: unknown; readonly stderr?: string };
  const said = endOf(stderr.trim() || message);
  const isVerdict = typeof code === 'number' && code > 0 && code < 126;
  const isOfTheNode = /no space left|cannot allocate memory|permission denied|read-only file system/i.test(
    said,
  );
  return { kind: isVerdict && !isOfTheNode ? 'fault' : 'trouble', message: said };
}

/** As much of the end of a text as there is room for. */
function endOf(text: string): string {
  let end = text.slice(-LONGEST);
  while (Buffer.byteLength(JSON.stringify(end)) > LONGEST_AS_JSON) end = end.slice(Math.ceil(end.length / 8));
  return end;
}

async function restored(of: Verification): Promise<RestoredFacts | { readonly unknown: string }> {
  const { tools, folder, snapshot, ports } = of;
  const peer = `http://127.0.0.1:${ports.peer}`;
  const data = join(folder, 'data');
  const initial = [
    '--name=scratch',
    `--initial-cluster=scratch=${peer}`,
    `--initial-advertise-peer-urls=${peer}`,
  ];
  await run(tools.snapshot, ['snapshot', 'restore', snapshot, `--data-dir=${data}`, ...initial], QUIET);
  const client = `http://127.0.0.1:${ports.client}`;
  const listening = [
    `--listen-client-urls=${client}`,
    `--advertise-client-urls=${client}`,
    `--listen-peer-urls=${peer}`,
  ];
  const etcd = spawn(tools.etcd, [`--data-dir=${data}`, '--log-outputs=stderr', ...initial, ...listening], {
    env: {},
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  etcd.stderr.setEncoding('utf8').on('data', (text: string) => (said = (said + text).slice(-LONGEST)));
  const ended = new Promise<void>(resolve => {
    etcd.once('error', () => resolve());
    etcd.once('exit', () => resolve());
  });
  const member = createEtcdPort().member({ host: '127.0.0.1', port: ports.client, serverName: '127.0.0.1' });
  const over = new AbortController();
  try {
    const started = await Promise.race([serving(member, over.signal), ended]);
    if (started === undefined)
      return { unknown: `etcd exited after it was started on the restored data: ${endOf(said)}` };
    return await hashed(member, of.revision || started.revision);
  } finally {
    over.abort();
    member.close();
    etcd.kill('SIGKILL');
    await ended;
  }
}

async function hashed(
  member: EtcdMember,
  revision: string,
): Promise<RestoredFacts | { readonly unknown: string }> {
  try {
    return { revision, ...(await member.hashKv(revision)) };
  } catch (error) {
    const message = messageOf(error);
    return {
      unknown: `it was restored and started, but does not report its hash at revision ${revision}: ${message}`,
    };
  }
}

/** Waits for the first linearizable read: the one member is its own quorum. */
async function serving(member: EtcdMember, over: AbortSignal): Promise<{ readonly revision: string }> {
  const end = performance.now() + START_MS;
  for (;;) {
    try {
      return await member.linearizableRead();
    } catch (error) {
      if (over.aborted || performance.now() > end) throw error;
      // With etcd's authentication nobody reads without a name; that it refuses shows that it serves.
      if (error instanceof Error && 'code' in error && error.code === 'denied') return { revision: '' };
      await pause(CHECK_MS);
    }
  }
}
