/** What contradicts itself or etcd in a specification, as sentences that say what to write instead. Pure. */
import { cronFault, timeZoneFault } from '../values/cron.ts';
import { type ClusterConfig } from '../defaults/etcd-cluster.ts';
import { DEFAULT_CLAIM_SIZE, DEFAULT_RETAIN_DEAD_MEMBER, DEFAULT_SIZE } from '../schemas/default-values.ts';
import { isClusterName, isReservedKey, MAX_CLUSTER_NAME_LENGTH } from '../names.ts';
import { parseBytes, parseDurationSeconds, parseQuantity } from '../values/quantity.ts';
import { reservedEnvReason } from '../values/reserved-environment.ts';
import { endpointFaults, storeFaults } from './store-faults.ts';
import { keyFaults, labelFaults, quote } from '../values/syntax.ts';
import type {
  EtcdBackupSpec,
  EtcdClusterSpec,
  EtcdRestoreSpec,
  VolumeClaimTemplate,
} from '../schemas/types.ts';

/** The faults of a cluster's specification. `config` is the same with its defaults. */
export function clusterFaults(name: string, spec: EtcdClusterSpec, config: ClusterConfig): readonly string[] {
  return [
    ...nameFaults('metadata.name', name),
    ...sizeFaults(spec.size || config.size),
    ...podFaults(spec),
    ...storageFaults(spec),
    ...etcdFaults(spec, config),
    ...defragmentFaults(spec),
    ...labelFaults('spec.service.labels', spec.service?.labels),
    ...keyFaults('spec.service.annotations', spec.service?.annotations),
  ];
}

