/**
 * The verification of a backup that is in the store, because somebody asked for it: as a run verifies what it has written, and recorded in
 * the same places. Can be killed at any point and done again: a pod that was left is ended, and a verdict that is recorded stands.
 */
import { Context } from '@temporalio/activity';
import { backupWithDefaults } from '../../api/defaults/etcd-backup.ts';
import type { BackupManifest } from '../../api/derived/backup-manifest.ts';
import { manifestKey } from '../../api/derived/backup-names.ts';
import type { BackupEntry, EtcdBackup, EtcdBackupStatus } from '../../api/schemas/types.ts';
import { messageOf } from '../../api/values/message-of.ts';
import { timestamp } from '../../api/values/time.ts';
import { withoutUndefined } from '../../api/values/without-undefined.ts';
import { copyOf } from '../../planner/backup/second-store.ts';
import { finished, withVerification } from '../../planner/backup/report.ts';
import type { BackupStepOf } from '../../planner/backup/steps.ts';
import { verdictOutcome, verifiedAfter } from '../../planner/backup/stored-verification.ts';
import type { VerificationResult } from '../../planner/backup/verification.ts';
import { retryOnConflict } from '../resource/custom-resource.ts';
import { acceptRequests } from '../resource/etcd-requests.ts';
import {
  backupFacts,
  type BackupRef,
  readPresent,
  reportBackup,
  setFinalizer,
} from '../resource/etcd-backup.ts';
import { withoutWatchers } from '../resource/status-writing.ts';
import type { Dependencies } from '../runtime/dependencies.ts';
import { preconditionChanged } from '../runtime/failures.ts';
import type { HeartbeatDetails } from '../runtime/heartbeat.ts';
import { folderOf, readManifest } from './catalogue.ts';
import { BackupFailure } from './failure.ts';
import { hashNow } from './live-hashes.ts';
import type { Run } from './run.ts';
import { besideTurns } from './turn.ts';
import { distrusted, keyOf, replaceManifest, verdictOn } from './verdict.ts';

type Step = BackupStepOf<'verifyStoredBackup'>;
type Verification = NonNullable<EtcdBackupStatus['verification']>;

interface Order {
  readonly deps: Dependencies;
  readonly ref: BackupRef;
  readonly step: Step;
}

/** Verifies the backup that the step names, and records the verdict under the request that asked for it. */
export async function verifyStoredBackup(
  deps: Dependencies,
  heartbeatDetails: HeartbeatDetails,
  { ref, step }: Omit<Order, 'deps'>,
): Promise<void> {
  const order = { deps, ref, step };
  const read = await readPresent(deps.kube, ref);
  if (
    read.status?.verification?.request === step.request &&
    read.status.verification.completedAt !== undefined
  )
    return;
  const message = 'the verification has begun: status.verification of the EtcdBackup says how far it is';
  const accepted = { uids: [step.request], outcome: { state: 'accepted', message } } as const;
  if (!(await acceptRequests(deps, { kind: 'EtcdBackup', ...ref }, accepted)))
    throw preconditionChanged('the request for this verification has ended');
  // A deletion of the resource waits until the verification has ended, and nothing of it is left.
  const backup = await setFinalizer(deps.kube, read, true);
  await record(order, verification => verification);
  const bounds = { signal: Context.current().cancellationSignal, deadlineMs: step.secondsLeft * 1_000 };
  await besideTurns({ deps, backup }, async () => {
    const store = await deps.openStore(backup);
    try {
      const entry = entryOf(backup, step);
      const folder = folderOf(store, backup, backupWithDefaults(backup.spec).schedule.kind !== 'once');
      await verify(order, { deps, ref, startedAt: entry.time, folder, bounds, heartbeatDetails }, entry);
    } finally {
      await store.close();
    }
  }).catch(async (error: unknown) => {
    await noteTrouble(order, error);
    throw error;
  });
}

