/** Which fields that are set do nothing, so that status says it: nothing is ignored silently. Pure. */
import {
  isReservedKey,
  LABEL_COMPONENT,
  LABEL_INSTANCE,
  LABEL_MANAGED_BY,
  LABEL_NAME,
  type Kind,
} from '../names.ts';
import { storeRow } from '../stores.ts';
import { blocksOf, type StoreBlocks } from '../derived/store-of-specification.ts';
import type { EtcdBackupSpec, EtcdClusterSpec, EtcdRestoreSpec } from '../schemas/types.ts';

export type IgnoredField = {
  /** The path as a person writes it, from `spec`. */
  readonly field: string;
  readonly why: string;
};

/** A field whose behaviour comes with a later release. `unless`: its default, which asks for nothing. */
export type LaterField = { readonly field: string; readonly unless?: string | number | boolean };

const NO_INIT_CONTAINER = 'no longer needed, pods have no init container that waits for DNS';

const NO_LONGER_NEEDED: Readonly<Record<Kind, readonly IgnoredField[]>> = {
  EtcdCluster: [
    { field: 'spec.pod.busyboxImage', why: NO_INIT_CONTAINER },
    { field: 'spec.pod.DNSTimeoutInSecond', why: NO_INIT_CONTAINER },
  ],
  EtcdBackup: [],
  EtcdRestore: [],
};

/** An implementation of what a line names removes the line. */
export const NOT_ACTED_ON_YET: Readonly<Record<Kind, readonly LaterField[]>> = {
  EtcdCluster: [],
  EtcdBackup: [],
  EtcdRestore: [],
};

/** The fields of a cluster's specification that are set and not acted upon, in a fixed order. */
export function ignoredClusterFields(spec: EtcdClusterSpec): readonly IgnoredField[] {
  return [
    ...ignoredFields('EtcdCluster', spec),
    ...overriddenLabels(spec),
    ...reservedOfClaims(spec),
    ...doubledVariables(spec),
  ];
}

/** The fields of a backup that are set and not acted upon: blocks of stores that storageType does not name among them. */
export function ignoredBackupFields(spec: EtcdBackupSpec): readonly IgnoredField[] {
  const { secondStore } = spec;
  return [
    ...ignoredFields('EtcdBackup', spec),
    ...otherBlocks(spec, 'storageType', spec.storageType),
    ...(secondStore === undefined
      ? []
      : otherBlocks(secondStore, 'storageType', secondStore.storageType).map(({ field, why }) => ({
          field: field.replace('spec.', 'spec.secondStore.'),
          why,
        }))),
  ];
}

/** As {@link ignoredBackupFields}, for a restore. */
export function ignoredRestoreFields(spec: EtcdRestoreSpec): readonly IgnoredField[] {
  return [
    ...ignoredFields('EtcdRestore', spec),
    ...otherBlocks(spec, 'backupStorageType', spec.backupStorageType ?? ''),
  ];
}

function ignoredFields(kind: Kind, spec: object): readonly IgnoredField[] {
  const later = NOT_ACTED_ON_YET[kind]
    .filter(({ field, unless }) => unless === undefined || valueAt(spec, field) !== unless)
    .map(({ field }) => ({ field, why: 'not acted upon by this release' }));
  const asked = ({ field }: IgnoredField): boolean => isAsked(valueAt(spec, field), field);
  return [...NO_LONGER_NEEDED[kind], ...later].filter(asked);
}

/** Clusters made for the CoreOS operator may set them; on pods the operator's own values stand. */
function overriddenLabels(spec: EtcdClusterSpec): readonly IgnoredField[] {
  return [LABEL_NAME, LABEL_INSTANCE, LABEL_COMPONENT, LABEL_MANAGED_BY]
    .filter(key => spec.pod?.labels?.[key] !== undefined)
    .map(key => ({ field: `spec.pod.labels[${key}]`, why: 'the operator sets this label itself' }));
}

/** A template that was copied from a claim says what the operator had noted on that one. */
function reservedOfClaims({ storage }: EtcdClusterSpec): readonly IgnoredField[] {
  const { labels = {}, annotations = {} } = storage?.volumeClaimTemplate?.metadata ?? {};
  const path = 'spec.storage.volumeClaimTemplate.metadata';
  const ignored = (field: string, texts: object): IgnoredField[] =>
    Object.keys(texts)
      .filter(isReservedKey)
      .map(key => ({ field: `${path}.${field}[${key}]`, why: 'the operator sets this key itself' }));
  return [...ignored('labels', labels), ...ignored('annotations', annotations)];
}

/** Of an older object: the schema refuses them. Kubernetes takes the last one. */
function doubledVariables({ pod }: EtcdClusterSpec): readonly IgnoredField[] {
  const names = (pod?.etcdEnv ?? []).map(({ name }) => name);
  return names.flatMap((name, index) =>
    names.lastIndexOf(name) === index
      ? []
      : [{ field: `spec.pod.etcdEnv[${index}]`, why: `${name} is named again after it` }],
  );
}

function otherBlocks(spec: StoreBlocks, field: string, type: string): readonly IgnoredField[] {
  const why = type === '' ? `${field} does not name it` : `${field} is ${type}`;
  return Object.keys(blocksOf(spec))
    .filter(block => block !== storeRow(type)?.block)
    .map(block => ({ field: `spec.${block}`, why }));
}

function valueAt(spec: object, path: string): unknown {
  let value: unknown = spec;
  for (const key of path.split('.').slice(1)) {
    if (typeof value !== 'object' || value === null) return undefined;
    value = (value as Record<string, unknown>)[key];
  }
  return value;
}

/** Zero values are what old clients write for fields that nobody set; for some fields zero is a wish. */
function isAsked(value: unknown, field: string): boolean {
  if (value === undefined || value === null || value === '' || value === false) return false;
  if (value === 0) return field !== 'spec.pod.DNSTimeoutInSecond';
  return typeof value !== 'object' || Object.keys(value).length > 0;
}
