/** The verification of a backup that is in the store, which somebody asked for: whether it makes sense now, and what it found. Pure. */
import { type BackupConfig, VERIFICATIONS } from '../../api/defaults/etcd-backup.ts';
import { isElsewhere, locationOf, placeOf, serverOf } from '../../api/derived/backup-names.ts';
import { type ResourceEvent, eventOf } from '../../api/events.ts';
import type { BackupEntry, EtcdBackupStatus } from '../../api/schemas/types.ts';
import { latestFirst } from '../model/newest-entry.ts';
import type {
  AskedVerification,
  BackupWorkflowState,
  BackupFacts,
  BackupObservation,
} from './observation.ts';
import type { VerificationResult } from './verification.ts';

/** What was asked for cannot be done, or only after the run that is under way, or this is to be verified. */
export type VerificationPlan =
  | { readonly kind: 'refused'; readonly message: string }
  | { readonly kind: 'ready'; readonly location: string; readonly level: 'Structure' | 'Restore' };

/** What comes of the verification that somebody asked for; undefined: nobody did. */
export function planVerification(
  { backup, cluster }: Pick<BackupObservation, 'backup' | 'cluster'>,
  { verify }: Pick<BackupWorkflowState, 'verify'>,
): VerificationPlan | undefined {
  if (verify === undefined) return undefined;
  const why = clusterForbids(backup, verify, cluster);
  if (why !== undefined) return { kind: 'refused', message: why };
  const entry = storedEntry(backup, verify);
  if (typeof entry === 'string') return { kind: 'refused', message: entry };
  return { kind: 'ready', location: entry.location, level: wantedLevel(backup.config, verify) };
}

function clusterForbids(
  { name, namespace, deleting, object: { spec } }: BackupFacts,
  { cluster: asked }: AskedVerification,
  cluster: BackupObservation['cluster'],
): string | undefined {
  if (deleting) return `EtcdBackup ${namespace}/${name} is being deleted`;
  const own = spec.clusterRef?.name;
  if (asked !== undefined && asked !== own)
    return `EtcdBackup ${namespace}/${name} is ${own === undefined ? 'of the etcd at spec.etcdEndpoints' : `of EtcdCluster ${own}`}, not of EtcdCluster ${asked}`;
  // Its images and the nodes of its members are those of the verification.
  if (own === undefined || cluster === undefined || cluster === 'there') return undefined;
  return cluster === 'missing'
    ? `EtcdCluster ${namespace}/${own} does not exist: a restore verifies the backup that it restores`
    : `EtcdCluster ${namespace}/${own} is being deleted`;
}

/** The entry that is meant, or why there is none. */
function storedEntry(
  { name, object: { spec }, status: { history = [], progress } }: BackupFacts,
  { location }: AskedVerification,
): BackupEntry | string {
  // What a run has written belongs to it until it is over: it verifies it by itself.
  const isFinished = ({ time }: BackupEntry) => progress === undefined || time !== progress.startedAt;
  const found =
    location === undefined
      ? latestFirst(history.filter(isFinished))[0]
      : history.find(entry => entry.location === location);
  if (found === undefined) {
    if (location !== undefined) return `${location} is not in status.history of EtcdBackup ${name}`;
    return progress === undefined
      ? `EtcdBackup ${name} has no backup yet`
      : `the only backup of EtcdBackup ${name} is not finished`;
  }
  if (!isFinished(found)) return `${found.location} is not finished: the run that writes it is under way`;
  if (found.heldIn === 'Second')
    return `${found.location} is only in the second store, where it was compared with what was recorded: a restore verifies the backup that it restores`;
  const place = placeOf(spec);
  const prefix = place && locationOf(spec, { ...place, key: '' });
  if (prefix === undefined || !found.location.startsWith(prefix) || isElsewhere(found, serverOf(spec)))
    return `${found.location} is not in the store that EtcdBackup ${name} now uses`;
  return found;
}

function wantedLevel({ verify }: BackupConfig, { level }: AskedVerification): 'Structure' | 'Restore' {
  return level ?? (verify === 'Restore' ? 'Restore' : 'Structure');
}

/** What a backup is called after it was verified again: what was shown once of the same bytes stays shown, unless a fault was found. */
export function verifiedAfter(before: string | undefined, { verified, fault }: VerificationResult): string {
  if (fault !== undefined) return '';
  return VERIFICATIONS.indexOf(before ?? '') > VERIFICATIONS.indexOf(verified) ? (before ?? '') : verified;
}

type Verification = NonNullable<EtcdBackupStatus['verification']>;

/** The verdict, as status and the request say it. */
export function verdictOutcome(
  { level, location }: Pick<Verification, 'level' | 'location'>,
  { verified, fault, doubt }: VerificationResult,
): Pick<Verification, 'outcome' | 'message'> {
  if (fault !== undefined) return { outcome: 'NotVerified', message: fault.slice(0, 4096) };
  if (verified === level) return { outcome: 'Verified', message: `${location}: ${level} verified` };
  const message = `${location}: ${verified === '' ? 'nothing' : verified} verified only: ${doubt ?? 'no reason was given'}`;
  return { outcome: 'PartlyVerified', message: message.slice(0, 4096) };
}

const REASONS = {
  Verified: 'StoredBackupVerified',
  PartlyVerified: 'StoredBackupPartlyVerified',
  NotVerified: 'StoredBackupNotVerified',
} as const;

/** The event of a verdict that was not there before. */
export function verdictEvents(
  { verification: before }: EtcdBackupStatus,
  { verification: after }: EtcdBackupStatus,
): readonly ResourceEvent[] {
  const { request, completedAt, outcome, message = 'no reason was given' } = after ?? {};
  if (completedAt === undefined || outcome === undefined) return [];
  if (before?.request === request && before?.completedAt !== undefined) return [];
  return [eventOf('EtcdBackup', REASONS[outcome], message)];
}
