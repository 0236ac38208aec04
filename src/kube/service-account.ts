/** The credentials of a pod: its service account, as the kubelet mounts it, and the environment that it sets. */
import { readFile } from 'node:fs/promises';
import { isIPv6 } from 'node:net';
import { type ConnectionSource, connectionOf } from './connection.ts';

const MOUNT = '/var/run/secrets/kubernetes.io/serviceaccount';

export interface ServiceAccount {
  /** KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT. */
  readonly host: string;
  readonly port: string;
  /** What stands before the mount; nothing in a pod. */
  readonly mountPrefix?: string | undefined;
}

/** Reads token and authority anew each time: the kubelet renews the token, and both are small. */
export function serviceAccount({ host, port, mountPrefix = '' }: ServiceAccount): ConnectionSource {
  const file = (name: string): Promise<Buffer> => readFile(`${mountPrefix}${MOUNT}/${name}`);
  return {
    async read() {
      const [token, ca] = await Promise.all([file('token'), file('ca.crt')]);
      return connectionOf({
        server: new URL(`https://${isIPv6(host) ? `[${host}]` : host}:${port}`),
        proxyUrl: undefined,
        headers: { authorization: `Bearer ${token.toString('utf8').trim()}` },
        tls: { ca },
      });
    },
    forget: () => undefined,
  };
}
