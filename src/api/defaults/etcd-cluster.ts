/**
 * Defaults, applied on read. The schema has them too, for users who look at their object; code does not rely on it:
 * the Go client of the CoreOS operator writes empty strings and zeros, which mean "default", and objects can be older
 * than the schema. Pure.
 */
import {
  DEFAULT_SIZE,
  MAX_SIZE,
  DEFAULT_REPOSITORY,
  DEFAULT_GRACE_SECONDS,
  DEFAULT_COMPARE_DATA_EVERY,
  DEFAULT_RETAIN_DEAD_MEMBER,
  UPGRADE_DEFAULTS,
  REPAIR_DEFAULTS,
  RECOVERY_DEFAULTS,
} from '../schemas/default-values.ts';
import { parseBytes, parseDurationSeconds } from '../values/quantity.ts';
import type {
  ClaimSpec,
  EnvVar,
  EtcdClusterSpec,
  PodPolicy,
  Profile,
  Quantity,
  Retain,
  StoragePolicy,
  TlsPolicy,
} from '../schemas/types.ts';
import { DEFAULT_VERSION } from '../versions/table.ts';
import { trimVersion } from '../versions/compare.ts';

const DEFAULT_RETAIN_DEAD_MEMBER_SECONDS = 24 * 3600;
/** etcd's own. */
const DEFAULT_MAX_REQUEST_BYTES = 1.5 * 2 ** 20;

const GIB = 2 ** 30;

/** How etcd is run. All of it is rendered into flags, which differ between versions. */
type EtcdSettings = {
  readonly quotaBackendBytes: number;
  readonly autoCompaction: { readonly mode: 'periodic' | 'revision' | 'off'; readonly retention: string };
  /** Absent: etcd's own default, which differs between 3.5 and 3.6. */
  readonly snapshotCount?: number;
  readonly heartbeatIntervalMs: number;
  readonly electionTimeoutMs: number;
  readonly logLevel: string;
  readonly maxRequestBytes: number;
};

/** A cluster's specification with nothing left to guess, except storage, which `status.storage` decides. */
export type ClusterConfig = {
  readonly size: number;
  readonly version: string;
  readonly repository: string;
  /** `<repository>:v<version>` */
  readonly image: string;
  readonly paused: boolean;
  readonly hibernated: boolean;
  readonly pod: PodPolicy & {
    readonly labels: Readonly<Record<string, string>>;
    readonly annotations: Readonly<Record<string, string>>;
    readonly etcdEnv: readonly EnvVar[];
    readonly terminationGracePeriodSeconds: number;
    /** Without leading dot; empty: member URLs end in `.svc`. */
    readonly ClusterDomain: string;
  };
  /** Absent when the specification asks for no TLS, also when it has an empty TLS block. */
  readonly TLS?: TlsPolicy;
  readonly storage: Omit<StoragePolicy, 'retainDeadMemberFor'> & {
    readonly retain: Retain;
    readonly retainDeadMemberSeconds: number;
  };
  readonly etcd: EtcdSettings;
  readonly profile: Profile;
  readonly upgrade: Required<NonNullable<EtcdClusterSpec['upgrade']>>;
  readonly repair: Required<NonNullable<EtcdClusterSpec['repair']>>;
  readonly maintenance: {
    /** 0: never by time. */
    readonly compareDataEverySeconds: number;
    /** `freeBytes`: in bytes. */
    readonly defragment?: Omit<Defragment, 'fragmentation' | 'freeBytes'> & {
      readonly fragmentation: number;
      readonly freeBytes: number;
    };
  };
  readonly recovery: Required<NonNullable<EtcdClusterSpec['recovery']>>;
  readonly service: NonNullable<EtcdClusterSpec['service']> & {
    readonly type: NonNullable<NonNullable<EtcdClusterSpec['service']>['type']>;
  };
};

type Defragment = NonNullable<NonNullable<EtcdClusterSpec['maintenance']>['defragment']>;

/** What each profile means where the specification is silent. */
const PROFILES: Readonly<Record<Profile, { quotaBackendBytes: number; compaction: AutoCompaction['mode'] }>> =
  {
    Default: { quotaBackendBytes: 2 * GIB, compaction: 'periodic' },
    Development: { quotaBackendBytes: 2 * GIB, compaction: 'periodic' },
    // A kube-apiserver compacts by itself and needs room for its events.
    Kubernetes: { quotaBackendBytes: 8 * GIB, compaction: 'off' },
  };

/** The image of an etcd release in a repository, as the CoreOS operator named it. */
export function etcdImage(repository: string, version: string): string {
  return `${repository}:v${version}`;
}

/**
 * The specification with every default in place. `recorded.version` is the version that the cluster already runs or
 * moves to: it stands in for an absent one, so that a new release of the operator never upgrades a cluster by itself.
 */
export function withDefaults(
  spec: EtcdClusterSpec,
  recorded: { readonly version?: string | undefined } = {},
): ClusterConfig {
  const version = trimVersion(orElse(spec.version, orElse(recorded.version, DEFAULT_VERSION)));
  const repository = orElse(spec.repository, DEFAULT_REPOSITORY);
  const profile = orElse<Profile>(spec.profile, 'Default');
  return {
    // Another size is refused (specification-faults.ts). What users are shown of the plan all the same is of a size that can be.
    size: Math.min(Math.max(orElse(spec.size, DEFAULT_SIZE), 1), MAX_SIZE),
    version,
    repository,
    image: etcdImage(repository, version),
    paused: spec.paused ?? false,
    hibernated: spec.hibernated ?? false,
    pod: podWithDefaults(spec.pod),
    ...tlsIfAsked(spec.TLS),
    storage: storageWithDefaults(spec.storage, spec.pod?.persistentVolumeClaimSpec),
    etcd: etcdWithDefaults(spec, profile),
    profile,
    upgrade: { ...UPGRADE_DEFAULTS, ...spec.upgrade },
    repair: { ...REPAIR_DEFAULTS, ...spec.repair },
    maintenance: maintenanceWithDefaults(spec.maintenance),
    recovery: { ...RECOVERY_DEFAULTS, ...spec.recovery },
    service: { ...spec.service, type: spec.service?.type ?? 'ClusterIP' },
  };
}

