/**
 * TLS.auto: which certificates an EtcdCluster needs, and which of them are to be made. Two authorities: what may talk as a member
 * is signed by one, what may talk to members by the other, so that no client can pose as a member.
 */
import { authoritySecret } from '../../api/derived/tls.ts';
import type { EtcdCluster } from '../../api/schemas/types.ts';
import type { KubeClient, KubeObject } from '../../kube/port.ts';
import { type Authority, type Leaf, leafCertificatesOf } from '../../objects/leaf-certificates.ts';
import type { CertificateFacts, CertificateToIssue, TlsFacts } from '../../planner/model/tls-facts.ts';
import { firstFingerprint } from '../../tls/fingerprints.ts';
import { inspect, trusts } from '../../tls/inspect.ts';
import { mayHaveNewAuthority } from './authority-anew.ts';
import { isControlledBy } from './object-facts.ts';
import { secretText } from './certificate-secrets.ts';
import { SECRET } from '../runtime/kinds.ts';

/** A certificate is renewed when this much of its life is left, as cert-manager does it. */
const RENEWED_AT = 1 / 3;

export const AUTHORITIES: readonly Authority[] = ['peer', 'client'];

/** An authority that ends takes its cluster's traffic with it, and nothing renews it: users need time. */
const ENDING_MS = 365 * 24 * 3600 * 1000;

/** What is to be issued, and what prevents it. */
export type Issuing = Pick<TlsFacts, 'toIssue' | 'taken' | 'authoritiesLost' | 'authoritiesEnding'>;

/**
 * What is to be made or created again. `known` is what was seen of the certificates that are mounted or used. An authority is only ever made for a
 * cluster that has not formed, or sleeps: members do not read a new one without a restart, and would trust nobody.
 */
export async function issuingFacts(
  kube: KubeClient,
  cluster: EtcdCluster,
  { known, now }: { readonly known: readonly CertificateFacts[]; readonly now: number },
): Promise<Issuing> {
  const { name, uid } = cluster.metadata;
  const authorities = AUTHORITIES.map(authority => authoritySecret(name, authority));
  const leaves = leafCertificatesOf(cluster);
  const secrets = [...authorities, ...leaves.map(({ secret }) => secret)];
  const objects = await readAll(kube, cluster, secrets);
  const taken = secrets
    .filter(secret => {
      const object = objects.get(secret);
      return object !== undefined && !isControlledBy(object, uid);
    })
    .map(secret => `Secret ${secret}`);
  const unusable = authorities.filter(secret => !isAuthority(objects.get(secret), now));
  const due = leaves.flatMap(leaf => {
    const { secret } = leaf;
    const why = whyDue(objects, { leaf, known, cluster, now });
    return why === undefined ? [] : [{ secret, why, authority: signing(leaf.authority, cluster, objects) }];
  });
  if (unusable.length > 0 && !(await mayHaveNewAuthority(kube, cluster)))
    return { toIssue: [], taken, authoritiesLost: unusable };
  const absent = unusable.map(secret => ({ secret, why: 'the authority does not exist yet' }));
  const authoritiesEnding = authorities.flatMap(secret => ending(secret, objects.get(secret), now));
  return { toIssue: [...absent, ...due], taken, authoritiesLost: [], authoritiesEnding };
}

/** What a leaf would be signed with. Members verify clients with the authorities that are mounted beside their server's certificate. */
function signing(
  authority: Authority,
  { metadata }: EtcdCluster,
  objects: ReadonlyMap<string, KubeObject | undefined>,
): NonNullable<CertificateToIssue['authority']> {
  const secret = authoritySecret(metadata.name, authority);
  const fingerprint = firstFingerprint(secretText(objects.get(secret), 'tls.crt') ?? '');
  const fingerprints = fingerprint === undefined ? [] : [fingerprint];
  return { secret, fingerprints, role: authority === 'peer' ? 'peer' : 'server' };
}

function ending(secret: string, object: KubeObject | undefined, now: number) {
  const { notAfter } = inspectAuthority(object, now);
  return notAfter !== undefined && Date.parse(notAfter) - now < ENDING_MS ? [{ secret, notAfter }] : [];
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
  return inspectAuthority(object, now).faults.length === 0;
}

function inspectAuthority(object: KubeObject | undefined, now: number) {
  const cert = secretText(object, 'tls.crt') ?? '';
  const key = secretText(object, 'tls.key') ?? '';
  return inspect({ cert, key, ca: cert }, { now, usages: [], hosts: [] });
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
  if (cert === undefined || key === undefined || ca === undefined) return 'it is incomplete';
  const inspected = inspect({ cert, key, ca }, { now, usages: leaf.request.usages, hosts: [] });
  // Who is not trusted by another Secret is not fixed by another certificate, if it is the other one that is wrong.
  const others = known.find(({ secret }) => secret === leaf.secret)?.faults ?? [];
  const fault = inspected.faults[0] ?? others.find(({ kind }) => kind !== 'NotTrusted');
  if (fault !== undefined) return fault.detail;
  const signer = objects.get(authoritySecret(cluster.metadata.name, leaf.authority));
  const authority = secretText(signer, 'tls.crt');
  if (authority === undefined || !trusts(authority, cert)) return 'its authority has changed';
  if (ca !== authority) return 'its ca.crt is not its authority';
  // A new one would end with the authority as well.
  const endsWithAuthority = inspected.notAfter === inspectAuthority(signer, now).notAfter;
  return inspected.fractionLeft < RENEWED_AT && !endsWithAuthority
    ? `it expires on ${inspected.notAfter}`
    : undefined;
}
