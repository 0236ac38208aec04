/**
 * TLS.auto: which certificates an EtcdCluster needs, and which of them are to be made. Two authorities: what may talk as a member
 * is signed by one, what may talk to members by the other, so that no client can pose as a member.
 */
import { withDefaults } from '../api/defaults.ts';
import {
  applicationSecret,
  authoritySecret,
  type ClusterNames,
  clientServiceNames,
  memberWildcards,
  peerServiceNames,
  securityOf,
} from '../api/tls.ts';
import type { EtcdCluster } from '../api/types.ts';
import type { KubeClient, KubeObject } from '../kube/port.ts';
import type { CertificateFacts, TlsFacts } from '../planner/observation.ts';
import { inspect, trusts } from '../tls/inspect.ts';
import type { LeafRequest } from '../tls/issue.ts';
import { isControlledBy } from './pod-facts.ts';
import { SECRET, secretText } from './tls-secrets.ts';

/** A certificate is renewed when this much of its life is left, as cert-manager does it. */
const RENEWED_AT = 1 / 3;

export type Authority = 'peer' | 'client';
export const AUTHORITIES: readonly Authority[] = ['peer', 'client'];

/** One certificate of TLS.auto: the Secret it goes to, who signs it, and what it says. */
export interface Leaf {
  readonly secret: string;
  readonly authority: Authority;
  readonly request: LeafRequest;
}

/** Every certificate of the cluster, one for all members: its names do not change when members come and go. */
export function leavesOf(cluster: EtcdCluster): readonly Leaf[] {
  const { name, namespace } = cluster.metadata;
  const names: ClusterNames = { name, namespace, domain: withDefaults(cluster.spec).pod.ClusterDomain };
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

const BOTH = ['server', 'client'] as const;

type Issuing = Pick<TlsFacts, 'toIssue' | 'taken' | 'authoritiesLost'>;

/**
 * What is to be made or made anew. `known` is what was seen of the certificates that are mounted or used. An authority is only ever made for a
 * cluster that has not formed: members do not read a new one without a restart, and would trust nobody.
 */
export async function issuingFacts(
  kube: KubeClient,
  cluster: EtcdCluster,
  { known, now }: { readonly known: readonly CertificateFacts[]; readonly now: number },
): Promise<Issuing> {
  const { name, uid } = cluster.metadata;
  const authorities = AUTHORITIES.map(authority => authoritySecret(name, authority));
  const leaves = leavesOf(cluster);
  const secrets = [...authorities, ...leaves.map(({ secret }) => secret)];
  const objects = await readAll(kube, cluster, secrets);
  const taken = secrets.filter(secret => {
    const object = objects.get(secret);
    return object !== undefined && !isControlledBy(object, uid);
  });
  const unusable = authorities.filter(secret => !isAuthority(objects.get(secret), now));
  const formed = cluster.status?.clusterID !== undefined;
  const due = leaves.flatMap(leaf => {
    const { secret } = leaf;
    const why = whyDue(objects, { leaf, known, cluster, now });
    return why === undefined ? [] : [{ secret, why }];
  });
  if (unusable.length > 0 && formed) return { toIssue: [], taken, authoritiesLost: unusable };
  const absent = unusable.map(secret => ({ secret, why: 'the authority does not exist yet' }));
  return { toIssue: [...absent, ...due], taken, authoritiesLost: [] };
}

async function readAll(
  kube: KubeClient,
  { metadata: { namespace } }: EtcdCluster,
  names: readonly string[],
): Promise<ReadonlyMap<string, KubeObject | undefined>> {
  const read = names.map(async name => [name, await kube.get({ ...SECRET, namespace, name })] as const);
  return new Map(await Promise.all(read));
}

function isAuthority(object: KubeObject | undefined, now: number): boolean {
  const cert = secretText(object, 'tls.crt') ?? '';
  const key = secretText(object, 'tls.key') ?? '';
  return inspect({ cert, key, ca: cert }, { now, usages: [], hosts: [] }).faults.length === 0;
}

/** Why a leaf is to be made; undefined when it is good and fresh. */
function whyDue(
  objects: ReadonlyMap<string, KubeObject | undefined>,
  context: {
    readonly leaf: Leaf;
    readonly known: readonly CertificateFacts[];
    readonly cluster: EtcdCluster;
    readonly now: number;
  },
): string | undefined {
  const { leaf, known, cluster, now } = context;
  const object = objects.get(leaf.secret);
  if (object === undefined) return 'it does not exist yet';
  const [cert, key, ca] = ['tls.crt', 'tls.key', 'ca.crt'].map(part => secretText(object, part));
  if (cert === undefined || key === undefined || ca === undefined) return 'it is not whole';
  const inspected = inspect({ cert, key, ca }, { now, usages: leaf.request.usages, hosts: [] });
  const fault = inspected.faults[0] ?? known.find(({ secret }) => secret === leaf.secret)?.faults[0];
  if (fault !== undefined) return fault.detail;
  const authority = secretText(
    objects.get(authoritySecret(cluster.metadata.name, leaf.authority)),
    'tls.crt',
  );
  if (authority === undefined || !trusts(authority, cert)) return 'its authority is another one now';
  return inspected.fractionLeft < RENEWED_AT ? `it expires on ${inspected.notAfter}` : undefined;
}
