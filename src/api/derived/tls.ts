/** How a cluster's traffic is secured: which Secrets hold which certificate, under which keys. Pure. */
import { withDefaults } from '../defaults/etcd-cluster.ts';
import { ANNOTATION_SECURITY, memberHost, peerServiceName, clientServiceName } from '../names.ts';
import type { EtcdCluster, EtcdClusterStatus, TlsPolicy } from '../schemas/types.ts';

type TlsMode = 'static' | 'auto' | 'certManager';

/** What a certificate is for: between members, towards clients, and the operator itself as a client. */
export type TlsRole = 'peer' | 'server' | 'operator';

/** How the keys of a Secret are called: as the CoreOS operator had them, or as cert-manager writes them. */
export type KeyStyle = 'CoreOS' | 'Standard';

export type SecretKeys = { readonly cert: string; readonly key: string; readonly ca: string };

const STANDARD: SecretKeys = { cert: 'tls.crt', key: 'tls.key', ca: 'ca.crt' };

const COREOS: Readonly<Record<TlsRole, SecretKeys>> = {
  peer: { cert: 'peer.crt', key: 'peer.key', ca: 'peer-ca.crt' },
  server: { cert: 'server.crt', key: 'server.key', ca: 'server-ca.crt' },
  operator: { cert: 'etcd-client.crt', key: 'etcd-client.key', ca: 'etcd-client-ca.crt' },
};

/** The keys of a Secret of that role. */
export function secretKeys(role: TlsRole, style: KeyStyle): SecretKeys {
  return style === 'CoreOS' ? COREOS[role] : STANDARD;
}

/** A Secret with one certificate in it. */
export type CertificateSource = {
  readonly role: TlsRole;
  readonly secret: string;
  readonly keys: KeyStyle;
};

/** How traffic is secured. A cluster in plain text has none of it. */
export type Security = {
  readonly mode: TlsMode;
  /** Members talk TLS to each other. */
  readonly peer: boolean;
  /** Clients talk TLS to members. */
  readonly client: boolean;
  readonly certificates: readonly CertificateSource[];
};

type Secured = {
  readonly metadata: Pick<EtcdCluster['metadata'], 'name' | 'annotations'> & { readonly uid?: string };
  readonly spec: Pick<EtcdCluster['spec'], 'TLS'>;
  readonly status?: EtcdClusterStatus | undefined;
};

/**
 * What the specification asks for; undefined: plain text. Which keys a Secret of the user's has is as status says it was
 * seen; before that the CoreOS operator's are assumed.
 */
export function securityOf(cluster: Secured): Security | undefined {
  const { TLS } = withDefaults(cluster.spec.TLS === undefined ? {} : { TLS: cluster.spec.TLS });
  if (TLS === undefined) return undefined;
  const names = TLS.static === undefined ? ownSecrets(cluster.metadata.name) : secretsOf(TLS);
  const mode = TLS.static !== undefined ? 'static' : TLS.auto !== undefined ? 'auto' : 'certManager';
  const seen = cluster.status?.tls?.certificates ?? [];
  const certificates = names.map(({ role, secret }): CertificateSource => {
    const known = seen.find(entry => entry.role === role && entry.secret === secret);
    return { role, secret, keys: known?.keys ?? (mode === 'static' ? 'CoreOS' : 'Standard') };
  });
  const has = (role: TlsRole) => certificates.some(certificate => certificate.role === role);
  return { mode, peer: has('peer'), client: has('server'), certificates };
}

type Named = Pick<CertificateSource, 'role' | 'secret'>;

function secretsOf(tls: TlsPolicy): Named[] {
  const { member, operatorSecret } = tls.static ?? {};
  const named = [
    { role: 'peer' as const, secret: member?.peerSecret ?? '' },
    { role: 'server' as const, secret: member?.serverSecret ?? '' },
    { role: 'operator' as const, secret: operatorSecret ?? '' },
  ];
  return named.filter(({ secret }) => secret !== '');
}

/** The Secrets that the operator itself makes for a cluster with TLS.auto. */
function ownSecrets(cluster: string): Named[] {
  return (['peer', 'server', 'operator'] as const).map(role => ({ role, secret: `${cluster}-${role}-tls` }));
}

/** For applications: ca.crt, tls.crt and tls.key of a client of the cluster. */
export function applicationSecret(cluster: string): string {
  return `${cluster}-client-tls`;
}

