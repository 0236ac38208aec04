/**
 * The snapshot itself: from a member through the checks straight into the store, and the manifest after it. Can be killed
 * at any point and done again: what an earlier attempt has written is looked for first.
 */
import { createHash } from 'node:crypto';
import { Context } from '@temporalio/activity';
import { newManifest, type BackupManifest } from '../../api/derived/backup-manifest.ts';
import { backupWithDefaults } from '../../api/defaults/etcd-backup.ts';
import { keysOf, periodicKey, serverOf } from '../../api/derived/backup-names.ts';
import { timestamp } from '../../api/values/time.ts';
import { withoutUndefined } from '../../api/values/without-undefined.ts';
import type { BackupEntry, BackupRun, EtcdBackup } from '../../api/schemas/types.ts';
import { verifiedSnapshot, type SnapshotProof } from '../../etcd/verified-snapshot.ts';
import type { BackupStepOf } from '../../planner/backup/steps.ts';
import { isSingleMade } from '../../planner/backup/plan.ts';
import { finished, withSuccess, withWritten } from '../../planner/backup/report.ts';
import { EtcdError } from '../../etcd/port.ts';
import { StoreError } from '../../store/port.ts';
import type { HeartbeatDetails } from '../runtime/heartbeat.ts';
import type { Dependencies } from '../runtime/dependencies.ts';
import { messageOf } from '../../api/values/message-of.ts';
import {
  type Found,
  findWritten,
  isExists,
  locationOn,
  proveObject,
  folderOf,
  writeManifest,
  writerOf,
} from './catalogue.ts';
import { compressed } from './codec.ts';
import { withProgress } from './progress.ts';
import type { Run } from './run.ts';
import { backupFacts, type BackupRef, readRunning, recordRun } from '../resource/etcd-backup.ts';
import { keysHeld, readBefore } from './held-keys.ts';
import { liveHash, liveOf } from './live-hashes.ts';
import { openSource, type SnapshotSource } from './source.ts';
import { type AtNode, inTurn } from './turn.ts';
import { withMemberSlot } from '../runtime/member-slot.ts';

type Step = BackupStepOf<'takeSnapshot'>;

/** Makes the backup of the run that the step names, and records it. */
export async function takeSnapshot(
  deps: Dependencies,
  heartbeatDetails: HeartbeatDetails,
  { ref, step }: { readonly ref: BackupRef; readonly step: Step },
): Promise<void> {
  const read = await readRunning(deps.kube, ref, step.startedAt);
  await inTurn({ deps, ref, step, backup: read }, atNode =>
    withRun({ deps, heartbeatDetails, ref, step, read }, async (run, backup) => {
      const manifest = await obtainWithRoom(run, atNode);
      if (backupWithDefaults(backup.spec).verify === 'Checksum') await recordTaken(run, manifest.entry);
      else await recordRun(deps, run, status => withWritten(status, manifest.entry));
      await cleanUp(run);
    }),
  );
}

interface RunOrder extends Pick<Run, 'deps' | 'heartbeatDetails' | 'ref'> {
  readonly step: Pick<Step, 'startedAt' | 'secondsLeft'>;
  /** The resource, if it was just read. */
  readonly read?: EtcdBackup;
}

/** Has something done with a run, whose store is opened and closed again. */
export async function withRun(
  { deps, heartbeatDetails, ref, step, read }: RunOrder,
  act: (run: Run, backup: EtcdBackup) => Promise<void>,
): Promise<void> {
  const { startedAt } = step;
  const backup = read ?? (await readRunning(deps.kube, ref, startedAt));
  const deadlineMs = step.secondsLeft * 1000;
  const bounds = { signal: Context.current().cancellationSignal, deadlineMs };
  const store = await deps.openStore(backup);
  try {
    // What a person asks for beside a single backup needs a name of its own.
    const isAsked = backup.status?.progress?.requestedBy !== undefined;
    const isBeside = isAsked && isSingleMade(backupFacts(backup), startedAt);
    const isPeriodic = isBeside || backupWithDefaults(backup.spec).schedule.kind !== 'once';
    const folder = folderOf(store, backup, isPeriodic);
    await act({ deps, ref, startedAt, folder, bounds, heartbeatDetails }, backup);
  } finally {
    await store.close();
  }
}

