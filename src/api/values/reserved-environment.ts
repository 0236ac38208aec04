/** Environment variables of etcd that a specification may not set, and why. Pure; the CEL rule of etcdEnv says the same. */

/** Set by the operator; etcd refuses to start when a variable repeats a flag. Names without `ETCD_`. */
export const OPERATOR_ENV: readonly string[] = [
  'NAME',
  'DATA_DIR',
  'WAL_DIR',
  'CERT_FILE',
  'KEY_FILE',
  'CLIENT_CERT_FILE',
  'CLIENT_KEY_FILE',
  'CLIENT_CERT_AUTH',
  'CLIENT_CRL_FILE',
  'TRUSTED_CA_FILE',
  'AUTO_TLS',
  'PEER_CERT_FILE',
  'PEER_KEY_FILE',
  'PEER_CLIENT_CERT_FILE',
  'PEER_CLIENT_KEY_FILE',
  'PEER_CLIENT_CERT_AUTH',
  'PEER_CRL_FILE',
  'PEER_TRUSTED_CA_FILE',
  'PEER_AUTO_TLS',
  'DISCOVERY',
];

/** Families of the same: a name that begins so is the operator's. */
export const OPERATOR_ENV_PREFIXES: readonly string[] = ['INITIAL_', 'LISTEN_', 'ADVERTISE_', 'DISCOVERY_'];

/** What the operator passes to etcd by arguments that name a variable (objects/first-start.ts). Whole names. */
export const INITIAL_CLUSTER_ENV = 'MEMBER_INITIAL_CLUSTER';
export const INITIAL_CLUSTER_STATE_ENV = 'MEMBER_INITIAL_CLUSTER_STATE';
export const OWN_ENV: readonly string[] = [INITIAL_CLUSTER_ENV, INITIAL_CLUSTER_STATE_ENV];

/** Endanger data. */
export const DANGEROUS_ENV: readonly string[] = [
  'FORCE_NEW_CLUSTER',
  'FORCE_NEW_CLUSTER_BUMP_AMOUNT',
  'UNSAFE_NO_FSYNC',
  'STRICT_RECONFIG_CHECK',
  'CONFIG_FILE',
];

/** Why `spec.pod.etcdEnv` may not set `name`, with what to do instead; undefined when it may. */
export function reservedEnvReason(name: string): string | undefined {
  if (OWN_ENV.includes(name)) return 'the operator sets it itself; remove it';
  if (!name.startsWith('ETCD_')) return undefined;
  const flag = name.slice('ETCD_'.length);
  if (DANGEROUS_ENV.includes(flag)) return 'it endangers the data of the cluster; remove it';
  if (OPERATOR_ENV.includes(flag) || OPERATOR_ENV_PREFIXES.some(prefix => flag.startsWith(prefix))) {
    return 'the operator sets it itself; remove it';
  }
  return undefined;
}
