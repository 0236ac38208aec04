/** Certificates of simulated clusters with TLS.static: made once, good and bad ones, and brought to Secrets by users. */
import { createSecureContext } from 'node:tls';
import { ANNOTATION_AUTHORITIES } from '../../src/api/names.ts';
import type { KubeObject, WritableObject } from '../../src/kube/port.ts';
import { readAuthorities, trustsOneOf } from '../../src/objects/trusted.ts';
import { firstFingerprint } from '../../src/tls/fingerprints.ts';
import { coreosSecrets, DAY_MS, staticTls, TestAuthority } from '../fakes/certificates.ts';
import type { Fault } from './fault.ts';
import { CLUSTER } from './invariants.ts';
import { isEphemeral } from './sim-kubelet.ts';
import { NAMESPACE } from './sim-kube.ts';
import type { SimWorld } from './sim-world.ts';

/** When every world begins. */
export const BEGINNING = Date.parse('2026-11-21T10:00:00Z');
const ROLES = ['peer', 'server', 'operator'] as const;
type Role = (typeof ROLES)[number];
type Secrets = Readonly<Record<Role, KubeObject>>;

/** By what is the matter with them. */
type Material = Readonly<
  Record<'good' | 'renewed' | 'expired' | 'untrusted' | 'ending' | 'early' | 'bundled' | 'moved', Secrets>
>;

let material: Material | undefined;

/** Makes the certificates of all worlds of this process: keys take time, and worlds do not wait. */
export async function prepareTls(): Promise<void> {
  if (material !== undefined) return;
  const [authority, other] = await Promise.all([
    TestAuthority.create('simulated', BEGINNING - 50 * DAY_MS),
    TestAuthority.create('another', BEGINNING - 50 * DAY_MS),
  ]);
  const made = (of: TestAuthority) => coreosSecrets(of, CLUSTER, NAMESPACE);
  const [good, untrusted] = await Promise.all([made(authority), made(other)]);
  material = {
    good,
    renewed: await made(authority),
    untrusted,
    bundled: withBoth(good, [authority, other]),
    moved: withBoth(untrusted, [authority, other]),
    expired: await made(authority.at(BEGINNING - 120 * DAY_MS)),
    early: await made(authority.at(BEGINNING + 20 * DAY_MS)),
    ending: await made(authority.at(BEGINNING - 85 * DAY_MS)),
  };
}

/** The same certificates, beside both authorities. */
function withBoth(secrets: Secrets, authorities: readonly TestAuthority[]): Secrets {
  const bundle = Buffer.from(authorities.map(({ pair }) => pair.cert).join('\n')).toString('base64');
  const changed = (object: KubeObject): KubeObject => {
    const data = object['data'] as Readonly<Record<string, string>>;
    const [ca = ''] = Object.keys(data).filter(key => key.endsWith('ca.crt'));
    return { ...object, data: { ...data, [ca]: bundle } };
  };
  const { peer, server, operator } = secrets;
  return { peer: changed(peer), server: changed(server), operator: changed(operator) };
}

/** spec.TLS of a cluster with the certificates of {@link putCertificates}. */
export const STATIC_TLS = staticTls(CLUSTER);

/** Puts good Secrets where they are to be, whatever is there. */
export function putCertificates(world: SimWorld, which: keyof Material = 'good'): void {
  for (const role of ROLES) put(world, of(which)[role]);
}

/**
 * A user who puts the former authority back also restarts the members that were started while another one was there, as
 * `AuthorityExchanged` says: they trust that one until they are restarted.
 */
export function restartMembersThatTrustAnother({ kube }: SimWorld): void {
  const { data } = of('good').peer as KubeObject & { readonly data: Readonly<Record<string, string>> };
  const good = firstFingerprint(Buffer.from(data['peer-ca.crt'] ?? '', 'base64').toString());
  if (good === undefined) throw new RangeError('the authority cannot be read');
  for (const { metadata } of kube.all('Pod')) {
    const trusted = readAuthorities(metadata.annotations?.[ANNOTATION_AUTHORITIES]) ?? {};
    if (Object.values(trusted).some(each => !trustsOneOf(each, [good]))) kube.delete('Pod', metadata.name);
  }
}

function of(which: keyof Material): Secrets {
  if (material === undefined) throw new RangeError('prepareTls was not awaited');
  return material[which];
}

function put({ kube }: SimWorld, object: KubeObject): void {
  const found = kube.peek('Secret', object.metadata.name);
  if (found === undefined) kube.create(object as WritableObject);
  else kube.change(found, { data: object['data'] });
}

const pairs = new Map<string, boolean>();

/** Whether OpenSSL takes the two for a pair; remembered, for it takes its time. */
export function belongTogether({ cert, key }: { readonly cert: string; readonly key: string }): boolean {
  const pair = `${cert}${key}`;
  let isPair = pairs.get(pair);
  if (isPair === undefined) {
    try {
      createSecureContext({ cert, key });
      isPair = true;
    } catch {
      isPair = false;
    }
    pairs.set(pair, isPair);
  }
  return isPair;
}

const KINDS = [
  'gone',
  'lacking',
  'malformed',
  'mismatched',
  'swapped',
  'renewed',
  'expired',
  'untrusted',
  'ending',
  'early',
] as const;

/** Something befalls the Secret of one role, or all three. */
const certificateBroken: Fault = (world, random) => {
  if (world.tls === undefined) return undefined;
  // What was put back then needs members to be restarted, and what is in their pods would go with it.
  const keepsData = !world.kube.all('Pod').some(isEphemeral);
  const kind = random.pick(KINDS.filter(each => keepsData || each !== 'untrusted')) ?? 'gone';
  const role = random.pick(ROLES) ?? 'peer';
  breakCertificate(world, role, kind);
  return `${role} ${kind}`;
};

/** What is the matter with a Secret from now on. */
export function breakCertificate(world: SimWorld, role: Role, kind: (typeof KINDS)[number]): void {
  const good = of('good')[role];
  const { name } = good.metadata;
  const [cert = '', key = '', ca = ''] = Object.keys(good['data'] as object);
  const data = good['data'] as Readonly<Record<string, string>>;
  const renewed = of('renewed')[role]['data'] as Readonly<Record<string, string>>;
  const nothing = Buffer.from('no certificate').toString('base64');
  const others = of('good')[role === 'operator' ? 'server' : 'operator']['data'] as Readonly<
    Record<string, string>
  >;
  const [theirCert = '', theirKey = ''] = Object.values(others);
  switch (kind) {
    case 'gone':
      return world.kube.delete('Secret', name);
    case 'lacking':
      return put(world, { ...good, data: { [cert]: data[cert], [key]: data[key] } });
    case 'malformed':
      return put(world, { ...good, data: { ...data, [ca]: nothing } });
    case 'mismatched':
      return put(world, { ...good, data: { ...data, [key]: renewed[key] } });
    case 'swapped':
      return put(world, { ...good, data: { ...data, [cert]: theirCert, [key]: theirKey } });
    default:
      return put(world, of(kind)[role]);
  }
}

export const faultsOfTls = { certificateBroken } satisfies Record<string, Fault>;
