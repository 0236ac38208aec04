/** Certificates in a member's pod: where they are mounted, and the flags that name them. Pure. */
import { type CertificateSource, type Security, secretKeys } from '../api/derived/tls.ts';
import { isAtLeast } from '../api/versions/compare.ts';

/** Below it each certificate has a folder of its own, with the same three file names whatever the keys of its Secret. */
const FOLDER = '/etc/etcd/tls';
const FILES = { cert: 'tls.crt', key: 'tls.key', ca: 'ca.crt' } as const;

type Flag = readonly [name: string, value: string];

/** Whether a member that advertises this URL serves TLS there. */
export function isSecure(url: string): boolean {
  return url.startsWith('https://');
}

/** For the client port: clients must show a certificate too. */
export function serverTlsFlags(): readonly Flag[] {
  return [
    ['cert-file', `${FOLDER}/server/${FILES.cert}`],
    ['key-file', `${FOLDER}/server/${FILES.key}`],
    ['client-cert-auth', 'true'],
    ['trusted-ca-file', `${FOLDER}/server/${FILES.ca}`],
  ];
}

/**
 * For the peer port. etcd also looks up in DNS whether a peer's address belongs to a name of its certificate; with `anyName` it
 * does not, which is safe where the peer authority signs nothing but this cluster's members, and spares a new pod
 * the wait until its name is served everywhere (the flag was experimental before 3.6).
 */
export function peerTlsFlags(version: string, { anyName }: { readonly anyName: boolean }): readonly Flag[] {
  const skip = 'peer-skip-client-san-verification';
  return [
    ['peer-cert-file', `${FOLDER}/peer/${FILES.cert}`],
    ['peer-key-file', `${FOLDER}/peer/${FILES.key}`],
    ['peer-client-cert-auth', 'true'],
    ['peer-trusted-ca-file', `${FOLDER}/peer/${FILES.ca}`],
    ...(anyName ? [[isAtLeast(version, '3.6.0') ? skip : `experimental-${skip}`, 'true'] as const] : []),
  ];
}

/** Mounts are whole folders, never a subPath: only so does the kubelet bring changed certificates into a running pod. */
export function tlsMounts(security: Security | undefined): readonly Readonly<Record<string, unknown>>[] {
  return mounted(security).map(({ role }) => ({
    name: `tls-${role}`,
    mountPath: `${FOLDER}/${role}`,
    readOnly: true,
  }));
}

/**
 * Only the three keys are mounted, under fixed names. Readable for all, since a securityContext of the user's may
 * run etcd as anybody, and there is one container.
 */
export function tlsVolumes(security: Security | undefined): readonly Readonly<Record<string, unknown>>[] {
  return mounted(security).map(({ role, secret, keys }) => {
    const named = secretKeys(role, keys);
    const items = (['cert', 'key', 'ca'] as const).map(part => ({ key: named[part], path: FILES[part] }));
    return { name: `tls-${role}`, secret: { secretName: secret, defaultMode: 0o444, items } };
  });
}

/** The operator's own certificate is in no pod. */
function mounted(security: Security | undefined): readonly CertificateSource[] {
  return (security?.certificates ?? []).filter(({ role }) => role !== 'operator');
}
