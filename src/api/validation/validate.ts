/**
 * What is wrong with a specification that the API server could not say: rules that CEL cannot express, and rules that
 * an object which is older than the schema never met. The answer is conditions; nothing here throws. Pure.
 */
import { inGibibytes, volumeForQuota } from '../derived/volume-for-quota.ts';
import { type ConditionFinding, finding } from '../conditions/catalogue.ts';
import { type ClusterConfig, withDefaults } from '../defaults/etcd-cluster.ts';
import { DEFAULT_CLAIM_SIZE } from '../schemas/default-values.ts';
import { domainSwitch } from '../derived/domain.ts';
import {
  type IgnoredField,
  ignoredBackupFields,
  ignoredClusterFields,
  ignoredRestoreFields,
} from './ignored-fields.ts';
import { parseBytes } from '../values/quantity.ts';
import { backupFaults, clusterFaults, restoreFaults, scheduleFaults } from './specification-faults.ts';
import type { EtcdBackup, EtcdCluster, EtcdRestore, TlsPolicy } from '../schemas/types.ts';
import { checkVersion } from '../versions/compare.ts';

export type Validation = {
  /** One finding for each condition type that is decided here, of what is well and of what is not. */
  readonly conditions: readonly ConditionFinding[];
  /** Those of them that forbid to create or change anything; empty: go on. */
  readonly blocking: readonly ConditionFinding[];
};

type Judged = { readonly condition: ConditionFinding; readonly blocks: boolean };

const allows = (condition: ConditionFinding): Judged => ({ condition, blocks: false });
const blocks = (condition: ConditionFinding): Judged => ({ condition, blocks: true });

/** Judges a cluster's specification. `recordedVersion` is as in {@link withDefaults}. */
export function validateCluster(
  cluster: Pick<EtcdCluster, 'metadata' | 'spec' | 'status'>,
  recordedVersion?: string,
): Validation {
  const { metadata, spec } = cluster;
  const config = withDefaults(spec, { version: recordedVersion });
  const domain = domainSwitch(cluster);
  return validationOf([
    ...judgeVersion(config.version),
    judgeFaults([...clusterFaults(metadata.name, spec, config), ...(domain === undefined ? [] : [domain])]),
    judgeTls(config.TLS),
    judgeSize(config.size),
    judgeStorage(config),
    judgeIgnored(ignoredClusterFields(spec)),
  ]);
}

/** Judges a backup's specification. */
export function validateBackup(backup: Pick<EtcdBackup, 'spec'>): Validation {
  const faults = scheduleFaults(backup.spec);
  const schedule =
    faults.length === 0
      ? allows(finding('ScheduleValid', 'Valid'))
      : blocks(finding('ScheduleValid', 'Malformed', faults.join('; ')));
  return validationOf([
    judgeFaults(backupFaults(backup.spec)),
    ...(hasSchedule(backup.spec) ? [schedule] : []),
    judgeIgnored(ignoredBackupFields(backup.spec)),
  ]);
}

/** A time zone alone is no schedule, and is judged as one: days of retention begin in it. */
function hasSchedule({ backupPolicy = {} }: EtcdBackup['spec']): boolean {
  return backupPolicy.schedule !== undefined || backupPolicy.timeZone !== undefined;
}

/** Judges a restore's specification. */
export function validateRestore(restore: Pick<EtcdRestore, 'spec'>): Validation {
  return validationOf([
    judgeFaults(restoreFaults(restore.spec)),
    judgeIgnored(ignoredRestoreFields(restore.spec)),
  ]);
}

function validationOf(judged: readonly Judged[]): Validation {
  return {
    conditions: judged.map(entry => entry.condition),
    blocking: judged.filter(entry => entry.blocks).map(entry => entry.condition),
  };
}

function judgeVersion(version: string): readonly Judged[] {
  const check = checkVersion(version);
  const supported = finding('VersionSupported', check.reason, check.message);
  if (!check.supported) return [blocks(supported)];
  const outdated =
    check.outdated === undefined
      ? finding('VersionOutdated', 'UpToDate')
      : finding('VersionOutdated', check.outdated.reason, check.outdated.message);
  return [allows(supported), allows(outdated)];
}

function judgeFaults(faults: readonly string[]): Judged {
  return faults.length === 0
    ? allows(finding('SpecValid', 'Valid'))
    : blocks(finding('SpecValid', 'Invalid', faults.join('; ')));
}

function judgeSize(size: number): Judged {
  if (size % 2 !== 0) return allows(finding('EvenSize', 'OddSize'));
  const tolerated = size / 2 - 1;
  const failures = tolerated === 1 ? '1 failure' : `${tolerated} failures`;
  const next = size < 7 ? `${size - 1} or ${size + 1}` : `${size - 1}`;
  const message = `${size} members tolerate ${failures}, no more than ${size - 1} do: prefer ${next}`;
  return allows(finding('EvenSize', 'NoExtraTolerance', message));
}

function judgeTls(tls: TlsPolicy | undefined): Judged {
  const modes = (['static', 'auto', 'certManager'] as const).filter(mode => tls?.[mode] !== undefined);
  if (modes.length <= 1) return allows(finding('TLSSupported', 'Supported'));
  const message = `spec.TLS sets ${modes.join(' and ')}: keep one of them`;
  return blocks(finding('TLSSupported', 'SeveralModes', message));
}

/** A volume for three times the quota and 2Gi. */
function judgeStorage(config: ClusterConfig): Judged {
  const { volumeClaimTemplate, emptyDir } = config.storage;
  const claimed = volumeClaimTemplate?.spec.resources?.requests?.storage ?? DEFAULT_CLAIM_SIZE;
  const asked = emptyDir === undefined ? claimed : emptyDir.sizeLimit;
  const size = asked === undefined ? undefined : parseBytes(asked);
  const quota = config.etcd.quotaBackendBytes;
  const needed = volumeForQuota(quota);
  if (size === undefined || size >= needed) return allows(finding('StorageTight', 'VolumeLargeEnough'));
  if (emptyDir !== undefined) {
    const evicted = `spec.storage.emptyDir.sizeLimit ${asked} is smaller than three times the quota of ${quota} bytes and 2Gi: Kubernetes evicts a pod that writes more, the databases of all members grow together, so all pods can be evicted and their data lost: raise it to ${inGibibytes(needed)}, leave it out, or lower spec.etcd.quotaBackendBytes`;
    return allows(finding('StorageTight', 'VolumeTooSmall', evicted));
  }
  const message = `the volume of ${asked} is smaller than three times the quota of ${quota} bytes and 2Gi: ask for ${inGibibytes(needed)} or lower spec.etcd.quotaBackendBytes`;
  return allows(finding('StorageTight', 'VolumeTooSmall', message));
}

function judgeIgnored(ignored: readonly IgnoredField[]): Judged {
  if (ignored.length === 0) return allows(finding('FieldsIgnored', 'NoneIgnored'));
  const message = ignored.map(entry => `${entry.field}: ${entry.why}`).join('; ');
  return allows(finding('FieldsIgnored', 'SomeIgnored', message));
}
