/** What the verification of a backup has found, and what it may be called afterwards. Pure. */
import type { BackupVerification } from '../../api/defaults/etcd-backup.ts';
import type { BackupManifest, LiveHashes, SnapshotStructure } from '../../api/derived/backup-manifest.ts';

/** A snapshot that was restored on the side and started by itself. */
export interface RestoredFacts {
  /** The revision that it was hashed at; in decimal, as all 64-bit numbers. */
  readonly revision: string;
  readonly hash: string;
  readonly compactRevision: string;
}

/**
 * What the pod of a verification says. `trouble`: it could not do its work, which says nothing of the backup; `fault`: etcd's own
 * tool refuses the snapshot; `read`: it has read it, and was asked to restore it or not.
 */
export type VerificationReport =
  | { readonly kind: 'trouble'; readonly message: string }
  | { readonly kind: 'fault'; readonly message: string }
  | {
      readonly kind: 'read';
      readonly structure: SnapshotStructure;
      readonly restored?: RestoredFacts | { readonly unknown: string };
    };

/** What a verified backup is called; with `fault` it is not verified, with `doubt` less than was asked could be shown. */
export interface VerificationResult {
  readonly verified: BackupVerification | '';
  readonly fault?: string;
  readonly doubt?: string;
}

/** The report in a termination message; undefined when it holds none. */
export function parseReport(text: string | undefined): VerificationReport | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text ?? '');
  } catch {
    return undefined;
  }
  const { kind, message, structure } = record(value);
  const { hash, revision, keys } = record(structure);
  const isReport =
    kind === 'read'
      ? [hash, revision, keys].every(each => typeof each === 'number')
      : (kind === 'trouble' || kind === 'fault') && typeof message === 'string';
  return isReport ? (value as VerificationReport) : undefined;
}

function record(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

export type ReadReport = Extract<VerificationReport, { kind: 'read' }>;

/**
 * Judges a snapshot that etcd's tool has read. The revision in the manifest was read before the snapshot was taken, so it holds
 * at least that one; hashes are compared only over the same history (the same compaction), since otherwise equal data have
 * different hashes.
 * @param live hashes of the cluster that the snapshot is of
 */
export function verificationResult(
  { entry, structure: before }: Pick<BackupManifest, 'entry' | 'structure'>,
  report: ReadReport,
  live: LiveHashes | undefined,
): VerificationResult {
  const { structure, restored } = report;
  if (before !== undefined && !isSame(before, structure)) {
    return bad(`etcdutl reports ${described(structure)}, but reported ${described(before)} before`);
  }
  const shallow = behind(entry.revision, report, live);
  if (shallow?.fault !== undefined) return shallow;
  if (restored === undefined) return shallow ?? { verified: 'Structure' };
  if ('unknown' in restored) return { verified: 'Structure', doubt: restored.unknown };
  return compared(restored, live);
}

function compared(restored: RestoredFacts, live: LiveHashes | undefined): VerificationResult {
  const { revision, hash, compactRevision } = restored;
  const hashes = live?.revision === revision ? live.hashes : [];
  const comparable = hashes.filter(each => each.compactRevision === compactRevision);
  if (comparable.some(each => each.hash === hash)) return { verified: 'Restore' };
  const [other] = comparable;
  if (other !== undefined) {
    return bad(
      `the restored data has the hash ${hash} at revision ${revision}, but the cluster had ${other.hash}`,
    );
  }
  return {
    verified: 'Structure',
    doubt: `it was restored and started, but no hash of the cluster at revision ${revision}, compacted at ${compactRevision}, is available for comparison`,
  };
}

/** The revision of a cluster that nobody has written to. No key has it: etcdutl, which reads keys, then says 0. */
const FIRST_REVISION = 1;

/** A snapshot without the revision that was read before it. What was compacted at that very revision need not be in the file. */
function behind(
  revision: number | undefined,
  { structure, restored }: ReadReport,
  live: LiveHashes | undefined,
): VerificationResult | undefined {
  const compacted = live?.hashes.map(({ compactRevision }) => Number(compactRevision)) ?? [];
  const started = restored !== undefined && 'hash' in restored;
  if (revision === undefined || revision <= FIRST_REVISION || structure.revision >= revision || started) {
    return undefined;
  }
  if (compacted.some(at => at >= revision)) return undefined;
  const fault = `it ends at revision ${structure.revision}, but the cluster was at ${revision} before it was taken`;
  return compacted.length === 0 ? { verified: 'Checksum', doubt: fault } : bad(fault);
}

function bad(fault: string): VerificationResult {
  return { verified: '', fault };
}

function isSame(a: SnapshotStructure, b: SnapshotStructure): boolean {
  return a.hash === b.hash && a.revision === b.revision && a.keys === b.keys;
}

function described({ hash, revision, keys }: SnapshotStructure): string {
  return `hash ${hash.toString(16)}, revision ${revision}, ${keys} keys`;
}
