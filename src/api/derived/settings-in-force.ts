/**
 * An absent field asks for nothing on a living cluster (docs/decisions/0036-an-absent-field-keeps-its-value.md). What
 * each field of a specification was when it was last written is recorded in `status.settings`; a field that is left out
 * later, because a manifest never had it or a client does not know it, keeps that value. Pure.
 */
import { type ClusterConfig, withDefaults } from '../defaults/etcd-cluster.ts';
import {
  DEFAULT_RETAIN_DEAD_MEMBER,
  ISSUER_DEFAULTS,
  RECOVERY_DEFAULTS,
  REPAIR_DEFAULTS,
  UPGRADE_DEFAULTS,
} from '../schemas/default-values.ts';
import { parseBytes } from '../values/quantity.ts';
import { domainIn } from './domain.ts';
import type { EtcdCluster, EtcdClusterSpec, EtcdClusterStatus, RawObject } from '../schemas/types.ts';

/** Every field of a group whose fields have fixed defaults. */
function fieldsOf<Group extends string, Field extends string>(
  group: Group,
  defaults: Readonly<Record<Field, unknown>>,
) {
  return Object.keys(defaults).map(field => `${group}.${field}` as `${Group}.${Field}`);
}

/**
 * The fields that are kept: all but those that the CoreOS operator had without a default. Its clients have no other way
 * of taking those away than to leave them out, and no knowledge of the others.
 */
export const KEPT_FIELDS = [
  'size',
  'version',
  'repository',
  'hibernated',
  'profile',
  'pod.ClusterDomain',
  'pod.persistentVolumeClaimSpec',
  'pod.topologySpreadConstraints',
  'pod.priorityClassName',
  'pod.imagePullSecrets',
  'pod.serviceAccountName',
  'pod.terminationGracePeriodSeconds',
  'TLS.certManager.issuerRef.kind',
  'TLS.certManager.issuerRef.group',
  'storage.volumeClaimTemplate',
  'storage.emptyDir',
  'storage.retain',
  'storage.retainDeadMemberFor',
  'etcd.quotaBackendBytes',
  'etcd.autoCompaction.mode',
  'etcd.autoCompaction.retention',
  'etcd.snapshotCount',
  'etcd.heartbeatIntervalMs',
  'etcd.electionTimeoutMs',
  'etcd.logLevel',
  'etcd.maxRequestBytes',
  ...fieldsOf('upgrade', UPGRADE_DEFAULTS),
  ...fieldsOf('repair', REPAIR_DEFAULTS),
  'maintenance.defragment',
  'maintenance.compareDataEvery',
  ...fieldsOf('recovery', RECOVERY_DEFAULTS),
  'service.type',
  'service.annotations',
  'service.labels',
  'service.trafficDistribution',
] as const;

type Field = (typeof KEPT_FIELDS)[number];

/** The fields that left out mean what they do when they are empty: removed. */
export const REMOVED_FIELDS = [
  'paused',
  'pod.labels',
  'pod.annotations',
  'pod.nodeSelector',
  'pod.affinity',
  'pod.antiAffinity',
  'pod.tolerations',
  'pod.resources',
  'pod.etcdEnv',
  'pod.securityContext',
  'pod.busyboxImage',
  'pod.DNSTimeoutInSecond',
  // The API server refuses to take them away from a living cluster.
  'TLS.static',
  'TLS.auto',
  'TLS.certManager.issuerRef.name',
] as const;

/** Of these an empty text is what clients of the CoreOS operator write when they mean nothing. */
const EMPTY_IS_ABSENT: readonly Field[] = ['version', 'repository', 'pod.ClusterDomain'];
/** One of them replaces the others. */
const STORAGE_FORMS: readonly Field[] = [
  'storage.volumeClaimTemplate',
  'storage.emptyDir',
  'pod.persistentVolumeClaimSpec',
];

/** Where they ask for a size. */
const SIZES = [
  'storage.volumeClaimTemplate.spec.resources.requests.storage',
  'pod.persistentVolumeClaimSpec.resources.requests.storage',
] as const;

type Tree = RawObject;

/**
 * The resource with the specification that is in force, beside what is written. `noted`: what is known of it when the
 * status is lost. Of a cluster that was not begun, and that nothing is known of, an absent field means its default.
 */
export function effectiveCluster(cluster: EtcdCluster, noted?: EtcdClusterSpec): EtcdCluster {
  const { status = {}, written = cluster.spec } = cluster;
  const settings = status.incarnation === undefined ? noted : (recorded(status) ?? noted);
  return { ...cluster, written, spec: settings === undefined ? written : merged(written, settings, status) };
}

