/**
 * What is wrong with a specification that the API server could not say: rules that CEL cannot express, and rules that
 * an object which is older than the schema never met. The answer is conditions; nothing here throws. Pure.
 */
import { type ConditionFinding, finding } from './conditions.ts';
import { type ClusterConfig, DEFAULT_CLAIM_SIZE, withDefaults } from './defaults.ts';
import { ignoredClusterFields } from './fields-ignored.ts';
import { isReservedKey, MAX_CLUSTER_NAME_LENGTH } from './names.ts';
import { parseBytes, parseDurationSeconds, parseQuantity } from './quantity.ts';
import { reservedEnvReason } from './reserved-env.ts';
import type { EtcdCluster, EtcdClusterSpec, TlsPolicy } from './types.ts';
import { checkVersion } from './versions.ts';

export type TlsMode = 'static' | 'auto' | 'certManager';

/** The TLS modes that this release builds. A mode that is not here blocks: plain text is no substitute. */
export const TLS_MODES_BUILT: readonly TlsMode[] = [];

export type Validation = {
  /** One finding for each condition type that this file decides, True ones and False ones. */
  readonly conditions: readonly ConditionFinding[];
  /** Those of them that forbid to create or change anything; empty: go on. */
  readonly blocking: readonly ConditionFinding[];
};

/** Judges a cluster's specification. `recordedVersion` is as in {@link withDefaults}. */
export function validateCluster(
  cluster: Pick<EtcdCluster, 'metadata' | 'spec'>,
  recordedVersion?: string,
): Validation {
  const spec = cluster.spec;
  const config = withDefaults(spec, { version: recordedVersion });
  const judged = [
    ...judgeVersion(config.version),
    judgeSpec(cluster.metadata.name, spec, config),
    judgeTls(config.TLS),
    judgeSize(config.size),
    judgeStorage(config),
    judgeIgnored(spec),
  ];
  return {
    conditions: judged.map(entry => entry.condition),
    blocking: judged.filter(entry => entry.blocks).map(entry => entry.condition),
  };
}

type Judged = { readonly condition: ConditionFinding; readonly blocks: boolean };

const allows = (condition: ConditionFinding): Judged => ({ condition, blocks: false });
const blocks = (condition: ConditionFinding): Judged => ({ condition, blocks: true });

function judgeVersion(version: string): readonly Judged[] {
  const check = checkVersion(version);
  const supported = finding('VersionSupported', check.reason, check.message);
  const outdated =
    check.outdated === undefined
      ? finding('VersionOutdated', 'UpToDate')
      : finding('VersionOutdated', check.outdated.reason, check.outdated.message);
  return check.supported ? [allows(supported), allows(outdated)] : [blocks(supported)];
}

function judgeSize(size: number): Judged {
  if (size % 2 === 1) return allows(finding('EvenSize', 'OddSize'));
  const message = `${size} members tolerate ${size / 2 - 1} failures, as ${size - 1} do: use ${size - 1} or ${size + 1}`;
  return allows(finding('EvenSize', 'NoExtraTolerance', message));
}

/** The TLS modes that a policy names. */
export function tlsModes(tls: TlsPolicy | undefined): readonly TlsMode[] {
  if (tls === undefined) return [];
  return (['static', 'auto', 'certManager'] as const).filter(mode => tls[mode] !== undefined);
}

function judgeTls(tls: TlsPolicy | undefined): Judged {
  const modes = tlsModes(tls);
  if (modes.length > 1) {
    return blocks(
      finding('TLSSupported', 'SeveralModes', `spec.TLS sets ${modes.join(' and ')}: keep one of them`),
    );
  }
  const missing = modes.filter(mode => !TLS_MODES_BUILT.includes(mode));
  if (missing.length === 0) return allows(finding('TLSSupported', 'Supported'));
  const message = `spec.TLS.${missing[0]} is not built by this release; nothing is created, rather than a cluster in plain text. Remove spec.TLS or use a release that supports it`;
  return blocks(finding('TLSSupported', 'NotActedOnYet', message));
}

function judgeIgnored(spec: EtcdClusterSpec): Judged {
  const ignored = ignoredClusterFields(spec);
  if (ignored.length === 0) return allows(finding('FieldsIgnored', 'NoneIgnored'));
  const message = ignored.map(entry => `${entry.field}: ${entry.why}`).join('; ');
  return allows(finding('FieldsIgnored', 'SomeIgnored', message));
}

