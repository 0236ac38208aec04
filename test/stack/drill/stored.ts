/** Reads what etcd holds after a load has ended. */
import type { Etcd3 } from 'etcd3';
import { createEtcdPort } from '../../../src/etcd/adapter.ts';
import { dial } from './connection.ts';
import type { Stored, StoredValue } from './history.ts';

const CALL_MS = 10_000;
const WATCH_MS = 60_000;

/** Everything under `prefix`: what it holds now, and every put since the first of its keys was made. Rejects when that was compacted, or does not come within a minute. */
export async function readStored(endpoint: string, prefix: string): Promise<Stored> {
  const etcd = dial(endpoint);
  try {
    const { values, first } = await rangeOf(etcd, prefix);
    const last = lastOf(values);
    return storedAt(values, last === 0 ? [] : await watchUntil(etcd, prefix, { first, last }));
  } finally {
    etcd.close();
  }
}

/**
 * What was there when the values were read, and how it came about. A write that was given up may take place after that: a member that was
 * cut off passes what it was asked for on to the leader when it is connected again, half a minute later.
 */
export function storedAt(values: readonly StoredValue[], events: readonly StoredValue[]): Stored {
  const last = lastOf(values);
  return { values, events: events.filter(({ revision }) => revision <= last) };
}

function lastOf(values: readonly StoredValue[]): number {
  return Math.max(0, ...values.map(({ revision }) => revision));
}

/** What there is under `prefix` now. */
export async function readValues(endpoint: string, prefix: string): Promise<readonly StoredValue[]> {
  const etcd = dial(endpoint);
  try {
    return (await rangeOf(etcd, prefix)).values;
  } finally {
    etcd.close();
  }
}

/** Which of these values a member does not hold as they were acknowledged, each with its endpoint. */
export async function notHeld(
  endpoints: readonly string[],
  prefix: string,
  written: readonly StoredValue[],
): Promise<readonly string[]> {
  const each = endpoints.map(async endpoint => {
    const stored = new Map((await readValues(endpoint, prefix)).map(found => [found.key, found]));
    return written
      .filter(({ key, value, revision }) => {
        const found = stored.get(key);
        return found?.value !== value || found.revision !== revision;
      })
      .map(({ key, revision }) => `${key} of ${revision} at ${endpoint}`);
  });
  return (await Promise.all(each)).flat();
}

/** `first`: the revision at which the first of the keys was made. */
async function rangeOf(
  etcd: Etcd3,
  prefix: string,
): Promise<{ readonly values: readonly StoredValue[]; readonly first: number }> {
  const range = { key: Buffer.from(`${prefix}/`), range_end: Buffer.from(`${prefix}0`) };
  const { kvs } = await etcd.kv.range({ ...range, serializable: false }, { deadline: Date.now() + CALL_MS });
  return { values: kvs.map(storedValue), first: Math.min(...kvs.map(kv => Number(kv.create_revision))) };
}

/** Puts under the prefix from revision `first` until the one of revision `last`, in the order in which they come. */
async function watchUntil(
  etcd: Etcd3,
  prefix: string,
  { first, last }: { readonly first: number; readonly last: number },
): Promise<StoredValue[]> {
  const watcher = etcd.watch().prefix(`${prefix}/`).startRevision(String(first)).watcher();
  const events: StoredValue[] = [];
  try {
    await new Promise<void>((resolve, reject) => {
      const limit = setTimeout(
        () =>
          reject(new Error(`the watch of ${prefix} gave no revision ${last} within ${WATCH_MS / 1000} s`)),
        WATCH_MS,
      );
      const settle = (done: () => void): void => {
        clearTimeout(limit);
        done();
      };
      watcher.on('error', error => settle(() => reject(error)));
      watcher.on('disconnected', error => settle(() => reject(error)));
      watcher.on('data', response => {
        events.push(...response.events.map(event => storedValue(event.kv)));
        if ((events.at(-1)?.revision ?? 0) >= last) settle(resolve);
      });
    });
  } finally {
    await watcher.cancel().catch(() => undefined);
  }
  return events;
}

function storedValue(kv: { key: Buffer; value: Buffer; mod_revision: string }): StoredValue {
  return { key: kv.key.toString(), value: kv.value.toString(), revision: Number(kv.mod_revision) };
}

/** The hash that each member has of all keys up to one revision, by endpoint: all the same, or their data differs. */
export async function hashes(endpoints: readonly string[]): Promise<Record<string, string>> {
  const etcd = createEtcdPort();
  const members = endpoints.map(endpoint => {
    const [host = '', port] = endpoint.split(':');
    return { endpoint, member: etcd.member({ host, port: Number(port), serverName: host }) };
  });
  try {
    const reads = await Promise.all(members.map(({ member }) => member.linearizableRead()));
    // After its linearizable read each member holds everything up to the smallest of these.
    const revision = Math.min(...reads.map(read => Number(read.revision)));
    const hashed = members.map(async ({ endpoint, member }) => {
      const { hash, compactRevision } = await member.hashKv(String(revision));
      return [endpoint, `${hash} since ${compactRevision}`] as const;
    });
    return Object.fromEntries(await Promise.all(hashed));
  } finally {
    for (const { member } of members) member.close();
  }
}