function nameFaults(path: string, name: string): readonly string[] {
  if (name.length > MAX_CLUSTER_NAME_LENGTH) {
    return [`${path} has ${name.length} characters: use at most ${MAX_CLUSTER_NAME_LENGTH}`];
  }
  return isClusterName(name)
    ? []
    : [
        `${path} ${quote(name)} cannot name a Service: write lower-case letters, digits and dashes, a letter first`,
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
  return [
    ...reserved,
    ...env,
    ...labelFaults('spec.pod.labels', pod?.labels),
    ...keyFaults('spec.pod.annotations', pod?.annotations),
    ...labelFaults('spec.pod.nodeSelector', pod?.nodeSelector),
    ...resourceFaults(pod?.resources),
  ];
}

/**
 * The schema passes them through, so that what Kubernetes adds to them is not lost, and numbers such as 0.5 are taken as by a pod; CEL
 * does not see them. A pod that asks for more than its limit is refused (Kubernetes, "Resource Management for Pods and Containers").
 */
function resourceFaults(resources: Readonly<Record<string, unknown>> | undefined): readonly string[] {
  return [...amountFaults(resources), ...limitFaults(resources)];
}

function limitFaults(resources: Readonly<Record<string, unknown>> | undefined): readonly string[] {
  const { requests, limits } = resources ?? {};
  return Object.entries(amountsIn(requests)).flatMap(([resource, request]) => {
    const limit = amountsIn(limits)[resource];
    if (limit === undefined || request <= limit) return [];
    const path = 'spec.pod.resources';
    return [
      `${path}.requests.${resource} is more than ${path}.limits.${resource}, and no pod can be made so: raise the limit or lower the request`,
    ];
  });
}

/** Those that are quantities, as numbers. */
function amountsIn(amounts: unknown): Readonly<Record<string, number>> {
  if (typeof amounts !== 'object' || amounts === null) return {};
  const parsed = Object.entries(amounts).flatMap(([resource, amount]) => {
    const value =
      typeof amount === 'string' || typeof amount === 'number' ? parseQuantity(amount) : undefined;
    return value === undefined ? [] : [[resource, value] as const];
  });
  return Object.fromEntries(parsed);
}

function amountFaults(resources: Readonly<Record<string, unknown>> | undefined): readonly string[] {
  return ['requests', 'limits'].flatMap(field => {
    const amounts = resources?.[field];
    const path = `spec.pod.resources.${field}`;
    if (amounts === undefined || amounts === null) return [];
    if (typeof amounts !== 'object' || Array.isArray(amounts)) {
      return [`${path} is no map of resources: write one such as {cpu: 500m, memory: 1Gi}`];
    }
    return Object.entries(amounts).flatMap(([resource, amount]) => {
      const what = `${path}.${resource} ${quote(amount)}`;
      if (!isAmount(amount)) return [`${what} is no quantity of zero or more: write one such as 500m or 1Gi`];
      // Bytes have no parts: 512m is half a byte, and meant to be 512Mi.
      const isInParts = resource === 'memory' && !Number.isInteger(amountsIn({ amount })['amount']);
      return isInParts ? [`${what} is no number of bytes: write one such as 512Mi`] : [];
    });
  });
}

function isAmount(amount: unknown): boolean {
  return (
    (typeof amount === 'string' || typeof amount === 'number') && (parseQuantity(amount) ?? Number.NaN) >= 0
  );
}

function storageFaults(spec: EtcdClusterSpec): readonly string[] {
  const { volumeClaimTemplate, retainDeadMemberFor: keep = DEFAULT_RETAIN_DEAD_MEMBER } = spec.storage ?? {};
  const claim = volumeClaimTemplate?.spec ?? spec.pod?.persistentVolumeClaimSpec;
  const size = claim?.resources?.requests?.storage ?? DEFAULT_CLAIM_SIZE;
  const faults = storageFormFaults(spec);
  if ((parseQuantity(size) ?? 0) <= 0) {
    faults.push(`the storage request ${quote(size)} is no size: write one such as 8Gi`);
  }
  if (parseDurationSeconds(keep) === undefined) {
    faults.push(`spec.storage.retainDeadMemberFor ${quote(keep)} is no duration: write one such as 24h`);
  }
  return [
    ...faults,
    ...volumeFaults(claim, spec.size),
    ...claimMetadataFaults(volumeClaimTemplate?.metadata),
  ];
}

/** Volumes on which no member, or only one, could ever start, or on which it would find another one's data. */
function volumeFaults(claim: object = {}, size: number = DEFAULT_SIZE): readonly string[] {
  const { volumeMode, volumeName, accessModes, ...others } = claim as Readonly<Record<string, unknown>>;
  const modes = Array.isArray(accessModes) ? accessModes : [];
  const filled = ['dataSource', 'dataSourceRef'].filter(field => others[field] !== undefined);
  return [
    // etcd takes a log that it finds for its own: a member would come to life as the one whose volume was copied.
    ...(filled.length > 0
      ? [
          `the claim of each member has ${filled.join(' and ')}, and a member begins on an empty volume: remove it, and restore a backup with an EtcdRestore`,
        ]
      : []),
    ...(volumeMode === 'Block'
      ? ['the claim of each member has volumeMode Block, and etcd needs a file system: remove it']
      : []),
    ...(typeof volumeName === 'string' && volumeName !== '' && size > 1
      ? [
          `the claim of each member names the volume ${quote(volumeName)}, which only one of them can have: remove volumeName, and select volumes by selector or storageClassName`,
        ]
      : []),
    ...(modes.length > 0 && modes.every(mode => mode === 'ReadOnlyMany')
      ? ['the claim of each member has no access mode but ReadOnlyMany, and etcd writes: write ReadWriteOnce']
      : []),
  ];
}

function claimMetadataFaults(metadata: VolumeClaimTemplate['metadata']): readonly string[] {
  const path = 'spec.storage.volumeClaimTemplate.metadata';
  return [
    ...labelFaults(`${path}.labels`, metadata?.labels),
    ...keyFaults(`${path}.annotations`, metadata?.annotations),
  ];
}

function storageFormFaults({ storage, pod }: EtcdClusterSpec): string[] {
  const forms = [
    ...(storage?.volumeClaimTemplate === undefined ? [] : ['spec.storage.volumeClaimTemplate']),
    ...(storage?.emptyDir === undefined ? [] : ['spec.storage.emptyDir']),
    ...(pod?.persistentVolumeClaimSpec === undefined ? [] : ['spec.pod.persistentVolumeClaimSpec']),
  ];
  return forms.length > 1 ? [`${forms.join(' and ')} exclude each other: keep one`] : [];
}

/** Of a database in bytes: in a smaller one etcd raises NOSPACE after a handful of writes. */
const LEAST_QUOTA = 16 * 2 ** 20;

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
      faults.push(`spec.etcd.${field} ${quote(value)} is no size: write bytes, or a size such as 2Gi`);
    }
  }
  const { quotaBackendBytes: quota } = config.etcd;
  if (quota < LEAST_QUOTA) {
    faults.push(
      `spec.etcd.quotaBackendBytes is ${quota} bytes: write at least 16Mi, since a smaller database is full after a few writes`,
    );
  }
  const { mode, retention } = autoCompaction;
  const number = /^\d+$/.test(retention);
  const path = `spec.etcd.autoCompaction.retention ${quote(retention)}`;
  if (mode === 'revision' && !number)
    faults.push(`${path} is no number of revisions: write one such as 1000`);
  if (mode === 'periodic' && !number && parseDurationSeconds(retention) === undefined) {
    faults.push(`${path} is no duration: write one such as 1h`);
  }
  return faults;
}

