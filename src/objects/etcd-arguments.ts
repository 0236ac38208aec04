/** etcd's command line, rendered per version: a flag that a version does not know makes it exit. Pure. */
import type { ClusterConfig } from '../api/defaults/etcd-cluster.ts';
import { CLIENT_PORT, METRICS_PORT, PEER_PORT } from '../api/names.ts';
import { reservedEnvReason } from '../api/values/reserved-environment.ts';
import type { EnvVar, EtcdClusterSpec } from '../api/schemas/types.ts';
import { isAtLeast } from '../api/versions/compare.ts';
import { FIRST_START_FLAGS } from './first-start.ts';
import { isSecure, peerTlsFlags, serverTlsFlags } from './tls.ts';

/** Where the volume is mounted, and etcd's own directory in it: etcd wants mode 0700, which a mount point cannot promise. */
export const VOLUME_PATH = '/var/lib/etcd';
export const DATA_DIR = `${VOLUME_PATH}/data`;

/** Who the member is; fixed for the life of its pod. */
export type MemberIdentity = {
  readonly name: string;
  readonly peerUrl: string;
  readonly clientUrl: string;
  readonly token: string;
  /** Who connects as a peer need not be found in DNS, because the peer authority signs nothing but members. */
  readonly anyPeerName?: boolean | undefined;
};

export type EtcdCommandLine = {
  readonly args: readonly string[];
  /** The user's environment without what the operator decides. */
  readonly env: readonly EnvVar[];
};

type Flag = readonly [name: string, value: string];

/** Flags that a user's environment may stand in for, together: one of a group is meaningless with the other's default. */
type Group = {
  readonly flags: readonly Flag[];
  /** Names of variables that take the place of this group though they are no variable of its flags. */
  readonly alsoSetBy?: readonly string[];
  /** The specification names a value itself, so a variable does not win. */
  readonly explicit: boolean;
};

/**
 * Flags and environment of one member.
 *
 * etcd refuses to start when a variable repeats a flag (pkg/flags in etcd's source), so of each setting one survives:
 * identity is always the operator's; a setting that `spec.etcd` names beats `pod.etcdEnv`; and `pod.etcdEnv` beats a mere default,
 * because clusters made for the CoreOS operator tune etcd by environment.
 */
export function etcdArguments(
  identity: MemberIdentity,
  config: Pick<ClusterConfig, 'version' | 'etcd' | 'profile'>,
  user: { readonly etcd: EtcdClusterSpec['etcd']; readonly env: readonly EnvVar[] },
): EtcdCommandLine {
  const allowed = user.env.filter(variable => reservedEnvReason(variable.name) === undefined);
  const names = new Set(allowed.map(variable => variable.name));
  const groups = settings(config, user.etcd, names);
  const kept = groups.filter(group => group.explicit || !groupVariables(group).some(name => names.has(name)));
  const taken = new Set(kept.flatMap(groupVariables));
  return {
    args: [
      ...identityFlags(identity),
      ...tlsFlags(identity, config.version),
      ...kept.flatMap(group => group.flags),
    ].map(([k, v]) => `--${k}=${v}`),
    env: allowed.filter(variable => !taken.has(variable.name)),
  };
}

/** The environment variable that etcd reads for a flag. */
function variableOf(flag: string): string {
  return `ETCD_${flag.toUpperCase().replaceAll('-', '_')}`;
}

function groupVariables(group: Group): readonly string[] {
  return [...group.flags.map(([flag]) => variableOf(flag)), ...(group.alsoSetBy ?? [])];
}

/**
 * 0.0.0.0 and not [::]: Go binds either wildcard to both families where the kernel has IPv6, but only 0.0.0.0
 * also works where it has none (favoriteAddrFamily in Go's net package).
 */
function identityFlags(identity: MemberIdentity): readonly Flag[] {
  return [
    ['name', identity.name],
    ['data-dir', DATA_DIR],
    ['listen-peer-urls', `${isSecure(identity.peerUrl) ? 'https' : 'http'}://0.0.0.0:${PEER_PORT}`],
    ['listen-client-urls', `${isSecure(identity.clientUrl) ? 'https' : 'http'}://0.0.0.0:${CLIENT_PORT}`],
    // Always plain: the kubelet has no certificate to show to a listener that asks for one.
    ['listen-metrics-urls', `http://0.0.0.0:${METRICS_PORT}`],
    ['initial-advertise-peer-urls', identity.peerUrl],
    ['advertise-client-urls', identity.clientUrl],
    ...FIRST_START_FLAGS,
    ['initial-cluster-token', identity.token],
  ];
}