/** Longer than any backup may take, and so than any upload that somebody may still be at. */
export const ABANDONED_MS = 2 * 24 * 3_600_000;

/**
 * What writers that were killed have left in the store costs money and is good for nothing. The backup does not depend on it.
 * Resolves to how many were removed.
 */
async function cleanUp({ deps, folder: { store, place }, bounds: { signal } }: Run): Promise<number> {
  try {
    const options = { signal, olderThanMs: ABANDONED_MS, matching: keysOf(place.key) };
    return await store.removeUnfinished(place.key, options);
  } catch (error) {
    deps.logger.info('unfinished uploads are not removed', { error: messageOf(error) });
    return 0;
  }
}

/** As {@link obtain}; a full store is cleaned up first, since it never would be after a failed backup. */
async function obtainWithRoom(run: Run, atNode: AtNode): Promise<BackupManifest> {
  try {
    return await obtain(run, atNode);
  } catch (error) {
    if (!(error instanceof StoreError) || error.code !== 'full' || (await cleanUp(run)) === 0) throw error;
    return obtain(run, atNode);
  }
}

/** The manifest of the run's object, which is in the store when this resolves. */
export async function obtain(run: Run, atNode: AtNode): Promise<BackupManifest> {
  try {
    return await attempt(run, atNode);
  } catch (error) {
    if (!isExists(error)) throw error;
    // Most likely an earlier attempt, taken for dead, has ended only now: looked for, it is found.
    return attempt(run, atNode);
  }
}

/** What is in the store already is read from no member. */
const NO_NODE = undefined;

async function attempt(run: Run, atNode: AtNode): Promise<BackupManifest> {
  const { folder, startedAt, bounds } = run;
  const found = await findWritten(folder, startedAt, bounds);
  if (found.kind === 'whole') return atNode(NO_NODE, async () => found.manifest);
  const source = await openSource(run.deps, folder.backup);
  try {
    if (found.kind === 'bare') return await atNode(NO_NODE, () => adopt(run, found, source));
    const holder = `EtcdBackup/${run.ref.namespace}/${run.ref.name}`;
    return await atNode(source.pod?.node, () =>
      withMemberSlot(run.deps, { pod: source.pod, holder, signal: bounds.signal }, signal =>
        stream({ ...run, bounds: { ...bounds, signal } }, source),
      ),
    );
  } finally {
    source.member.close();
  }
}

/** It was asked before it waited for its turn: by now a member of another cluster may be at the address. Throws then, to look again. */
async function isStillOf({ member, clusterId }: SnapshotSource): Promise<void> {
  const now = await member.status();
  if (now.clusterId === clusterId) return;
  const message = `the member now belongs to cluster ${now.clusterId} instead of ${clusterId}`;
  throw new EtcdError('unreachable', message);
}

async function stream(run: Run, source: SnapshotSource): Promise<BackupManifest> {
  const { deps, folder, bounds, startedAt, heartbeatDetails } = run;
  const begun = deps.now();
  const { compression, verify } = backupWithDefaults(folder.backup.spec);
  await isStillOf(source);
  // Read again through the member, now that nobody else works on it: everything up to here is in the snapshot.
  const { revision, keys } = await readBefore(run, source);
  const key = folder.isPeriodic ? periodicKey(folder.place.key, revision, startedAt) : folder.place.key;
  const hashes = verify === 'Checksum' ? undefined : [await liveHash(run, source, revision)];
  const snapshot = verifiedSnapshot(source.member.snapshot(bounds));
  const object = createHash('sha256');
  async function* hashed(): AsyncGenerator<Uint8Array> {
    for await (const chunk of compressed(snapshot.bytes, compression)) {
      if (compression !== 'none') object.update(chunk);
      yield chunk;
    }
  }
  const watch = (): HeartbeatDetails => {
    const total = snapshot.expected();
    return Object.assign(heartbeatDetails, {
      bytes: snapshot.received(),
      ...(total !== undefined && { total }),
    });
  };
  const options = { ...bounds, writer: writerOf(folder.backup, startedAt, source.clusterId) };
  const { size } = await withProgress(run, watch, () => folder.store.put(key, hashed(), options));
  const proof = snapshot.proof();
  hashes?.push(await liveHash(run, source, revision));
  const held = keys === undefined ? undefined : await keysHeld(run, source, { keys, revision });
  const sha256 = compression === 'none' ? proof.wholeSha256 : object.digest('hex');
  return finish(
    run,
    { ...source, revision, keys: held },
    { key, size, sha256, proof, live: liveOf(revision, hashes), seconds: (deps.now() - begun) / 1000 },
  );
}