function defragmentFaults(spec: EtcdClusterSpec): readonly string[] {
  const { schedule, window } = spec.maintenance?.defragment ?? {};
  return [
    ...prefixed('spec.maintenance.defragment.schedule', schedule, cronFault),
    ...prefixed('spec.maintenance.defragment.window.timeZone', window?.timeZone, timeZoneFault),
  ];
}

/** What is wrong with the schedule of a backup; empty when it has none. */
export function scheduleFaults(spec: EtcdBackupSpec): readonly string[] {
  return [
    ...prefixed('spec.backupPolicy.schedule', spec.backupPolicy?.schedule, cronFault),
    ...prefixed('spec.backupPolicy.timeZone', spec.backupPolicy?.timeZone, timeZoneFault),
  ];
}

function prefixed(
  path: string,
  value: string | undefined,
  judge: (value: string) => string | undefined,
): readonly string[] {
  const fault = value === undefined ? undefined : judge(value);
  return fault === undefined ? [] : [`${path} ${quote(value ?? '')}: ${fault}`];
}

/** The faults of a backup that is older than the schema, which says the same at admission. */
export function backupFaults(spec: EtcdBackupSpec): readonly string[] {
  const faults = [
    ...storeFaults(spec, { field: 'storageType', type: spec.storageType }),
    ...endpointFaults(spec.etcdEndpoints),
  ];
  const endpoints = (spec.etcdEndpoints ?? []).length > 0;
  if (endpoints === (spec.clusterRef !== undefined)) {
    faults.push('exactly one of spec.etcdEndpoints and spec.clusterRef must be given');
  }
  const { backupIntervalInSecond = 0, maxBackups = 0 } = spec.backupPolicy ?? {};
  if (backupIntervalInSecond < 0)
    faults.push('spec.backupPolicy.backupIntervalInSecond must not be negative');
  if (maxBackups < 0) faults.push('spec.backupPolicy.maxBackups must not be negative');
  return faults;
}

/** The faults of a restore that is older than the schema, which says the same at admission. */
export function restoreFaults(spec: EtcdRestoreSpec): readonly string[] {
  const type = spec.backupStorageType ?? '';
  const faults = type === '' ? [] : storeFaults(spec, { field: 'backupStorageType', type });
  const sources = [type !== '', spec.backupRef, spec.survivor, spec.incarnation];
  if (sources.filter(Boolean).length !== 1) {
    faults.push(
      'exactly one of spec.backupStorageType, spec.backupRef, spec.survivor and spec.incarnation must be given',
    );
  }
  return [...faults, ...nameFaults('spec.etcdCluster.name', spec.etcdCluster.name)];
}
