/**
 * A client of the client Service that writes one new key after another, whatever becomes of its cluster, and what must be
 * said of each of them after a restore.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { World } from '../e2e.ts';
import { poll } from '../poll.ts';
import { DrillConnection } from './connection.ts';
import type { Place } from './drill.ts';
import type { StoredValue } from './history.ts';

/** A write that was acknowledged. Each has a key of its own. */
export type Written = StoredValue;

export interface Journal {
  readonly prefix: string;
  /** Writes that were acknowledged so far, in their order. */
  written(): readonly Written[];
  /** Ends it, and gives all that was acknowledged. */
  stop(): Promise<readonly Written[]>;
}

const EVERY_MS = 25;
const LOOK_EVERY_MS = 250;
const CALL_MS = 2_000;
const PATIENT_MS = 240_000;

/** Writes so many keys at least, and gives what was acknowledged. */
export async function writeKeys(
  world: World,
  at: Place,
  { prefix, count }: { readonly prefix: string; readonly count: number },
): Promise<readonly Written[]> {
  const journal = startJournal(world, at, prefix);
  try {
    await poll(async () => journal.written().length >= count, { timeoutMs: PATIENT_MS });
  } finally {
    await journal.stop();
  }
  return journal.written();
}

/** Begins to write. */
export function startJournal(world: World, at: Place, prefix: string): Journal {
  const written: Written[] = [];
  let known: readonly string[] = [];
  let isEnding = false;
  const connection = new DrillConnection(() => known, { first: 0, callMs: CALL_MS });
  const look = async (): Promise<void> => {
    while (!isEnding) {
      known = await serviceEndpoints(world, at).catch(() => known);
      await delay(LOOK_EVERY_MS);
    }
  };
  const write = async (): Promise<void> => {
    for (let id = 0; !isEnding; id += 1) {
      const [key, value] = [`${prefix}/${String(id).padStart(6, '0')}`, `${prefix}#${id}`];
      const put = { key: Buffer.from(key), value: Buffer.from(value) };
      try {
        const { header } = await connection.call((etcd, options) => etcd.kv.put(put, options));
        written.push({ key, value, revision: Number(header.revision) });
      } catch {
        // Whether it was written nobody knows: its key is not used again.
      }
      await delay(EVERY_MS);
    }
  };
  const both = Promise.all([look(), write()]);
  return {
    prefix,
    written: () => written,
    async stop() {
      isEnding = true;
      await both;
      connection.close();
      return written;
    },
  };
}

/** `host:port` of what the client Service leads to now; none while there is no such Service. */
async function serviceEndpoints(world: World, { namespace, name }: Place): Promise<string[]> {
  const { items } = await world.kube.list(
    { apiVersion: 'discovery.k8s.io/v1', kind: 'EndpointSlice' },
    { namespace, labelSelector: `kubernetes.io/service-name=${name}-client` },
  );
  return items.flatMap(slice => {
    const endpoints = (slice['endpoints'] ?? []) as readonly Endpoint[];
    const ready = endpoints.filter(({ conditions }) => conditions?.ready === true);
    return ready.flatMap(({ addresses }) => addresses.map(address => `${address}:2379`));
  });
}

interface Endpoint {
  readonly addresses: readonly string[];
  readonly conditions?: { readonly ready?: boolean };
}

/** A restore of a backup that holds at least `revision`, which raised revisions by `bump`. */
export interface RestoredAt {
  readonly revision: number;
  readonly bump: number;
}

/**
 * What contradicts a restore: key by key, with values and revisions. Empty: all is as it must be. A backup may hold more than the
 * revision that was read before it was taken, but whatever it holds it holds without a gap.
 */
export function contradictions(
  written: readonly Written[],
  stored: readonly StoredValue[],
  { revision: least, bump }: RestoredAt,
): string[] {
  const found = new Map(stored.map(value => [value.key, value]));
  const old = stored.map(({ revision }) => revision).filter(revision => revision < bump);
  const end = Math.max(least, ...old);
  return written.flatMap(({ key, value, revision }) => {
    const there = found.get(key);
    const isGone = revision > end && revision < bump;
    if (isGone) return there === undefined ? [] : [`${key}, written after the backup, is there`];
    if (there === undefined) return [`${key} of revision ${revision} is not there`];
    const isSame = there.value === value && there.revision === revision;
    return isSame ? [] : [`${key} is ${there.value} of ${there.revision}, and was ${value} of ${revision}`];
  });
}

/** What a client is answered that continues to watch from a revision: that it was compacted, or what came instead. */
export async function watchFrom(
  endpoint: string,
  { prefix, revision }: { readonly prefix: string; readonly revision: number },
): Promise<string> {
  const response = await fetch(`http://${endpoint}/v3/watch`, {
    method: 'POST',
    body: JSON.stringify({
      create_request: {
        key: Buffer.from(`${prefix}/`).toString('base64'),
        range_end: Buffer.from(`${prefix}0`).toString('base64'),
        start_revision: String(revision),
      },
    }),
    signal: AbortSignal.timeout(10_000),
  });
  let text = '';
  for await (const chunk of response.body ?? []) {
    text += Buffer.from(chunk).toString();
    if (/compact_revision|canceled|"events"/.test(text)) break;
  }
  return text;
}
