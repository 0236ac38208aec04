/** Which fields that are set do nothing, so that status says it: nothing is ignored silently. Pure. */
import type { EtcdClusterSpec } from './types.ts';

export type IgnoredField = {
  /** The path as a person writes it, from `spec`. */
  readonly field: string;
  readonly why: string;
};

const NO_LONGER_NEEDED: readonly IgnoredField[] = [
  {
    field: 'spec.pod.busyboxImage',
    why: 'no longer needed, pods have no init container that waits for DNS',
  },
  {
    field: 'spec.pod.DNSTimeoutInSecond',
    why: 'no longer needed, pods have no init container that waits for DNS',
  },
];

/** Fields of the schema whose behaviour comes with a later release. Whoever builds one removes its line. */
export const NOT_ACTED_ON_YET: readonly string[] = [
  'spec.hibernated',
  'spec.upgrade.strategy',
  'spec.upgrade.soakSeconds',
  'spec.upgrade.snapshotBefore',
  'spec.upgrade.allowIntermediateVersions',
  'spec.upgrade.rollbackOnFailure',
  'spec.repair.replaceAfterSeconds',
  'spec.repair.maxReplacementsPerHour',
  'spec.maintenance.defragment',
  'spec.recovery.totalLoss',
];

/** The fields of a cluster's specification that are set and not acted upon, in a fixed order. */
export function ignoredClusterFields(spec: EtcdClusterSpec): readonly IgnoredField[] {
  const later = NOT_ACTED_ON_YET.map(field => ({ field, why: 'not acted upon by this release' }));
  return [...NO_LONGER_NEEDED, ...later].filter(entry => isSet(valueAt(spec, entry.field)));
}

function valueAt(spec: object, path: string): unknown {
  let value: unknown = spec;
  for (const key of path.split('.').slice(1)) {
    if (typeof value !== 'object' || value === null) return undefined;
    value = (value as Record<string, unknown>)[key];
  }
  return value;
}

/** Zero values are what old clients write for fields that nobody set. */
function isSet(value: unknown): boolean {
  if (value === undefined || value === null || value === '' || value === 0 || value === false) return false;
  return typeof value !== 'object' || Object.keys(value).length > 0;
}
