/** Where the token of the pod's own identity may be sent. Pure. */
import { StoreError } from './port.ts';

/** Hosts at which the clouds themselves answer. */
const CLOUDS = {
  gcs: /(^|\.)googleapis\.com$/,
  abs: /\.blob\.(core\.(windows\.net|chinacloudapi\.cn|usgovcloudapi\.net|cloudapi\.de)|storage\.azure\.net)$/,
} as const;

/**
 * Refuses an endpoint that is not the cloud's own. A token serves whoever receives it, and endpoints are written by people who
 * may make resources in one namespace, which does not make the operator's identity theirs.
 * @param trusted names of hosts that are taken besides, also without TLS
 * @throws StoreError `invalid`
 */
export function checkIdentityEndpoint(
  block: keyof typeof CLOUDS,
  endpoint: URL,
  trusted: readonly string[] = [],
): void {
  const { protocol, hostname } = endpoint;
  if (trusted.includes(hostname) || (protocol === 'https:' && CLOUDS[block].test(hostname))) return;
  throw new StoreError(
    'invalid',
    `${block}.endpoint ${protocol}//${hostname} is not the cloud's own: the token of the operator's identity is not sent there; name a Secret`,
  );
}