/** etcd needs the file, its log, and a whole copy while it defragments: three times the quota and 2Gi. */
function judgeStorage(config: ClusterConfig): Judged {
  const claim = config.storage.volumeClaimTemplate?.spec;
  const asked = claim?.resources?.requests?.['storage'];
  const size = parseBytes(asked ?? DEFAULT_CLAIM_SIZE);
  const needed = 3 * config.etcd.quotaBackendBytes + 2 * 2 ** 30;
  // A size that nobody asked for is not complained about: the default fits the default quota.
  if (claim === undefined || size === undefined || size >= needed) {
    return allows(finding('StorageTight', 'VolumeLargeEnough'));
  }
  const message = `the volume of ${asked ?? DEFAULT_CLAIM_SIZE} is smaller than three times the quota of ${config.etcd.quotaBackendBytes} bytes and 2Gi: ask for ${Math.ceil(needed / 2 ** 30)}Gi or lower spec.etcd.quotaBackendBytes`;
  return allows(finding('StorageTight', 'VolumeTooSmall', message));
}

function judgeSpec(name: string, spec: EtcdClusterSpec, config: ClusterConfig): Judged {
  const faults = [
    ...nameFaults(name),
    ...sizeFaults(config.size),
    ...podFaults(spec),
    ...storageFaults(spec),
    ...etcdFaults(spec, config),
  ];
  return faults.length === 0
    ? allows(finding('SpecValid', 'Valid'))
    : blocks(finding('SpecValid', 'Invalid', faults.join('; ')));
}

function nameFaults(name: string): readonly string[] {
  if (name.length > MAX_CLUSTER_NAME_LENGTH) {
    return [`metadata.name has ${name.length} characters: use at most ${MAX_CLUSTER_NAME_LENGTH}`];
  }
  return /^[a-z]([-a-z0-9]*[a-z0-9])?$/.test(name)
    ? []
    : [
        `metadata.name ${name} cannot name a Service: use lower-case letters, digits and dashes, a letter first`,
      ];
}

function sizeFaults(size: number): readonly string[] {
  return Number.isInteger(size) && size >= 1 && size <= 7
    ? []
    : [`spec.size is ${size}: write a number from 1 to 7`];
}

function podFaults(spec: EtcdClusterSpec): readonly string[] {
  const pod = spec.pod;
  const reserved = (['labels', 'annotations'] as const).flatMap(field =>
    Object.keys(pod?.[field] ?? {})
      .filter(isReservedKey)
      .map(key => `spec.pod.${field} sets ${key}, which the operator sets itself: remove it`),
  );
  const env = (pod?.etcdEnv ?? []).flatMap(variable => {
    const reason = reservedEnvReason(variable.name);
    return reason === undefined ? [] : [`spec.pod.etcdEnv sets ${variable.name}: ${reason}`];
  });
  return [...reserved, ...env];
}

function storageFaults(spec: EtcdClusterSpec): readonly string[] {
  const faults: string[] = [];
  const forms = [
    spec.storage?.volumeClaimTemplate && 'spec.storage.volumeClaimTemplate',
    spec.storage?.emptyDir && 'spec.storage.emptyDir',
    spec.pod?.persistentVolumeClaimSpec && 'spec.pod.persistentVolumeClaimSpec',
  ].filter(form => form !== undefined);
  if (forms.length > 1) faults.push(`${forms.join(' and ')} exclude each other: keep one`);
  const claim = spec.storage?.volumeClaimTemplate?.spec ?? spec.pod?.persistentVolumeClaimSpec;
  const size = claim?.resources?.requests?.['storage'];
  if (size !== undefined && !((parseQuantity(size) ?? 0) > 0)) {
    faults.push(`the storage request ${JSON.stringify(size)} is no size: write one like 8Gi`);
  }
  const keep = spec.storage?.retainDeadMemberFor;
  if (keep !== undefined && parseDurationSeconds(keep) === undefined) {
    faults.push(
      `spec.storage.retainDeadMemberFor ${JSON.stringify(keep)} is no duration: write one like 24h`,
    );
  }
  return faults;
}

function etcdFaults(spec: EtcdClusterSpec, config: ClusterConfig): readonly string[] {
  const faults: string[] = [];
  const { heartbeatIntervalMs, electionTimeoutMs, autoCompaction } = config.etcd;
  if (electionTimeoutMs < 5 * heartbeatIntervalMs) {
    faults.push(
      `spec.etcd.electionTimeoutMs ${electionTimeoutMs} is less than five heartbeats of ${heartbeatIntervalMs}: write at least ${5 * heartbeatIntervalMs}`,
    );
  }
  for (const field of ['quotaBackendBytes', 'maxRequestBytes'] as const) {
    const value = spec.etcd?.[field];
    if (value !== undefined && parseBytes(value) === undefined) {
      faults.push(`spec.etcd.${field} ${JSON.stringify(value)} is no size: write bytes, or a size like 2Gi`);
    }
  }
  const { mode, retention } = autoCompaction;
  if (mode === 'revision' && !/^\d+$/.test(retention)) {
    faults.push(
      `spec.etcd.autoCompaction.retention ${retention} is no number of revisions: write one like 1000`,
    );
  }
  if (mode === 'periodic' && !/^\d+$/.test(retention) && parseDurationSeconds(retention) === undefined) {
    faults.push(`spec.etcd.autoCompaction.retention ${retention} is no duration: write one like 1h`);
  }
  return faults;
}