function merged(
  written: EtcdClusterSpec,
  settings: EtcdClusterSpec,
  status: EtcdClusterStatus,
): EtcdClusterSpec {
  const version = status.targetVersion || status.currentVersion || settings.version;
  // The domain is in the members' URLs: what was asked for since is not carried out, and taken back by leaving it out.
  const domain = domainIn(status.incarnation?.members[0]?.peerURL ?? '');
  const pod = domain === undefined ? settings.pod : { ...settings.pod, ClusterDomain: domain };
  const known = withReachedSize({ ...settings, ...(version && { version }), ...(pod && { pod }) }, status);
  const spec = KEPT_FIELDS.reduce<Tree>((merging, field) => {
    const value = valueAt(known, field);
    if (value === undefined || value === '' || !isAbsent(written, field) || isReplaced(written, known, field))
      return merging;
    return withValue(merging, field.split('.'), value);
  }, written);
  return spec as EtcdClusterSpec;
}

/** A size that volumes were asked for and have not all reached is taken back, too. */
function withReachedSize(settings: EtcdClusterSpec, { storage }: EtcdClusterStatus): EtcdClusterSpec {
  const reached = parseBytes(storage?.size ?? '');
  return SIZES.reduce<EtcdClusterSpec>((known, field) => {
    const value = valueAt(known, field);
    const asked = typeof value === 'string' ? parseBytes(value) : undefined;
    if (reached === undefined || asked === undefined || asked <= reached) return known;
    return withValue(known as Tree, field.split('.'), storage?.size) as EtcdClusterSpec;
  }, settings);
}

/** Whether something else that is written takes the place of the field. */
function isReplaced(written: EtcdClusterSpec, known: EtcdClusterSpec, field: Field): boolean {
  if (STORAGE_FORMS.includes(field)) return STORAGE_FORMS.some(form => !isAbsent(written, form));
  if (field.startsWith('TLS.')) return written.TLS?.certManager === undefined;
  const mode = written.etcd?.autoCompaction?.mode;
  // A number of revisions is no time.
  return (
    field === 'etcd.autoCompaction.retention' &&
    mode !== undefined &&
    mode !== known.etcd?.autoCompaction?.mode
  );
}

/** What is to be recorded of a specification that is in force: fields with a fixed default as it is now, others as written. */
export function settingsOf(spec: EtcdClusterSpec, config: ClusterConfig): Tree {
  const defaults: EtcdClusterSpec = {
    size: config.size,
    version: config.version,
    repository: config.repository,
    hibernated: config.hibernated,
    profile: config.profile,
    pod: { terminationGracePeriodSeconds: config.pod.terminationGracePeriodSeconds },
    storage: { retain: config.storage.retain, retainDeadMemberFor: DEFAULT_RETAIN_DEAD_MEMBER },
    upgrade: config.upgrade,
    repair: config.repair,
    recovery: config.recovery,
    service: { type: config.service.type },
    ...(spec.TLS?.certManager && {
      TLS: { certManager: { issuerRef: { name: '', ...ISSUER_DEFAULTS } } },
    }),
  };
  return KEPT_FIELDS.reduce<Tree>((settings, field) => {
    const value = isAbsent(spec, field) ? valueAt(defaults, field) : valueAt(spec, field);
    return value === undefined ? settings : withValue(settings, field.split('.'), value);
  }, {});
}

/** The fields that are left out and mean another value than they would in a new cluster, as sentences. */
export function keptFields({ written, spec }: EtcdCluster): readonly string[] {
  if (written === undefined) return [];
  const ofNew = settingsOf({}, withDefaults({}));
  return KEPT_FIELDS.flatMap(field => {
    const value = valueAt(spec, field);
    const usual = valueAt(ofNew, field);
    if (!isAbsent(written, field) || value === undefined || JSON.stringify(value) === JSON.stringify(usual))
      return [];
    const what = typeof value === 'object' ? 'what it was' : `${value as string | number | boolean}`;
    return [`spec.${field} is absent: ${what} is kept`];
  });
}

function recorded({ settings }: EtcdClusterStatus): EtcdClusterSpec | undefined {
  return settings as EtcdClusterSpec | undefined;
}

function isAbsent(spec: EtcdClusterSpec, field: Field): boolean {
  const value = valueAt(spec, field);
  if (value === undefined || value === null) return true;
  return (value === '' && EMPTY_IS_ABSENT.includes(field)) || (field === 'size' && value === 0);
}

function valueAt(tree: unknown, field: string): unknown {
  let value: unknown = tree;
  for (const key of field.split('.')) {
    if (typeof value !== 'object' || value === null) return undefined;
    value = (value as Tree)[key];
  }
  return value;
}

function withValue(tree: Tree, [key = '', ...rest]: readonly string[], value: unknown): Tree {
  if (rest.length === 0) return { ...tree, [key]: value };
  return { ...tree, [key]: withValue((tree[key] ?? {}) as Tree, rest, value) };
}
