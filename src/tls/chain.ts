/** Which authorities does a certificate lead to, as Go's verifier sees it? etcd is written in Go. */
import type { X509Certificate } from 'node:crypto';
import { isVersion1, pathLengthOf } from './der.ts';
import { dnsNamesOf, maySignFor } from './dns-names.ts';
import { allowsUsages, type Usage, weakKey, weakSignature } from './go-rules.ts';

/**
 * Signatures that are checked at most, as in Go's verifier ("signature check attempts limit" in crypto/x509): certificates that have
 * all signed each other would keep the process busy for years.
 */
const MOST_CHECKS = 100;

/**
 * Those of `authorities` that the first of `chain` is signed by, directly or through the others of `chain`, as Go's verifier looks at it
 * (Certificate.isValid and CheckSignatureFrom in crypto/x509): path lengths, extended key usages of authorities, DNS names that
 * they may sign for, keys and signatures. Validity in time is not looked at.
 */
export function authoritiesOf(
  chain: readonly X509Certificate[],
  authorities: readonly X509Certificate[],
  usages: readonly Usage[] = [],
): readonly X509Certificate[] {
  const [leaf, ...intermediates] = chain;
  if (leaf === undefined) return [];
  const issued = limitedChecks(usages, dnsNamesOf(leaf));
  const reached = [{ certificate: leaf, below: 0 }];
  const found = new Set<X509Certificate>();
  // It grows while it is walked: each certificate is looked at once, on the shortest way to it.
  for (const { certificate, below } of reached) {
    for (const authority of authorities) {
      if (found.has(authority)) continue;
      const isItself = authority.raw.equals(certificate.raw);
      if (isItself || ((authority.ca || isVersion1(authority)) && issued(authority, certificate, below)))
        found.add(authority);
    }
    const issuers = intermediates.filter(
      candidate =>
        candidate.ca &&
        !reached.some(known => known.certificate === candidate) &&
        issued(candidate, certificate, below),
    );
    reached.push(...issuers.map(issuer => ({ certificate: issuer, below: below + 1 })));
  }
  return [...found];
}

/** `below`: how many intermediates there are between the issuer and the leaf. */
type Issued = (issuer: X509Certificate, certificate: X509Certificate, below: number) => boolean;

function limitedChecks(usages: readonly Usage[], names: readonly string[]): Issued {
  let left = MOST_CHECKS;
  // Of one issuer all but the signature is the same for whatever it has signed.
  const known = new Map<X509Certificate, number>();
  const mostBelow = (issuer: X509Certificate): number => {
    const found = known.get(issuer) ?? mostIntermediates(issuer, { usages, names });
    known.set(issuer, found);
    return found;
  };
  return (issuer, certificate, below) => {
    try {
      if (left === 0 || !certificate.checkIssued(issuer) || below > mostBelow(issuer)) return false;
      if (weakSignature(certificate) !== undefined) return false;
      left -= 1;
      return certificate.verify(issuer.publicKey);
    } catch {
      return false;
    }
  };
}

/** How many intermediates may stand below an authority; -1 for one that may not sign for this leaf at all. */
function mostIntermediates(
  issuer: X509Certificate,
  { usages, names }: { readonly usages: readonly Usage[]; readonly names: readonly string[] },
): number {
  const may = allowsUsages(issuer, usages) && weakKey(issuer) === undefined && maySignFor(issuer, names);
  return may ? (pathLengthOf(issuer) ?? Number.POSITIVE_INFINITY) : -1;
}