/** `value` unless it is absent, null, empty or zero. */
function orElse<T extends string | number>(value: T | null | undefined, otherwise: T): T {
  return value === undefined || value === null || value === '' || value === 0 ? otherwise : value;
}

function podWithDefaults(pod: PodPolicy | undefined): ClusterConfig['pod'] {
  return {
    ...pod,
    labels: pod?.labels ?? {},
    annotations: pod?.annotations ?? {},
    etcdEnv: pod?.etcdEnv ?? [],
    terminationGracePeriodSeconds: pod?.terminationGracePeriodSeconds ?? DEFAULT_GRACE_SECONDS,
    ClusterDomain: (pod?.ClusterDomain ?? '').replace(/^\.+|\.+$/g, ''),
  };
}

function tlsIfAsked(tls: TlsPolicy | undefined): Pick<ClusterConfig, 'TLS'> {
  const member = tls?.static?.member;
  const secrets = [member?.peerSecret, member?.serverSecret, tls?.static?.operatorSecret];
  const asked =
    tls?.auto !== undefined || tls?.certManager !== undefined || secrets.some(name => (name ?? '') !== '');
  return asked && tls !== undefined ? { TLS: tls } : {};
}

/** Both ways to ask for a claim end up as `volumeClaimTemplate`. */
function storageWithDefaults(
  storage: EtcdClusterSpec['storage'],
  claim: ClaimSpec | undefined,
): ClusterConfig['storage'] {
  const { retainDeadMemberFor = DEFAULT_RETAIN_DEAD_MEMBER, ...written } = storage ?? {};
  return {
    ...(claim === undefined ? {} : { volumeClaimTemplate: { spec: claim } }),
    ...written,
    retain: written.retain ?? 'Delete',
    retainDeadMemberSeconds: parseDurationSeconds(retainDeadMemberFor) ?? DEFAULT_RETAIN_DEAD_MEMBER_SECONDS,
  };
}

function maintenanceWithDefaults(maintenance: EtcdClusterSpec['maintenance']): ClusterConfig['maintenance'] {
  const { defragment, compareDataEvery = DEFAULT_COMPARE_DATA_EVERY } = maintenance ?? {};
  const compareDataEverySeconds = parseDurationSeconds(compareDataEvery) ?? 0;
  if (defragment === undefined) return { compareDataEverySeconds };
  const { fragmentation = 50, freeBytes, ...others } = defragment;
  return {
    compareDataEverySeconds,
    defragment: { ...others, fragmentation, freeBytes: bytesOrElse(freeBytes, 100 * 1024 ** 2) },
  };
}

function etcdWithDefaults({ etcd, pod }: EtcdClusterSpec, profile: Profile): EtcdSettings {
  const preset = PROFILES[profile];
  const heartbeat = orElse(etcd?.heartbeatIntervalMs, 100);
  return {
    quotaBackendBytes: bytesOrElse(etcd?.quotaBackendBytes, quotaByVariable(pod) ?? preset.quotaBackendBytes),
    autoCompaction: compactionWithDefaults(etcd?.autoCompaction, preset.compaction),
    ...((etcd?.snapshotCount ?? 0) === 0 ? {} : { snapshotCount: etcd?.snapshotCount ?? 0 }),
    heartbeatIntervalMs: heartbeat,
    electionTimeoutMs: orElse(etcd?.electionTimeoutMs, heartbeat * 10),
    logLevel: orElse<string>(etcd?.logLevel, 'info'),
    maxRequestBytes: bytesOrElse(etcd?.maxRequestBytes, DEFAULT_MAX_REQUEST_BYTES),
  };
}

/**
 * The quota that `pod.etcdEnv` gives, which beats a mere default (objects/etcd-arguments.ts). Undefined for one that comes from
 * elsewhere, or that is none: then the default stands for it wherever a quota is reckoned with.
 */
function quotaByVariable(pod: PodPolicy | undefined): number | undefined {
  const { value = '' } = pod?.etcdEnv?.find(({ name }) => name === 'ETCD_QUOTA_BACKEND_BYTES') ?? {};
  return /^[1-9]\d*$/.test(value) ? Number(value) : undefined;
}

type AutoCompaction = EtcdSettings['autoCompaction'];

function compactionWithDefaults(
  asked: NonNullable<EtcdClusterSpec['etcd']>['autoCompaction'],
  preset: AutoCompaction['mode'],
): AutoCompaction {
  const named = String(asked?.retention ?? '');
  // A number without a unit means time.
  const mode = asked?.mode ?? (named === '' ? preset : 'periodic');
  return { mode, retention: orElse(named, { periodic: '1h', revision: '1000', off: '0' }[mode]) };
}

/** The bytes of a quantity, `otherwise` when it is absent, zero or none. */
function bytesOrElse(quantity: Quantity | undefined, otherwise: number): number {
  return orElse(quantity === undefined ? 0 : parseBytes(quantity), otherwise);
}
