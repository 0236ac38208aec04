/**
 * Makes a database of what a survivor has on its volume: all that is in its log up to what it knew to be committed. Only a copy is
 * written to, so that it can be begun again, and the survivor's data stays as it was.
 */
import { spawn } from 'node:child_process';
import { cp, mkdir, open, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { createEtcdPort } from '../../etcd/adapter.ts';
import type { ClientTls, EtcdMember } from '../../etcd/port.ts';
import type { MemberStatus } from '../../etcd/answers.ts';
import { DONE_BEFORE, SNAPSHOT_KEY } from '../../objects/seed-pod.ts';
import type { SurvivorFacts } from '../../objects/survivor-pod.ts';
import { createAuthority, issueLeaf } from '../../tls/issue.ts';
import { messageOf } from '../../api/values/message-of.ts';

/** Enough to read a large database and its log. */
const START_MS = 30 * 60_000;
const STOP_MS = 5 * 60_000;
const CHECK_MS = 100;
/** More than any database has: a replayed entry must raise no alarm that the cluster did not have. */
const QUOTA = 1024 ** 4;
/** How long the certificate is valid with which etcd is asked. */
const ACCESS_MS = 24 * 3_600_000;
/** The host name in it. */
const HOST = 'survivor';
/** Of what etcd said last. */
const LONGEST = 2_000;

export interface Survivor {
  /** The program. */
  readonly etcd: string;
  /** The survivor's data, which is only read. */
  readonly data: string;
  /** The volume that is written to. */
  readonly volume: string;
  /** The revision that the data has at least. */
  readonly revision: number;
  /** Of the loopback, where etcd listens on the copy. */
  readonly ports: { readonly client: number; readonly peer: number };
}

/**
 * Leaves the database where a restore looks for its snapshot.
 * @throws when there is no data, when etcd does not start on it, or when it has less than it should
 */
export async function copySurvivor(of: Survivor): Promise<SurvivorFacts> {
  const { data, volume } = of;
  // An attempt that was taken for dead comes late: the member's data was made of it.
  const isFinished = await stat(join(volume, 'restore', 'finished')).then(
    () => true,
    () => false,
  );
  if (isFinished) throw new Error(DONE_BEFORE);
  const snapshot = join(volume, SNAPSHOT_KEY);
  const copy = join(volume, 'restore', 'survivor');
  await stat(join(data, 'member', 'wal')).catch(() => {
    throw new Error('its volume contains no data of etcd');
  });
  // What an attempt that was cut short has left is no copy.
  await rm(copy, { recursive: true, force: true });
  await rm(snapshot, { force: true });
  await mkdir(dirname(copy), { recursive: true });
  await cp(data, copy, { recursive: true, mode: 0 });
  const facts = await replayed(of, copy);
  // From now on it is whole: etcd has closed it.
  await synced(join(copy, 'member', 'snap', 'db'));
  await rename(join(copy, 'member', 'snap', 'db'), snapshot);
  await synced(dirname(snapshot));
  await rm(copy, { recursive: true, force: true });
  return facts;
}

/** Runs etcd alone on the copy until it has applied all that is committed, and ends it, so that its database is closed. */
async function replayed({ etcd, revision, ports }: Survivor, copy: string): Promise<SurvivorFacts> {
  const client = `https://127.0.0.1:${ports.client}`;
  const peer = `http://127.0.0.1:${ports.peer}`;
  const access = join(dirname(copy), 'access');
  const tls = await writeAccess(access);
  const process = spawn(
    etcd,
    [
      `--data-dir=${copy}`,
      '--name=survivor',
      '--force-new-cluster',
      `--quota-backend-bytes=${QUOTA}`,
      '--log-outputs=stderr',
      '--client-cert-auth',
      `--trusted-ca-file=${join(access, 'ca.crt')}`,
      `--cert-file=${join(access, 'tls.crt')}`,
      `--key-file=${join(access, 'tls.key')}`,
      `--listen-client-urls=${client}`,
      `--advertise-client-urls=${client}`,
      `--listen-peer-urls=${peer}`,
      `--initial-advertise-peer-urls=${peer}`,
      `--initial-cluster=survivor=${peer}`,
    ],
    { env: {}, stdio: ['ignore', 'ignore', 'pipe'] },
  );
  let said = '';
  process.stderr.setEncoding('utf8').on('data', (text: string) => (said = (said + text).slice(-LONGEST)));
  const ended = new Promise<number | null>(resolve => {
    process.once('error', () => resolve(null));
    process.once('exit', code => resolve(code));
  });
  const member = createEtcdPort().member({
    host: '127.0.0.1',
    port: ports.client,
    serverName: HOST,
    tls,
  });
  const over = new AbortController();
  try {
    const status = await Promise.race([applied(member, over.signal), ended]);
    if (status === null || typeof status === 'number')
      throw new Error(`etcd ended when it was started on a copy of the data: ${said}`);
    const facts = await factsOf(member, status);
    if (Number(facts.revision) < revision)
      throw new Error(
        `its data has revision ${facts.revision}, but revision ${revision} was approved: it is not the data that was looked at`,
      );
    process.kill('SIGTERM');
    const code = await Promise.race([ended, pause(STOP_MS, 'late' as const, { signal: over.signal })]);
    if (code === 'late') throw new Error('etcd did not close its database');
    return facts;
  } finally {
    over.abort();
    member.close();
    process.kill('SIGKILL');
    await ended;
    await rm(access, { recursive: true, force: true });
  }
}

/**
 * Writes what etcd and its client need to trust each other, and nobody else, where this process alone reads it. With etcd's authentication on,
 * etcd answers only who has a name, and takes that of a client certificate for it (etcd documentation, "Role-based access control", TLS
 * common name); the user root is there whenever authentication is, so its password is not needed.
 */
async function writeAccess(folder: string): Promise<ClientTls> {
  const validity = { now: Date.now(), lasts: ACCESS_MS };
  const authority = await createAuthority(HOST, validity);
  const { cert, key } = await issueLeaf(
    authority,
    { commonName: 'root', usages: ['server', 'client'], dnsNames: [HOST], addresses: ['127.0.0.1'] },
    validity,
  );
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const files = { 'ca.crt': authority.cert, 'tls.crt': cert, 'tls.key': key };
  for (const [name, text] of Object.entries(files))
    await writeFile(join(folder, name), text, { mode: 0o600 });
  return { ca: authority.cert, cert, key };
}

/** Waits until it leads itself and has applied all that it knows to be committed. */
async function applied(member: EtcdMember, over: AbortSignal): Promise<MemberStatus> {
  const end = performance.now() + START_MS;
  for (;;) {
    const status = await member.status().catch((error: unknown) => messageOf(error));
    if (typeof status !== 'string' && isReady(status)) return status;
    if (over.aborted || performance.now() > end)
      throw new Error(`etcd does not serve a copy of the data: ${JSON.stringify(status).slice(0, LONGEST)}`);
    await pause(CHECK_MS);
  }
}

function isReady({ leaderId, memberId, raftIndex, raftAppliedIndex }: MemberStatus): boolean {
  return leaderId === memberId && raftIndex === raftAppliedIndex;
}

async function factsOf(member: EtcdMember, status: MemberStatus): Promise<SurvivorFacts> {
  const { revision = '0', clusterId, raftTerm, raftIndex } = status;
  const { hash } = await member.hashKv(revision);
  return { revision, clusterId, raftTerm, raftIndex, hash };
}

async function synced(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
