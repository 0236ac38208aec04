/**
 * What is known of etcd's releases: minors, floors, the rules for leaving a minor, and flags that went away. Read from
 * etcd's releases, change logs, advisories and upgrade guides on {@link VERSIONS_KNOWN_ON}. Pure data, the only place where
 * releases are named; docs/reference/versions.md is generated from it.
 */

/** The day on which the tables below were read. */
export const VERSIONS_KNOWN_ON = '2026-11-21';

export const SUPPORTED_MINORS = ['3.5', '3.6', '3.7'] as const;
export type SupportedMinor = (typeof SUPPORTED_MINORS)[number];

/** The newest release known of each supported minor. */
export const NEWEST_KNOWN: Readonly<Record<SupportedMinor, string>> = {
  '3.5': '3.5.35',
  '3.6': '3.6.16',
  '3.7': '3.7.3',
};

/** The version of a cluster that names none: the newest known release of the minor that Kubernetes has run longest. */
export const DEFAULT_VERSION = NEWEST_KNOWN['3.6'];

type FloorKind = 'dataLoss' | 'security';

/** A release below which a cluster of that minor runs with a known fault. */
export type Floor = {
  readonly minor: SupportedMinor;
  readonly version: string;
  readonly kind: FloorKind;
  /** What can happen below the floor, as the end of a sentence. */
  readonly reason: string;
  /** No living cluster is moved to a release below this floor. */
  readonly forbidden?: true;
};

const WATCHES_AND_HANDSHAKES =
  'watches can leak keys across RBAC and a stalled TLS handshake blocks the listener (GHSA-xg4h-6gfc-h4m8, GHSA-6vch-q96h-7gc3)';

/** Worst first within a minor: the first floor that a version is below is the one that is reported by name. */
export const FLOORS: readonly Floor[] = [
  {
    minor: '3.5',
    version: '3.5.3',
    kind: 'dataLoss',
    reason:
      'a member that is killed under load can come back with data that differs from the others (etcd issue 13766)',
    forbidden: true,
  },
  {
    minor: '3.5',
    version: '3.5.26',
    kind: 'dataLoss',
    reason:
      'removed members can come back to life and promoted members turn into learners when the cluster is upgraded to 3.6 (etcd issues 19557, 20793, 20967)',
  },
  { minor: '3.5', version: '3.5.33', kind: 'security', reason: WATCHES_AND_HANDSHAKES },
  {
    minor: '3.6',
    version: '3.6.15',
    kind: 'dataLoss',
    reason: 'a member may be unable to start after a power loss (etcd issue 22314)',
  },
  { minor: '3.6', version: '3.6.14', kind: 'security', reason: WATCHES_AND_HANDSHAKES },
  { minor: '3.7', version: '3.7.1', kind: 'security', reason: WATCHES_AND_HANDSHAKES },
];

/** What must hold before a minor is left for the next. */
export type Departure = {
  readonly from: string;
  readonly to: SupportedMinor;
  /** Every member must run this release or a newer one of its minor. */
  readonly floor: string;
  /** Why, as the end of a sentence. */
  readonly reason: string;
  /** Where upstream says so. */
  readonly reference: string;
  /** Where upstream says which flags are gone. */
  readonly flagsReference: string;
  /** What the log says of users and roles cannot be read by the next minor. */
  readonly notWithAuth: boolean;
  /**
   * Every member must have been started once more in the old minor after the cluster arrived in it: only such a start puts a
   * snapshot on its disk that leaves behind what the next minor cannot read (tried, test/integration).
   */
  readonly extraRestart: boolean;
};

export const DEPARTURES: readonly Departure[] = [
  {
    from: '3.4',
    to: '3.5',
    floor: '3.4.0',
    reason: '3.5 reads the log of every 3.4',
    reference: 'https://etcd.io/docs/v3.5/upgrades/upgrade_3_5/',
    flagsReference: 'https://etcd.io/docs/v3.5/upgrades/upgrade_3_5/',
    notWithAuth: true,
    extraRestart: false,
  },
  {
    from: '3.5',
    to: '3.6',
    floor: NEWEST_KNOWN['3.5'],
    reason:
      '3.6 takes its member list from where 3.5 before 3.5.26 kept removed and half-promoted members, and etcd advises the newest 3.5 first',
    reference: 'https://etcd.io/blog/2025/zombie_members_upgrade/',
    flagsReference: 'https://etcd.io/docs/v3.6/upgrades/upgrade_3_6/',
    notWithAuth: false,
    extraRestart: false,
  },
  {
    from: '3.6',
    to: '3.7',
    floor: '3.6.11',
    reason: 'earlier releases of 3.6 may not get along with members of 3.7',
    reference: 'https://etcd.io/docs/v3.7/upgrades/upgrade_3_7/',
    flagsReference: 'https://etcd.io/docs/v3.7/upgrades/upgrade_3_7/',
    notWithAuth: false,
    extraRestart: true,
  },
];