async function verify(order: Order, run: Run, entry: BackupEntry): Promise<void> {
  const { folder, bounds } = run;
  const key = keyOf(run, entry);
  const isThere = (await folder.store.head(key, bounds)) !== undefined;
  const copy = copyOf(folder.backup, entry)?.location;
  // The copy is as good as it was: what the first store has lost is no fault of the backup.
  if (!isThere && copy !== undefined)
    throw new BackupFailure('never', `${entry.location} does not exist in the store; its copy is ${copy}`);
  if (!isThere)
    return recordVerdict(order, entry, {
      verified: '',
      fault: `${entry.location} does not exist in the store`,
    });
  const manifest = await manifestOf(run, key, entry);
  const why = unlike(entry, manifest, run);
  const { level } = order.step;
  const { verdict, structure = manifest.structure } =
    why === undefined
      ? await verdictOn(run, manifest, { level, hashNow: restored => hashOf(run, manifest, restored) })
      : { verdict: distrusted(entry, why) };
  const verified = verifiedAfter(manifest.entry.verified, verdict);
  const after = { ...manifest, entry: { ...manifest.entry, verified }, ...(structure && { structure }) };
  await replaceManifest(folder.store, key, { before: manifest, after, options: bounds });
  await recordVerdict(order, after.entry, verdict);
}

/** What nothing is compared with cannot be verified: that is no fault of the backup. */
async function manifestOf(
  { folder: { store, backup }, bounds }: Run,
  key: string,
  { location }: BackupEntry,
): Promise<BackupManifest> {
  const manifest = await readManifest(store, key, bounds);
  if (manifest?.backup.uid === backup.metadata.uid) return manifest;
  const what = manifest === undefined ? 'is missing or cannot be understood' : 'names another EtcdBackup';
  const message = `the manifest of ${location}, ${manifestKey(key)}, ${what}, so there is nothing to compare the backup with`;
  throw new BackupFailure('never', message);
}

/** Status and manifest describe the same bytes, unless somebody has put others in their place. */
function unlike({ sha256 }: BackupEntry, { entry }: BackupManifest, { folder }: Run): string | undefined {
  if (sha256 === undefined || entry.sha256 === sha256) return undefined;
  return `its manifest records the SHA-256 ${entry.sha256 ?? 'none'}, and the status of EtcdBackup ${folder.backup.metadata.name} ${sha256}`;
}

/** The cluster may have gone, or have compacted the revision away: then there is a doubt, and no fault. */
async function hashOf(run: Run, { entry }: BackupManifest, restored: { readonly revision: string }) {
  try {
    return await hashNow(run, { ...restored, clusterId: entry.clusterID });
  } catch (error) {
    run.deps.logger.info('no hash of the cluster to compare the backup with', { error: messageOf(error) });
    return undefined;
  }
}

function entryOf({ metadata, status }: EtcdBackup, { location }: Step): BackupEntry {
  const entry = status?.history?.find(each => each.location === location);
  if (entry !== undefined) return entry;
  throw new BackupFailure(
    'never',
    `${location} is no longer in status.history of EtcdBackup ${metadata.name}`,
  );
}

async function recordVerdict(order: Order, entry: BackupEntry, verdict: VerificationResult): Promise<void> {
  const { deps } = order;
  const change = (begun: Verification): Verification => ({
    ...begun,
    ...verdictOutcome(begun, verdict),
    completedAt: timestamp(deps.now()),
  });
  await record(order, change, { verified: verifiedAfter(entry.verified, verdict), verdict });
}

/** Changes what status says of this verification; what it says of an earlier one goes. */
async function record(
  order: Order,
  change: (begun: Verification) => Verification,
  found?: { readonly verified: string; readonly verdict: VerificationResult },
): Promise<void> {
  const { deps, ref, step } = order;
  const { request, location, level, by } = step;
  await retryOnConflict(async () => {
    const backup = await readPresent(deps.kube, ref);
    const status = withoutWatchers(backup.status ?? {});
    const now = deps.now();
    const { verification } = status;
    const begun =
      verification?.request === request
        ? verification
        : { request, location, level, requestedBy: by, startedAt: timestamp(now) };
    const known = withVerification(status, withoutUndefined<Verification>(change(begun)), found?.verified);
    const restored = found?.verdict.verified === 'Restore' && { lastVerifiedRestore: timestamp(now) };
    const after = { ...known, ...restored };
    await reportBackup(
      deps,
      backup,
      found === undefined ? after : finished({ now, backup: backupFacts(backup) }, after),
    );
  });
}

/** Users see why there is no verdict yet. That it cannot be written changes nothing. */
async function noteTrouble(order: Order, error: unknown): Promise<void> {
  const message = messageOf(error).slice(0, 4096);
  await record(order, begun => (begun.completedAt === undefined ? { ...begun, message } : begun)).catch(
    (failure: unknown) => order.deps.logger.info('progress not written', { error: messageOf(failure) }),
  );
}
