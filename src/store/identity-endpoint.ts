/** Where tokens, and requests that any receiver could use, may be sent. Pure. */
import { type ObjectStoreType, STORES, storeRow } from '../api/stores.ts';
import type { AllowedAddresses } from './addresses.ts';
import { StoreError } from './port.ts';

/** Whether an endpoint is the cloud's own. */
function isCloud(type: ObjectStoreType, { protocol, hostname }: URL): boolean {
  return protocol === 'https:' && storeRow(type)?.hosts?.test(hostname) === true;
}

/**
 * Refuses an endpoint that is not the cloud's own. Any receiver of a token can use it, and endpoints are written by users who
 * may make resources in one namespace, which does not make the operator's identity theirs.
 * @param trusted names of hosts that are taken besides, also without TLS
 * @throws StoreError `invalid`
 */
export function checkIdentityEndpoint(
  type: ObjectStoreType,
  endpoint: URL,
  trusted: readonly string[] = [],
): void {
  const { protocol, hostname } = endpoint;
  if (trusted.includes(hostname) || isCloud(type, endpoint)) return;
  throw new StoreError(
    'invalid',
    `${STORES[type].block}.endpoint ${protocol}//${hostname} is not a host of the cloud: the token of the operator's identity is not sent there; name a Secret`,
  );
}

/**
 * Refuses an endpoint that is neither the cloud's own nor one that the Secret names (docs/decisions/0053-tenants-and-addresses.md). Google's tokens serve
 * any receiver; the signatures of Azure (Shared Key) and of OSS (V1 and V4) do not cover the host, so a receiver of a
 * request can hand it on to the cloud and read the answer. Those of AWS (Signature Version 4) do.
 * @param allowed what the Secret and administrators name; undefined: everything
 * @throws StoreError `invalid`
 */
export function checkSecretEndpoint(
  type: ObjectStoreType,
  endpoint: URL,
  allowed: AllowedAddresses | undefined,
): void {
  const { protocol, hostname } = endpoint;
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  if (allowed === undefined || isCloud(type, endpoint) || allowed.covers(host)) return;
  const { block, secret } = STORES[type];
  throw new StoreError(
    'invalid',
    `${block}.endpoint ${protocol}//${hostname} is not a host of the cloud, and anyone there could use the contents of ${block}.${secret.field}: add the host to the annotation etcd.database.coreos.com/hosts of the Secret, or to CREDENTIAL_HOSTS_ALLOWED of the operator`,
  );
}
