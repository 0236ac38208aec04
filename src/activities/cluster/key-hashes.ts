/** Asks members for the hash of their keys (HashKV), all at one revision. */
import type { EtcdMember, EtcdPort } from '../../etcd/port.ts';
import type { PodFacts } from '../../planner/model/observation.ts';
import { messageOf } from '../../api/values/message-of.ts';
import { type ClusterAddress, dial, probeMembers } from '../observe/probe.ts';

/** What one member answers, or why it does not. */
export type HashAnswer = { readonly name: string } & (
  | { readonly hash: string; readonly compactRevision: string }
  | { readonly message: string }
);

export interface Hashing {
  readonly pods: readonly PodFacts[];
  /** Called with how many have answered, whenever one does. */
  readonly answered: (count: number) => void;
  /** Ends every call. */
  readonly signal: AbortSignal;
}

/**
 * The newest revision that all of the members have, and what their keys up to it come to. All are asked side by side: a compaction
 * that comes between two answers makes them incomparable, and while etcd reads its keys for this it applies no writes (`hashByRev`
 * holds the lock of its read buffer), which clients then wait for once and not once for each member. Never rejects.
 */
export async function hashMembers(
  etcd: EtcdPort,
  cluster: ClusterAddress,
  { pods, answered, signal }: Hashing,
): Promise<{ readonly revision: string; readonly members: readonly HashAnswer[] }> {
  const { probes } = await probeMembers(etcd, cluster, pods);
  const revisions = pods.flatMap(({ name }) => {
    const probe = probes[name];
    return probe?.answered === true && probe.read.ok ? [BigInt(probe.read.revision ?? '0')] : [];
  });
  const revision = String(revisions.reduce((a, b) => (a < b ? a : b), 2n ** 62n));
  let count = 0;
  answered(count);
  const members = await Promise.all(
    pods.map(async ({ name, ip }): Promise<HashAnswer> => {
      const probe = probes[name];
      const silent =
        probe?.answered === true ? (probe.read.ok ? undefined : probe.read.message) : probe?.message;
      if (ip === undefined || silent !== undefined)
        return { name, message: silent ?? 'its pod has no address' };
      const answer = await hashOf(() => dial(etcd, cluster, { name, ip }), { revision, signal });
      count += 1;
      answered(count);
      return { name, ...answer };
    }),
  );
  return { revision, members };
}

/** Whether the members answered over the same history, as far as they did: hashes over different ones say nothing. */
export function areComparable(members: readonly HashAnswer[]): boolean {
  return new Set(members.flatMap(each => ('hash' in each ? [each.compactRevision] : []))).size <= 1;
}

async function hashOf(
  open: () => EtcdMember,
  { revision, signal }: { readonly revision: string; readonly signal: AbortSignal },
): Promise<{ readonly hash: string; readonly compactRevision: string } | { readonly message: string }> {
  let member: EtcdMember | undefined;
  const end = () => member?.close();
  try {
    signal.throwIfAborted();
    signal.addEventListener('abort', end, { once: true });
    member = open();
    return await member.hashKv(revision);
  } catch (error) {
    return { message: messageOf(error) };
  } finally {
    signal.removeEventListener('abort', end);
    member?.close();
  }
}