/** The Secret of an authority of TLS.auto: its certificate and key. Never mounted anywhere. */
export function authoritySecret(cluster: string, authority: 'peer' | 'client'): string {
  return `${cluster}-${authority}-ca`;
}

/**
 * Why the TLS of a living cluster is not what its specification asks for; undefined when it is. Members know each other by URLs
 * that begin with http or https, and cannot be half way between the two.
 */
export function securitySwitch(cluster: Secured): string | undefined {
  const { status } = cluster;
  const recorded = status?.incarnation === undefined ? stampedSecurity(cluster) : describe(status.tls);
  const asked = describe(securityOf(cluster));
  if (recorded === undefined || asked === recorded) return undefined;
  return `spec.TLS asks for ${asked}, but this cluster was made with ${recorded}; it cannot be switched on a living cluster: write the old mode again, or make a new cluster and restore a backup into it`;
}

/**
 * What is stamped on the resource of a living cluster, so that a lost status does not take along how its members talk: its uid,
 * which a copy of the resource does not have, and the way in words.
 */
export function securityStamp({ metadata, status }: Pick<EtcdCluster, 'metadata' | 'status'>): string {
  return `${metadata.uid} ${securityMade(status)}`;
}

/** How the traffic of a cluster is secured, as its status records it, in words. */
export function securityMade(status: EtcdClusterStatus | undefined): string {
  return describe(status?.tls);
}

/** The same as the specification asks for. */
export function securityAsked(cluster: Secured): string {
  return describe(securityOf(cluster));
}

function stampedSecurity({ metadata }: Secured): string | undefined {
  const [uid, ...words] = metadata.annotations?.[ANNOTATION_SECURITY]?.split(' ') ?? [];
  return uid !== undefined && uid === metadata.uid ? words.join(' ') : undefined;
}

function describe(of: Pick<Security, 'mode' | 'peer' | 'client'> | undefined): string {
  if (of === undefined) return 'plain text';
  const where = [...(of.peer ? ['peer'] : []), ...(of.client ? ['client'] : [])];
  return `TLS.${of.mode} (${where.join(' and ')} traffic)`;
}

/** The names of a cluster as certificates have to have them. */
export type ClusterNames = {
  readonly name: string;
  readonly namespace: string;
  /** The cluster domain that member URLs end in; empty: they end in `.svc`. */
  readonly domain: string;
};

/** The host by which members and the operator reach a member. */
export function memberNameInCertificate(cluster: ClusterNames, member: string): string {
  const { name, namespace, domain } = cluster;
  return memberHost({ member, cluster: name, namespace, domain });
}

/** The names of the client Service; the first is the one that a certificate must have. */
export function clientServiceNames({ name, namespace, domain }: ClusterNames): readonly string[] {
  const service = `${clientServiceName(name)}.${namespace}.svc`;
  return [
    service,
    `${service}.${orDefaultDomain(domain)}`,
    `${clientServiceName(name)}.${namespace}`,
    clientServiceName(name),
  ];
}

/** The names of the headless Service, which resolves to the address of every member. */
export function peerServiceNames({ name, namespace, domain }: ClusterNames): readonly string[] {
  const service = `${peerServiceName(name)}.${namespace}.svc`;
  return [service, `${service}.${orDefaultDomain(domain)}`];
}

/** The names of all members, whatever their serials. */
export function memberWildcards(cluster: ClusterNames): readonly string[] {
  return peerServiceNames(cluster).map(name => `*.${name}`);
}

function orDefaultDomain(domain: string): string {
  return domain === '' ? 'cluster.local' : domain;
}

/**
 * etcd accepts a peer whose address one of the names in its certificate resolves to, or whose name by reverse lookup a wildcard covers
 * (checkCertSAN in etcd's client/pkg/transport/listener_tls.go): the headless Service resolves to all members, and reverse lookups
 * end in the cluster domain. A certificate with one of these names is good for every member; with names of members for those alone.
 */
export function bearerNames(names: ClusterNames): readonly string[] {
  const [service = '', full = ''] = peerServiceNames(names);
  return [service, `*.${full}`, full];
}

/** Whether one of a certificate's DNS names is valid for a host, as Go compares them (matchHostnames in crypto/x509): `*` is a whole first label. */
export function coversHost(dnsNames: readonly string[], host: string): boolean {
  const [, ...parents] = host.toLowerCase().split('.');
  const wildcard = ['*', ...parents].join('.');
  return dnsNames.some(name => [host.toLowerCase(), wildcard].includes(name.toLowerCase()));
}
