/** An EtcdBackup's specification with nothing left to guess; as etcd-cluster.ts, applied on read. Pure. */
import type { EtcdBackupSpec } from '../schemas/types.ts';

const DEFAULT_TIMEOUT_SECONDS = 3600;
/** A day: what is older than two is taken for abandoned, so no upload may last that long. */
const LONGEST_TIMEOUT_SECONDS = 86_400;

/** When backups are taken. */
export type BackupSchedule =
  | { readonly kind: 'once' }
  | { readonly kind: 'interval'; readonly seconds: number }
  | {
      readonly kind: 'cron';
      readonly expression: string;
      readonly timeZone: string;
      /** The latest that a backup may begin after its time; undefined: as the operator is configured. */
      readonly jitterSeconds?: number;
    };

/** Which backups are kept. */
export type RetentionPolicy =
  | { readonly kind: 'all' }
  | { readonly kind: 'count'; readonly count: number }
  | {
      readonly kind: 'tiers';
      readonly hourly: number;
      readonly daily: number;
      readonly weekly: number;
      readonly monthly: number;
    };

export type BackupVerification = NonNullable<EtcdBackupSpec['verify']>;
/** From weak to strong: each shows what the ones before it show. */
export const VERIFICATIONS: readonly string[] = [
  'Checksum',
  'Structure',
  'Restore',
] satisfies BackupVerification[];
export type BackupCompression = NonNullable<EtcdBackupSpec['compression']>;

export interface BackupConfig {
  /** Undefined: whatever the endpoints are. */
  readonly cluster: string | undefined;
  readonly endpoints: readonly string[];
  /** Names of Secrets; undefined: none. */
  readonly clientTlsSecret: string | undefined;
  readonly authSecret: string | undefined;
  readonly timeoutSeconds: number;
  readonly schedule: BackupSchedule;
  /** Where days and weeks begin, for schedule and retention. */
  readonly timeZone: string;
  readonly suspended: boolean;
  readonly retention: RetentionPolicy;
  readonly verify: BackupVerification;
  readonly compression: BackupCompression;
}

/** Fills in what is missing; empty texts and zeros mean default. */
export function backupWithDefaults(spec: EtcdBackupSpec): BackupConfig {
  const policy = spec.backupPolicy ?? {};
  const { timeoutInSecond = 0 } = policy;
  return {
    cluster: spec.clusterRef?.name,
    endpoints: spec.etcdEndpoints ?? [],
    clientTlsSecret: spec.clientTLSSecret || undefined,
    authSecret: spec.authSecret || undefined,
    timeoutSeconds:
      timeoutInSecond > 0 ? Math.min(timeoutInSecond, LONGEST_TIMEOUT_SECONDS) : DEFAULT_TIMEOUT_SECONDS,
    schedule: scheduleOf(spec),
    timeZone: policy.timeZone || 'UTC',
    suspended: policy.suspend ?? false,
    retention: retentionOf(spec),
    verify: spec.verify ?? 'Checksum',
    compression: spec.compression ?? 'none',
  };
}

function scheduleOf({ backupPolicy = {} }: EtcdBackupSpec): BackupSchedule {
  const { schedule = '', timeZone, backupIntervalInSecond = 0, jitterInSecond } = backupPolicy;
  if (schedule !== '') {
    const jitter = jitterInSecond === undefined ? {} : { jitterSeconds: Math.max(0, jitterInSecond) };
    return { kind: 'cron', expression: schedule, timeZone: timeZone || 'UTC', ...jitter };
  }
  if (backupIntervalInSecond > 0) return { kind: 'interval', seconds: backupIntervalInSecond };
  return { kind: 'once' };
}

/** A retention whose every tier is zero names nothing to keep: that is no order to delete everything. */
function retentionOf({ backupPolicy = {} }: EtcdBackupSpec): RetentionPolicy {
  const { maxBackups = 0, retention = {} } = backupPolicy;
  if (maxBackups > 0) return { kind: 'count', count: maxBackups };
  const { hourly = 0, daily = 0, weekly = 0, monthly = 0 } = retention;
  const isEmpty = hourly + daily + weekly + monthly === 0;
  return isEmpty ? { kind: 'all' } : { kind: 'tiers', hourly, daily, weekly, monthly };
}
