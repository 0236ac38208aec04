/**
 * The verification of a backup beyond its checksum: the object, read back from the store, goes into a pod with the tools of the
 * cluster's own etcd, and what they say is judged and recorded, in the manifest and in the resource. Can be killed at any
 * point and done again: a pod that was left is ended, and its work begun again.
 */
import { backupWithDefaults } from '../../api/defaults/etcd-backup.ts';
import type { BackupManifest } from '../../api/derived/backup-manifest.ts';
import { timestamp } from '../../api/values/time.ts';
import type { BackupEntry } from '../../api/schemas/types.ts';
import type { BackupStepOf } from '../../planner/backup/steps.ts';
import { finished, withFault, withSuccess } from '../../planner/backup/report.ts';
import type { VerificationResult } from '../../planner/backup/verification.ts';
import type { HeartbeatDetails } from '../runtime/heartbeat.ts';
import type { Dependencies } from '../runtime/dependencies.ts';
import { backupFacts, type BackupRef, recordRun } from '../resource/etcd-backup.ts';
import { hashNow } from './live-hashes.ts';
import { endedRun, obtain, withRun } from './take-snapshot.ts';
import type { Run } from './run.ts';
import { type AtNode, besideTurns } from './turn.ts';
import { keyOf, replaceManifest, type Verified, verdictOn } from './verdict.ts';

type Step = BackupStepOf<'verifyBackup'>;

/** Verifies the backup of the run that the step names, and ends the run. */
export async function verifyBackup(
  deps: Dependencies,
  heartbeatDetails: HeartbeatDetails,
  { ref, step }: { readonly ref: BackupRef; readonly step: Step },
): Promise<void> {
  await withRun({ deps, heartbeatDetails, ref, step }, (run, backup) =>
    besideTurns({ deps, backup }, atNode => verifyRun(run, atNode)),
  );
}

async function verifyRun(run: Run, atNode: AtNode): Promise<void> {
  const manifest = await obtain(run, atNode);
  const { verdict, structure } = await verify(run, manifest);
  const known = structure ?? manifest.structure;
  const entry = { ...manifest.entry, verified: verdict.verified };
  const after = { ...manifest, entry, ...(known && { structure: known }) };
  const { folder, bounds } = run;
  await replaceManifest(folder.store, keyOf(run, entry), { before: manifest, after, options: bounds });
  await recordVerdict(run, entry, verdict);
}

async function verify(run: Run, manifest: BackupManifest): Promise<Verified> {
  const level = backupWithDefaults(run.folder.backup.spec).verify;
  if (level === 'Checksum') return { verdict: { verified: 'Checksum' } };
  const { clusterID: clusterId } = manifest.entry;
  return verdictOn(run, manifest, { level, hashNow: restored => hashNow(run, { ...restored, clusterId }) });
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
