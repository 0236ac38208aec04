/**
 * The ids that etcd gives a cluster and its members when they bootstrap, or when `etcdutl snapshot restore` makes a data directory.
 * Source: etcd, server/etcdserver/api/membership, computeMemberId in member.go and genID in cluster.go; the same in 3.5, 3.6 and 3.7.
 */
import { createHash } from 'node:crypto';

/** The id of a member that bootstraps, in hexadecimal without leading zeros. A member that is added later gets another one. */
export function initialMemberId(token: string, peerUrls: readonly string[]): string {
  return idOf([...peerUrls].sort().join('') + token);
}

/** The id of the cluster that bootstraps with this token; `members` are the peer URLs of each. */
export function initialClusterId(token: string, members: readonly (readonly string[])[]): string {
  const ids = members.map(peerUrls => BigInt(`0x${initialMemberId(token, peerUrls)}`));
  const bytes = Buffer.alloc(8 * ids.length);
  for (const [index, id] of ids.toSorted((a, b) => (a < b ? -1 : 1)).entries())
    bytes.writeBigUInt64BE(id, 8 * index);
  return idOf(bytes);
}

/** The first 64 bits of the SHA-1. */
function idOf(data: string | Buffer): string {
  return createHash('sha1').update(data).digest().readBigUInt64BE().toString(16);
}