/**
 * An object of this run without a manifest: the last attempt ended between the two. It is read from end to end, since what
 * the attempt knew of it is lost. The revision in its name is what was read before it was made.
 */
async function adopt(
  run: Run,
  { key, clusterId }: Extract<Found, { kind: 'bare' }>,
  source: SnapshotSource,
): Promise<BackupManifest> {
  const { folder, bounds, deps } = run;
  const begun = deps.now();
  const { compression } = backupWithDefaults(folder.backup.spec);
  const { size, sha256, snapshotSize, databaseSha256 } = await proveObject(folder.store, key, {
    ...bounds,
    compression,
  });
  const named = /_v(\d+)_[^/]*$/.exec(key)?.[1];
  const proof = { size: snapshotSize, sha256: databaseSha256, storageVersion: '' };
  const of = { key, size, sha256, proof, seconds: (deps.now() - begun) / 1000 };
  // A restore may have made the cluster another one since. Nothing shows which version the former one had.
  const version = clusterId === source.clusterId ? source.version : '';
  return finish(run, { clusterId, version, name: '', revision: named ?? '' }, of);
}

interface Written {
  readonly key: string;
  readonly size: number;
  readonly sha256: string;
  readonly proof: Omit<SnapshotProof, 'wholeSha256'>;
  readonly seconds: number;
  readonly live?: BackupManifest['live'];
}

async function finish(
  { folder, startedAt, bounds }: Run,
  source: Pick<SnapshotSource, 'clusterId' | 'version' | 'name' | 'revision'> & {
    readonly keys?: number | undefined;
  },
  { key, size, sha256, proof, live, seconds }: Written,
): Promise<BackupManifest> {
  const { namespace, name, uid } = folder.backup.metadata;
  const entry: BackupEntry = {
    time: startedAt,
    location: locationOn(folder, key),
    ...serverOf(folder.backup.spec),
    ...(source.revision !== '' && { revision: Number(source.revision) }),
    ...(source.keys !== undefined && { keys: source.keys }),
    size,
    sha256,
    ...(source.version !== '' && { etcdVersion: source.version }),
    clusterID: source.clusterId,
    ...(source.name !== '' && { member: source.name }),
    verified: 'Checksum',
    duration: `${seconds.toFixed(1)}s`,
  };
  const manifest = newManifest({
    backup: { namespace, name, uid },
    startedAt,
    entry,
    compression: backupWithDefaults(folder.backup.spec).compression,
    snapshot: { size: proof.size, sha256: proof.sha256, storageVersion: proof.storageVersion },
    ...(live && { live }),
  });
  return writeManifest(folder.store, key, { manifest, options: bounds });
}

/** The run is done. */
async function recordTaken({ deps, ref, startedAt }: Run, entry: BackupEntry): Promise<void> {
  await recordRun(deps, { ref, startedAt }, (status, backup) => {
    const now = deps.now();
    const run = endedRun(status.progress, { backup, now });
    return finished({ now, backup: backupFacts(backup) }, withSuccess(status, entry, run));
  });
}

/** The run of a progress, ended now. */
export function endedRun(
  progress: NonNullable<EtcdBackup['status']>['progress'],
  { backup, now }: { readonly backup: EtcdBackup; readonly now: number },
) {
  const { startedAt, scheduledFor, requestedBy } = progress ?? {};
  const completedAt = timestamp(now);
  const generation = backup.metadata.generation ?? 0;
  return withoutUndefined<BackupRun>({ startedAt, scheduledFor, requestedBy, completedAt, generation });
}