/** Where etcd says that minors are taken one at a time, and that it does not check it. */
export const ONE_MINOR_REFERENCE = 'https://etcd.io/docs/v3.7/upgrades/upgrading-etcd/';
/** Where etcd says which minors it maintains. */
export const SUPPORT_REFERENCE = 'https://etcd.io/docs/v3.6/op-guide/versioning/';
/** Where etcd describes how a minor is gone back. */
export const DOWNGRADE_REFERENCE = 'https://etcd.io/docs/v3.7/downgrades/downgrading-etcd/';

/** What must hold before a minor is left for the one before it, by etcd's downgrade (tried, test/integration). */
export type Descent = {
  readonly from: SupportedMinor;
  readonly to: SupportedMinor;
  /** Where upstream says how, and which flags and gates differ. */
  readonly reference: string;
};

export const DESCENTS: readonly Descent[] = [
  { from: '3.6', to: '3.5', reference: 'https://etcd.io/docs/v3.6/downgrades/downgrade_3_6/' },
  { from: '3.7', to: '3.6', reference: 'https://etcd.io/docs/v3.7/downgrades/downgrade_3_7/' },
];

/** Flags that a minor does not know any more: it does not start with them, and ignores their variables. */
export const FLAGS_GONE: Readonly<Record<SupportedMinor, readonly RegExp[]>> = {
  '3.5': [
    /^debug$/,
    /^log-output$/,
    /^log-package-levels$/,
    /^experimental-backend-bbolt-freelist-type$/,
    /^next-cluster-version-compatible$/,
  ],
  '3.6': [/^enable-v2$/, /^experimental-enable-v2v3$/, /^proxy(-.+)?$/],
  '3.7': [/^experimental-/, /^discovery$/, /^discovery-proxy$/],
};

/** Flags that a minor was the first to know: the one before it ignores their variables. */
export const FLAGS_NEW: Readonly<Record<SupportedMinor, readonly RegExp[]>> = {
  '3.5': [],
  '3.6': [
    /^feature-gates$/,
    /^log-format$/,
    /^max-learners$/,
    /^experimental-max-learners$/,
    /^warning-unary-request-duration$/,
    /^experimental-warning-unary-request-duration$/,
    // What discovery has had before keeps its name.
    ...['cacert', 'cert', 'dial-timeout', 'endpoints', 'insecure-skip-tls-verify', 'insecure-transport'].map(
      name => new RegExp(`^discovery-${name}$`),
    ),
    ...['keepalive-time', 'keepalive-timeout', 'key', 'password', 'request-timeout', 'token', 'user'].map(
      name => new RegExp(`^discovery-${name}$`),
    ),
  ],
  '3.7': [],
};

/** Gates that a minor was the first to know: the one before it does not start with them (server/features of etcd's source). */
export const GATES_NEW: Readonly<Record<SupportedMinor, readonly string[]>> = {
  '3.5': [],
  '3.6': [],
  '3.7': ['FastLeaseKeepAlive', 'PriorityRequest'],
};

/** What lost the beginning `experimental-` in 3.6, and is known by the rest of its name since. */
export const FLAGS_RENAMED: readonly string[] = [
  'bootstrap-defrag-threshold-megabytes',
  'compact-hash-check-time',
  'compaction-batch-limit',
  'compaction-sleep-interval',
  'corrupt-check-time',
  'distributed-tracing-address',
  'distributed-tracing-instance-id',
  'distributed-tracing-sampling-rate',
  'distributed-tracing-service-name',
  'downgrade-check-time',
  'enable-distributed-tracing',
  'max-learners',
  'memory-mlock',
  'peer-skip-client-san-verification',
  'snapshot-catchup-entries',
  'warning-apply-duration',
  'warning-unary-request-duration',
  'watch-progress-notify-interval',
];

/** What became a feature gate in 3.6 (https://etcd.io/docs/v3.6/feature-gates): name after `experimental-` to gate. */
export const FLAGS_THAT_BECAME_GATES: Readonly<Record<string, string>> = {
  'compact-hash-check-enabled': 'CompactHashCheck',
  'enable-lease-checkpoint': 'LeaseCheckpoint',
  'enable-lease-checkpoint-persist': 'LeaseCheckpointPersist',
  'initial-corrupt-check': 'InitialCorruptCheck',
  'stop-grpc-service-on-defrag': 'StopGRPCServiceOnDefrag',
  'txn-mode-write-with-shared-buffer': 'TxnModeWriteWithSharedBuffer',
};
