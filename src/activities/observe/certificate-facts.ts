/** TLS Secrets → the facts that the planner knows: names, dates and faults. Pure translation. */
import { withDefaults } from '../../api/defaults/etcd-cluster.ts';
import { domainOf } from '../../api/derived/domain.ts';
import { memberName, nextSerial } from '../../api/names.ts';
import {
  bearerNames,
  type ClusterNames,
  clientServiceNames,
  memberNameInCertificate,
  secretKeys,
  type TlsRole,
} from '../../api/derived/tls.ts';
import type { EtcdCluster } from '../../api/schemas/types.ts';
import type { CertificateFacts } from '../../planner/model/tls-facts.ts';
import { fingerprintsOf, signersOf } from '../../tls/fingerprints.ts';
import type { Usage } from '../../tls/go-rules.ts';
import { type Demands, type Fault, inspect, trusts } from '../../tls/inspect.ts';
import type { TlsSecret } from './certificate-secrets.ts';
import { whyUnusable } from './usable-certificate.ts';

const DAY_MS = 24 * 3600 * 1000;
/** A certificate with less than this left, and less than a fifth of its life, is near its end. */
const SOON_MS = 30 * DAY_MS;
const SOON_FRACTION = 0.2;

/** One entry for each Secret, in their order. `now` is in milliseconds since the epoch. */
export function certificateFacts(
  cluster: EtcdCluster,
  secrets: readonly TlsSecret[],
  now: number,
): readonly CertificateFacts[] {
  return secrets.map(secret => {
    const { source, exists, owned, missing, material } = secret;
    const known = { ...source, exists, owned, missing };
    if (material === undefined) return { ...known, faults: [], notAfter: undefined, expiresSoon: false };
    const inspected = inspect(material, demandsOn(cluster, secret, now));
    const distrust = distrusted(secret, secrets, now);
    const refusal = refused(secret, inspected.faults);
    const named = secretKeys(source.role, source.keys);
    const { notAfter } = inspected;
    return {
      ...known,
      faults: [...inspected.faults, ...refusal, ...(distrust === undefined ? [] : [distrust])].map(
        ({ part, kind, detail }) => ({ key: named[part], kind, detail }),
      ),
      authorities: fingerprintsOf(material.ca),
      signers: verifiedWith(secret, secrets, now),
      dnsNames: inspected.dnsNames,
      notAfter,
      expiresSoon:
        notAfter !== undefined &&
        inspected.fractionLeft < SOON_FRACTION &&
        Date.parse(notAfter) - now < SOON_MS,
    };
  });
}

/** What is asked of a certificate of this role. */
function demandsOn(cluster: EtcdCluster, { source }: TlsSecret, now: number): Demands {
  const { name, namespace } = cluster.metadata;
  const names: ClusterNames = { name, namespace, domain: domainOf(cluster) };
  const hosts = membersOf(cluster).map(member => memberNameInCertificate(names, member));
  switch (source.role) {
    case 'peer':
      return {
        now,
        usages: ['server', 'client'],
        hosts,
        // Members of a cluster with TLS.auto do not look each other up (objects/tls.ts says why).
        ...(cluster.spec.TLS?.auto === undefined && { bearerNames: bearerNames(names) }),
      };
    case 'server':
      return {
        now,
        usages: ['server'],
        hosts: [...hosts, ...clientServiceNames(names).slice(0, 1)],
        verifiedByOperator: 'cert',
      };
    case 'operator':
      return { now, usages: ['client'], hosts: [], verifiedByOperator: 'ca' };
  }
}

/** The members that are, with the next one while the cluster is to grow, or those that a new cluster begins with. */
function membersOf(cluster: EtcdCluster): readonly string[] {
  const names = cluster.status?.members?.details?.map(({ name }) => name) ?? [];
  if (cluster.status?.clusterID !== undefined && names.length > 0) {
    if (withDefaults(cluster.spec).size <= names.length) return names;
    const next = nextSerial(cluster.status.lastSerial ?? -1, names);
    return [...names, memberName(cluster.metadata.name, next)];
  }
  const initial = cluster.status?.incarnation?.members ?? [];
  if (initial.length > 0) return initial.map(({ name }) => name);
  const { size } = withDefaults(cluster.spec);
  return Array.from({ length: size }, (_, serial) => memberName(cluster.metadata.name, serial));
}

/** What only OpenSSL has against the certificate that the operator shows: reported where nothing else says why it cannot be used. */
function refused({ source, material }: TlsSecret, known: readonly Fault[]): Fault[] {
  if (source.role !== 'operator' || material === undefined) return [];
  if (known.some(({ kind }) => kind === 'Malformed' || kind === 'KeyMismatch')) return [];
  const fault = whyUnusable(material);
  return fault === undefined ? [] : [{ ...fault, kind: 'Malformed' }];
}

/** Who has to trust the certificate of this role: the authorities of the Secret of that role. */
const TRUSTED_BY: Readonly<Record<TlsRole, TlsRole>> = {
  peer: 'peer',
  server: 'operator',
  operator: 'server',
};

const SHOWN_AS: Readonly<Record<TlsRole, readonly Usage[]>> = {
  peer: ['server', 'client'],
  server: ['server'],
  operator: ['client'],
};

function verifierOf(role: TlsRole, secrets: readonly TlsSecret[]): TlsSecret | undefined {
  return secrets.find(({ source }) => source.role === TRUSTED_BY[role]);
}

/** What members verify: the operator looks at the members' certificate with what its Secret holds now. */
function verifiedWith(
  { source, material }: TlsSecret,
  secrets: readonly TlsSecret[],
  now: number,
): readonly string[] | undefined {
  const verifier = verifierOf(source.role, secrets);
  if (source.role === 'server' || material === undefined || verifier?.material === undefined)
    return undefined;
  return signersOf(verifier.material.ca, material.cert, { now, usages: SHOWN_AS[source.role] });
}

function distrusted(
  { source, material }: TlsSecret,
  secrets: readonly TlsSecret[],
  now: number,
): Fault | undefined {
  const other = verifierOf(source.role, secrets);
  if (material === undefined || other?.material === undefined) return undefined;
  if (trusts(other.material.ca, material.cert, { now, usages: SHOWN_AS[source.role] })) return undefined;
  const { ca } = secretKeys(other.source.role, other.source.keys);
  const where = other.source.secret === source.secret ? ca : `${ca} of Secret ${other.source.secret}`;
  return {
    part: 'cert',
    kind: 'NotTrusted',
    detail: `no currently valid authority in ${where} has signed it`,
  };
}
