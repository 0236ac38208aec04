/** What the tools of the cluster's own etcd say of an object of the store, judged; and the manifest that describes it. */
import type { BackupManifest, LiveHashes } from '../../api/derived/backup-manifest.ts';
import { manifestKey, nextManifestKey } from '../../api/derived/backup-names.ts';
import type { BackupEntry } from '../../api/schemas/types.ts';
import { EtcdError } from '../../etcd/port.ts';
import {
  type ReadReport,
  type VerificationResult,
  verificationResult,
} from '../../planner/backup/verification.ts';
import type { CallOptions, Store } from '../../store/port.ts';
import { deleteUnlessLocked, keyOn, readManifestAt, writeManifest } from './catalogue.ts';
import { BackupFailure } from './failure.ts';
import type { Run } from './run.ts';
import { askVerifier } from './verifier.ts';

/** A verdict, and what etcd's tool has read. */
export interface Verified {
  readonly verdict: VerificationResult;
  readonly structure?: ReadReport['structure'];
}

interface Asked {
  readonly level: 'Structure' | 'Restore';
  /** The hash that the cluster has now at the revision of the restored data, for a manifest that has none. */
  readonly hashNow: (restored: { readonly revision: string }) => Promise<LiveHashes | undefined>;
}

/** Throws when nothing was found out: that is no verdict, and the time of the run decides how often it is tried. */
export async function verdictOn(
  run: Run,
  manifest: BackupManifest,
  { level, hashNow }: Asked,
): Promise<Verified> {
  const key = keyOf(run, manifest.entry);
  try {
    const report = await askVerifier(run, { manifest, key, level });
    if (report.kind === 'trouble') {
      throw new BackupFailure('later', `the backup was written but cannot be verified: ${report.message}`);
    }
    if (report.kind === 'fault') return { verdict: distrusted(manifest.entry, report.message) };
    const { restored, structure } = report;
    const asked = restored !== undefined && 'hash' in restored && manifest.live === undefined;
    const live = asked ? await hashNow(restored) : manifest.live;
    const verdict = verificationResult(manifest, report, live);
    const { fault } = verdict;
    return { structure, verdict: fault === undefined ? verdict : distrusted(manifest.entry, fault) };
  } catch (error) {
    // What came back from the store is not what was written to it.
    if (!(error instanceof EtcdError) || error.code !== 'corrupt') throw error;
    return { verdict: distrusted(manifest.entry, error.message) };
  }
}

/** The verdict that a backup is bad. */
export function distrusted({ location }: Pick<BackupEntry, 'location'>, fault: string): VerificationResult {
  const message = `${location} is kept without verification: ${fault}`;
  return { verified: '', fault: message.slice(0, 4096) };
}

/** The key of a backup on the opened store. */
export function keyOf({ folder }: Pick<Run, 'folder'>, { location }: Pick<BackupEntry, 'location'>): string {
  const key = keyOn(folder, location);
  if (key === undefined) throw new BackupFailure('later', `${location} is not in this store`);
  return key;
}

/**
 * Writes another manifest in the place of the one that there is. No store replaces an object, so the new one lies beside it first: a reader
 * that finds no manifest reads that (catalogue.ts), and an attempt after a crash in between finds it and continues.
 */
export async function replaceManifest(
  store: Store,
  key: string,
  {
    before,
    after,
    options,
  }: { readonly before: BackupManifest; readonly after: BackupManifest; readonly options: CallOptions },
): Promise<void> {
  if (!(await settleManifest(store, key, options))) return;
  if (JSON.stringify(before) === JSON.stringify(after)) return;
  await writeManifest(store, key, { manifest: after, options, at: nextManifestKey(key) });
  if (!(await deleteUnlessLocked(store, manifestKey(key), options))) return;
  await writeManifest(store, key, { manifest: after, options });
  await deleteUnlessLocked(store, nextManifestKey(key), options);
}

/**
 * Ends a replacement that was interrupted. Nothing is deleted that is not there: a store that keeps versions would note even that.
 * @returns false: the store lets nobody delete the other manifest, which stays the one that counts
 */
async function settleManifest(store: Store, key: string, options: CallOptions): Promise<boolean> {
  if ((await store.head(nextManifestKey(key), options)) === undefined) return true;
  const next = await readManifestAt(store, nextManifestKey(key), options);
  if (next !== undefined && (await store.head(manifestKey(key), options)) === undefined)
    await writeManifest(store, key, { manifest: next, options });
  return deleteUnlessLocked(store, nextManifestKey(key), options);
}
