/** The certificates of a cluster whose operator has them made, by itself or by cert-manager: what each of them says. Pure. */
import { domainOf } from '../api/derived/domain.ts';
import {
  applicationSecret,
  type ClusterNames,
  clientServiceNames,
  memberWildcards,
  peerServiceNames,
  securityOf,
} from '../api/derived/tls.ts';
import type { EtcdCluster } from '../api/schemas/types.ts';

/** The authorities of TLS.auto. Elsewhere one issuer signs all. */
export type Authority = 'peer' | 'client';

/** One certificate: the Secret it goes to, who signs it with TLS.auto, and what it says. */
export interface Leaf {
  readonly secret: string;
  readonly authority: Authority;
  readonly request: {
    readonly commonName: string;
    readonly usages: readonly ('server' | 'client')[];
    readonly dnsNames: readonly string[];
    readonly addresses: readonly string[];
  };
}

const BOTH = ['server', 'client'] as const;

/** Every certificate of the cluster, one for all members: its names do not change when members come and go. */
export function leafCertificatesOf(cluster: EtcdCluster): readonly Leaf[] {
  const { name, namespace } = cluster.metadata;
  const names: ClusterNames = { name, namespace, domain: domainOf(cluster) };
  const secretOf = (role: string): string =>
    securityOf(cluster)?.certificates.find(entry => entry.role === role)?.secret ?? '';
  const members = [...memberWildcards(names), ...peerServiceNames(names)];
  const none = { dnsNames: [], addresses: [] };
  return [
    {
      secret: secretOf('peer'),
      authority: 'peer',
      request: { commonName: `${name} peer`, usages: BOTH, dnsNames: members, addresses: [] },
    },
    {
      secret: secretOf('server'),
      authority: 'client',
      request: {
        commonName: `${name} server`,
        // etcd's gateway connects to itself with this certificate.
        usages: BOTH,
        dnsNames: [...members, ...clientServiceNames(names), 'localhost'],
        addresses: ['127.0.0.1', '::1'],
      },
    },
    // The name of etcd's superuser: with authentication on, it is what the operator has to be.
    {
      secret: secretOf('operator'),
      authority: 'client',
      request: { commonName: 'root', usages: ['client'], ...none },
    },
    {
      secret: applicationSecret(name),
      authority: 'client',
      request: { commonName: 'client', usages: ['client'], ...none },
    },
  ];
}
