/** What a certificate, its key and the authority beside it are worth. Answers names and dates, never contents. */
import type { KeyObject, X509Certificate } from 'node:crypto';
import { authoritiesOf } from './chain.ts';
import { dnsNamesOf } from './dns-names.ts';
import {
  LEAST_RSA_BITS_OF_OPENSSL,
  type Usage,
  unreadable,
  usagesLacking,
  weakKey,
  weakSignature,
} from './go-rules.ts';
import { holdsOtherBlocks, parseCertificates, parseKey } from './pem.ts';
import { iso, notValid, validAt } from './validity.ts';

/** Certificate, private key and authorities as PEM text. */
export interface Material {
  readonly cert: string;
  readonly key: string;
  readonly ca: string;
}

export type Part = keyof Material;

/** What the certificate must be good for. */
export interface Demands {
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly usages: readonly Usage[];
  /** Host names that those who connect verify. */
  readonly hosts: readonly string[];
  /** Names of which a certificate must have one, or else all hosts, exactly so, for those who look its bearer up in DNS. */
  readonly bearerNames?: readonly string[] | undefined;
  /** What the operator verifies, with OpenSSL: the certificate, or who has signed it. */
  readonly verifiedByOperator?: 'cert' | 'ca' | undefined;
}

export interface Fault {
  readonly part: Part;
  readonly kind:
    | 'Malformed'
    | 'KeyMismatch'
    | 'NotTrusted'
    | 'Expired'
    | 'NotYetValid'
    | 'WrongNames'
    | 'WrongUsage'
    | 'Unsupported';
  readonly detail: string;
}

export interface Inspection {
  readonly faults: readonly Fault[];
  /** When the certificate ends, RFC 3339; undefined when it cannot be read. */
  readonly notAfter: string | undefined;
  /** Of the time between its issue and its end, how much is left of the leaf: 1 new, 0 or less expired. */
  readonly fractionLeft: number;
  /** The DNS names that it is valid for; none when it cannot be read. */
  readonly dnsNames: readonly string[];
}

/** A parsed pair; parts that cannot be parsed are undefined, and reported as faults. */
interface Parsed {
  readonly certs: readonly X509Certificate[] | undefined;
  readonly key: KeyObject | undefined;
  readonly cas: readonly X509Certificate[] | undefined;
  readonly faults: readonly Fault[];
}

/** Looks at one Secret's worth of material by itself. Never throws. */
export function inspect(material: Material, demands: Demands): Inspection {
  const { certs, key, cas, faults } = parse(material, demands);
  const [leaf] = certs ?? [];
  if (certs === undefined || leaf === undefined)
    return { faults, notAfter: undefined, fractionLeft: 0, dnsNames: [] };
  const found: readonly (Fault | undefined)[] = [
    ...faults,
    key === undefined || leaf.checkPrivateKey(key)
      ? undefined
      : fault('key', 'KeyMismatch', 'the private key does not match the certificate'),
    validity('cert', leaf, demands.now),
    authorityFault(cas ?? [], demands.now),
    unsupported(certs, cas ?? [], demands.verifiedByOperator),
    names(leaf, demands),
    usage(leaf, demands),
  ];
  return {
    faults: found.filter(entry => entry !== undefined),
    notAfter: iso(leaf.validToDate),
    fractionLeft: fractionLeft(leaf, demands.now),
    dnsNames: dnsNamesOf(leaf),
  };
}

/**
 * Whether who presents `cert` is trusted by who trusts `ca`; with `now`, in milliseconds since the epoch, by authorities that are
 * valid then, if any is. True when either cannot be parsed, and of authorities that have all ended: that is reported elsewhere.
 */
export function trusts(
  ca: string,
  cert: string,
  { now, usages = [] }: { readonly now?: number; readonly usages?: readonly Usage[] } = {},
): boolean {
  try {
    const all = parseCertificates(ca);
    const authorities = now === undefined ? all : validAt(all, now);
    return authoritiesOf(parseCertificates(cert), authorities, usages).length > 0;
  } catch {
    return true;
  }
}

