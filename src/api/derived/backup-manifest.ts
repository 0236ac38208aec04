/**
 * The manifest beside each object: what the object is, and whose. Deletions trust it and nothing else, so it is read with
 * care and never guessed from a name. Pure.
 */
import type { BackupCompression } from '../defaults/etcd-backup.ts';
import type { BackupEntry } from '../schemas/types.ts';

/** The form of manifests; a reader refuses a higher one. */
const FORMAT = 1;

export interface BackupManifest {
  readonly format: typeof FORMAT;
  /** The EtcdBackup that wrote the object. */
  readonly backup: { readonly namespace: string; readonly name: string; readonly uid: string };
  /** When its run was begun, RFC 3339. */
  readonly startedAt: string;
  /** As in the resource's status. */
  readonly entry: BackupEntry;
  readonly compression: BackupCompression;
  /** What the object holds once it is decompressed: etcd's database and the 32 bytes of its checksum. */
  readonly snapshot: {
    /** Bytes, the checksum's 32 among them. */
    readonly size: number;
    /** Of the database, in hexadecimal: what the last 32 bytes say. */
    readonly sha256: string;
    /** etcd's storage version; empty before 3.6. */
    readonly storageVersion: string;
  };
  /** What the cluster's data was when the snapshot was taken; absent where nobody wants to compare it. */
  readonly live?: LiveHashes;
  /** What etcd's tool has read out of the object; absent before it has. */
  readonly structure?: SnapshotStructure;
}

/** Hashes of the member that a snapshot is of, at one revision: before the snapshot and after, since a compaction changes them. */
export interface LiveHashes {
  /** In decimal. */
  readonly revision: string;
  readonly hashes: readonly { readonly hash: string; readonly compactRevision: string }[];
}

/** What `etcdutl snapshot status` says. */
export interface SnapshotStructure {
  /** CRC-32 over all keys and values. */
  readonly hash: number;
  readonly revision: number;
  readonly keys: number;
}

/** A manifest in the format of this release. */
export function newManifest(of: Omit<BackupManifest, 'format'>): BackupManifest {
  return { format: FORMAT, ...of };
}

/** What the status takes of an entry (its schema): longer texts are none of the operator's. */
const LONGEST = {
  location: 4096,
  endpoint: 2048,
  region: 64,
  sha256: 64,
  etcdVersion: 64,
  clusterID: 32,
  member: 253,
  verified: 63,
  duration: 32,
} as const;
const COUNTS = ['revision', 'keys', 'size'] as const;
const KNOWN: readonly string[] = ['time', ...Object.keys(LONGEST), ...COUNTS];

/** RFC 3339, as the status takes it. */
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/;

/**
 * What was read from a store, without what is not known; undefined when it is no manifest that this release understands, or holds
 * what no status does: anybody may have written it.
 */
export function parseManifest(text: string): BackupManifest | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  const { format, backup, startedAt, entry, compression, snapshot } = record(value);
  const isWhole =
    format === FORMAT &&
    texts(backup, 'namespace', 'name', 'uid') &&
    isEntry(record(entry)) &&
    typeof startedAt === 'string' &&
    ['none', 'gzip', 'zstd'].includes(String(compression)) &&
    texts(snapshot, 'sha256', 'storageVersion') &&
    typeof record(snapshot)['size'] === 'number';
  if (!isWhole) return undefined;
  const known = Object.entries(record(entry)).filter(([field]) => KNOWN.includes(field));
  return { ...(value as BackupManifest), entry: Object.fromEntries(known) as unknown as BackupEntry };
}

function isEntry(entry: Readonly<Record<string, unknown>>): boolean {
  const { time, location } = entry;
  const isShort = ([field, longest]: readonly [string, number]): boolean => {
    const text = entry[field];
    return text === undefined || (typeof text === 'string' && text.length <= longest);
  };
  return (
    typeof location === 'string' &&
    typeof time === 'string' &&
    TIME.test(time) &&
    !Number.isNaN(Date.parse(time)) &&
    Object.entries(LONGEST).every(isShort) &&
    COUNTS.every(field => entry[field] === undefined || isCount(entry[field]))
  );
}

function record(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

function texts(value: unknown, ...fields: readonly string[]): boolean {
  return fields.every(field => typeof record(value)[field] === 'string');
}