/** Secure URLs bring their certificates along. */
function tlsFlags(identity: MemberIdentity, version: string): readonly Flag[] {
  const anyName = identity.anyPeerName === true;
  return [
    ...(isSecure(identity.clientUrl) ? serverTlsFlags() : []),
    ...(isSecure(identity.peerUrl) ? peerTlsFlags(version, { anyName }) : []),
  ];
}

function settings(
  config: Pick<ClusterConfig, 'version' | 'etcd' | 'profile'>,
  asked: EtcdClusterSpec['etcd'],
  names: ReadonlySet<string>,
): readonly Group[] {
  const { etcd } = config;
  const one = (name: string, value: string | number, source: unknown): Group => ({
    flags: [[name, String(value)]],
    explicit: isGiven(source),
  });
  return [
    one('quota-backend-bytes', etcd.quotaBackendBytes, asked?.quotaBackendBytes),
    {
      flags: compactionFlags(etcd.autoCompaction),
      explicit: asked?.autoCompaction?.mode !== undefined || isGiven(asked?.autoCompaction?.retention),
    },
    ...(etcd.snapshotCount === undefined
      ? []
      : [one('snapshot-count', etcd.snapshotCount, etcd.snapshotCount)]),
    {
      flags: [
        ['heartbeat-interval', String(etcd.heartbeatIntervalMs)],
        ['election-timeout', String(etcd.electionTimeoutMs)],
      ],
      explicit: isGiven(asked?.heartbeatIntervalMs) || isGiven(asked?.electionTimeoutMs),
    },
    one('max-request-bytes', etcd.maxRequestBytes, asked?.maxRequestBytes),
    one('log-level', etcd.logLevel, asked?.logLevel),
    ...checks(config, names),
  ];
}

function compactionFlags(compaction: ClusterConfig['etcd']['autoCompaction']): Group['flags'] {
  // Zero, in either mode, is how etcd spells "never".
  const { mode, retention } = compaction;
  return [
    ['auto-compaction-mode', mode === 'off' ? 'periodic' : mode],
    ['auto-compaction-retention', mode === 'off' ? '0' : retention],
  ];
}

/**
 * Before this release a compaction drops what a later one keeps (etcd 18274): a leader that compares hashes of compactions would take members
 * of the two for corrupt.
 */
const COMPACT_HASH_CHECK_SINCE = '3.5.16';

/**
 * What etcd checks by itself, off by default upstream. A member with a damaged database refuses to join instead of serving it (on in kubeadm);
 * and the leader compares what members hash at each compaction, and raises CORRUPT of those that differ.
 */
const CHECKS: readonly { readonly flag: string; readonly gate: string; readonly since: string }[] = [
  { flag: 'experimental-initial-corrupt-check', gate: 'InitialCorruptCheck', since: '3.5.0' },
  {
    flag: 'experimental-compact-hash-check-enabled',
    gate: 'CompactHashCheck',
    since: COMPACT_HASH_CHECK_SINCE,
  },
];

/**
 * Settings whose flags were renamed: `experimental-*` in 3.5, plain or a feature gate from 3.6. Only 3.6 has both, and
 * refuses them side by side: there a variable of the old name stands in for the new flag. To 3.7 it means nothing.
 * @param names of the variables that the user sets
 */
function checks(
  { version, profile }: Pick<ClusterConfig, 'version' | 'profile'>,
  names: ReadonlySet<string>,
): readonly Group[] {
  const isOld = !isAtLeast(version, '3.6.0');
  const readsOld = !isAtLeast(version, '3.7.0');
  const known = CHECKS.filter(({ since }) => isAtLeast(version, since));
  const gates = known.filter(({ flag }) => !readsOld || !names.has(variableOf(flag)));
  const corruption: readonly Group[] = isOld
    ? known.map(({ flag }) => ({ flags: [[flag, 'true']], explicit: false }))
    : gates.length === 0
      ? []
      : [
          {
            flags: [['feature-gates', gates.map(({ gate }) => `${gate}=true`).join(',')]],
            explicit: false,
          },
        ];
  if (profile !== 'Kubernetes') return corruption;
  // kube-apiserver serves consistent reads from its cache when etcd reports progress this often.
  const old = 'experimental-watch-progress-notify-interval';
  const progress: Group = {
    flags: [[isOld ? old : 'watch-progress-notify-interval', '5s']],
    ...(!isOld && readsOld && { alsoSetBy: [variableOf(old)] }),
    explicit: false,
  };
  return [...corruption, progress];
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null && value !== '' && value !== 0;
}