function parse(material: Material, { verifiedByOperator }: Demands): Parsed {
  const faults: Fault[] = [];
  const attempt = <T>(part: Part, read: (text: string) => T): T | undefined => {
    try {
      return read(material[part]);
    } catch (error) {
      faults.push(fault(part, 'Malformed', error instanceof Error ? error.message : 'it cannot be read'));
      return undefined;
    }
  };
  const certs = attempt('cert', parseCertificates);
  const key = attempt('key', parseKey);
  const cas = attempt('ca', text => {
    const authorities = parseCertificates(text);
    // What the operator verifies with is read by no etcd.
    if (verifiedByOperator === 'ca' || !holdsOtherBlocks(text)) return authorities;
    throw new Error(
      'it contains PEM blocks that are not certificates, with which etcd does not start: remove them',
    );
  });
  return { certs, key, cas, faults };
}

/** Authorities that have ended may stay beside those that took their place. */
function authorityFault(authorities: readonly X509Certificate[], now: number): Fault | undefined {
  const faults = authorities.map(authority => validity('ca', authority, now));
  return faults.includes(undefined) ? undefined : faults[0];
}

function validity(part: Part, certificate: X509Certificate, now: number): Fault | undefined {
  const found = notValid(certificate, now);
  return found && { part, ...found };
}

/** etcd does not start with a bundle in which one certificate cannot be read (NewCertPool in etcd's client/pkg/tlsutil). */
function unsupported(
  [leaf]: readonly X509Certificate[],
  authorities: readonly X509Certificate[],
  verified: Demands['verifiedByOperator'],
): Fault | undefined {
  const forOperator = (certificate: X509Certificate) => weakKey(certificate, LEAST_RSA_BITS_OF_OPENSSL);
  const own = leaf && ((verified === 'cert' ? forOperator(leaf) : weakKey(leaf)) ?? weakSignature(leaf));
  if (own !== undefined) return fault('cert', 'Unsupported', own);
  const said = authorities.flatMap((authority, index) => {
    const why = unreadable(authority);
    return why === undefined ? [] : [`its certificate ${index + 1}: ${why}`];
  });
  if (said[0] !== undefined) return fault('ca', 'Unsupported', said[0]);
  const weak = verified === 'ca' ? authorities.map(forOperator) : [];
  return weak[0] === undefined || weak.includes(undefined) ? undefined : fault('ca', 'Unsupported', weak[0]);
}

function names(leaf: X509Certificate, { hosts, bearerNames }: Demands): Fault | undefined {
  // To Go a wildcard is a whole label.
  const how = { subject: 'never', partialWildcards: false } as const;
  const missing = hosts.filter(host => leaf.checkHost(host, how) === undefined);
  if (missing.length > 0) {
    return fault('cert', 'WrongNames', `it is not valid for ${missing.join(', ')}`);
  }
  if (bearerNames === undefined) return undefined;
  const own = dnsNamesOf(leaf);
  if (bearerNames.some(name => own.includes(name)) || hosts.every(host => own.includes(host)))
    return undefined;
  const wanted = `it needs one of the names ${bearerNames.join(', ')}, or each of ${hosts.join(', ')}, by which members look up who connects to them`;
  return fault('cert', 'WrongNames', wanted);
}

/** A certificate that names no extended usage is good for all. */
function usage(leaf: X509Certificate, { usages }: Demands): Fault | undefined {
  const missing = usagesLacking(leaf, usages);
  if (missing.length === 0) return undefined;
  const needed = missing.map(wanted => `${wanted} auth`).join(' and ');
  return fault('cert', 'WrongUsage', `its extended key usage lacks ${needed}`);
}

function fractionLeft(leaf: X509Certificate, now: number): number {
  const from = leaf.validFromDate.getTime();
  const to = leaf.validToDate.getTime();
  return (to - now) / Math.max(1, to - from);
}

function fault(part: Part, kind: Fault['kind'], detail: string): Fault {
  return { part, kind, detail };
}
