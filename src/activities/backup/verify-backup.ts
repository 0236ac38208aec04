/**
 * The verification of a backup beyond its checksum: the object, read back from the store, goes into a pod with the tools of the
 * cluster's own etcd, and what they say is judged and recorded, in the manifest and in the resource. Can be killed at any
 * point and done again: a pod that was left is ended, and its work begun anew.
 */
import { backupWithDefaults } from '../../api/defaults/etcd-backup.ts';
import type { BackupManifest } from '../../api/derived/backup-manifest.ts';
import { manifestKey } from '../../api/derived/backup-names.ts';
import { timestamp } from '../../api/values/time.ts';
import type { BackupEntry } from '../../api/schemas/types.ts';
import { EtcdError } from '../../etcd/port.ts';
import type { BackupStepOf } from '../../planner/backup/steps.ts';
import { finished, withFault, withSuccess } from '../../planner/backup/report.ts';
import {
  verificationResult,
  type ReadReport,
  type VerificationResult,
} from '../../planner/backup/verification.ts';
import type { HeartbeatDetails } from '../runtime/heartbeat.ts';
import type { Dependencies } from '../runtime/dependencies.ts';
import { keyOn, writeManifest } from './catalogue.ts';
import { BackupFailure } from './failure.ts';
import { backupFacts, type BackupRef, recordRun } from '../resource/etcd-backup.ts';
import { hashNow } from './live-hashes.ts';
import { endedRun, obtain, withRun } from './take-snapshot.ts';
import type { Run } from './run.ts';
import { besideTurns } from './turn.ts';
import { askVerifier } from './verifier.ts';

type Step = BackupStepOf<'verifyBackup'>;

/** Verifies the backup of the run that the step names, and ends the run. */
export async function verifyBackup(
  deps: Dependencies,
  heartbeatDetails: HeartbeatDetails,
  { ref, step }: { readonly ref: BackupRef; readonly step: Step },
): Promise<void> {
  await withRun({ deps, heartbeatDetails, ref, step }, (run, backup) =>
    besideTurns({ deps, backup }, () => verifyRun(run)),
  );
}

async function verifyRun(run: Run): Promise<void> {
  const manifest = await obtain(run);
  const { verdict, structure } = await verify(run, manifest);
  const known = structure ?? manifest.structure;
  const entry = { ...manifest.entry, verified: verdict.verified };
  await replaceManifest(run, manifest, { ...manifest, entry, ...(known && { structure: known }) });
  await recordVerdict(run, entry, verdict);
}

interface Verified {
  readonly verdict: VerificationResult;
  readonly structure?: ReadReport['structure'];
}

/** Throws when nothing was found out: that is no verdict, and the time of the run decides how often it is tried. */
async function verify(run: Run, manifest: BackupManifest): Promise<Verified> {
  const level = backupWithDefaults(run.folder.backup.spec).verify;
  if (level === 'Checksum') return { verdict: { verified: 'Checksum' } };
  const key = keyOf(run, manifest.entry);
  try {
    const report = await askVerifier(run, { manifest, key, level });
    if (report.kind === 'trouble') {
      throw new BackupFailure('later', `the backup was written but cannot be verified: ${report.message}`);
    }
    if (report.kind === 'fault') return { verdict: distrusted(manifest.entry, report.message) };
    const { restored, structure } = report;
    const asked = restored !== undefined && 'hash' in restored && manifest.live === undefined;
    const live = asked
      ? await hashNow(run, { ...restored, clusterId: manifest.entry.clusterID })
      : manifest.live;
    const verdict = verificationResult(manifest, report, live);
    const { fault } = verdict;
    return { structure, verdict: fault === undefined ? verdict : distrusted(manifest.entry, fault) };
  } catch (error) {
    // What came back from the store is not what was written to it.
    if (!(error instanceof EtcdError) || error.code !== 'corrupt') throw error;
    return { verdict: distrusted(manifest.entry, error.message) };
  }
}

function distrusted({ location }: BackupEntry, fault: string): VerificationResult {
  const message = `${location} is kept without verification: ${fault}`;
  return { verified: '', fault: message.slice(0, 4096) };
}

function keyOf({ folder }: Run, { location }: BackupEntry): string {
  const key = keyOn(folder, location);
  if (key === undefined) throw new BackupFailure('later', `${location} is not in this store`);
  return key;
}

/** A manifest that is deleted and not written again leaves an object that its run knows as its own, and describes anew. */
async function replaceManifest(run: Run, before: BackupManifest, after: BackupManifest): Promise<void> {
  if (JSON.stringify(before) === JSON.stringify(after)) return;
  const { store } = run.folder;
  const key = keyOf(run, after.entry);
  await store.delete(manifestKey(key), run.bounds);
  await writeManifest(store, key, { manifest: after, options: run.bounds });
}

/** The run is over, one way or the other. */
async function recordVerdict(
  run: Run,
  entry: BackupEntry,
  { verified, fault, doubt }: VerificationResult,
): Promise<void> {
  const { deps } = run;
  await recordRun(deps, run, (status, backup) => {
    const now = deps.now();
    const ended = endedRun(status.progress, { backup, now });
    const after =
      fault === undefined
        ? withSuccess(status, entry, {
            ...ended,
            ...(doubt !== undefined && { message: doubt.slice(0, 4096) }),
          })
        : withFault(status, entry, { ...ended, message: fault });
    const shown = verified === 'Restore' ? { ...after, lastVerifiedRestore: timestamp(now) } : after;
    return finished({ now, backup: backupFacts(backup) }, shown);
  });
}
