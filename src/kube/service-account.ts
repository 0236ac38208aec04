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

/** The uid of the ServiceAccount of this pod, which its token names; undefined when there is none, or when it does not. */
export async function serviceAccountUid(mountPrefix = ''): Promise<string | undefined> {
  try {
    const token = await readFile(`${mountPrefix}${MOUNT}/token`, 'utf8');
    const claims = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as Claims;
    return claims['kubernetes.io']?.serviceaccount?.uid;
  } catch {
    return undefined;
  }
}

/** Of a token of the API server (Kubernetes docs, "Managing Service Accounts", Bound service account tokens). */
interface Claims {
  readonly 'kubernetes.io'?: { readonly serviceaccount?: { readonly uid?: string } };
}

/** Reads token and authority again each time: the kubelet renews the token, and both are small. */
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
