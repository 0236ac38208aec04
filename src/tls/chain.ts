/** Does a certificate lead to an authority that is trusted? */
import type { X509Certificate } from 'node:crypto';

/**
 * Signatures that are checked at most, as in Go's verifier ("signature check attempts limit" in crypto/x509): certificates that have
 * all signed each other would keep the process busy for years.
 */
const MOST_CHECKS = 100;

/**
 * Whether the first of `chain` is signed by one of `authorities`, directly or through the others of `chain`, as Go's verifier looks
 * at it. Validity in time is not looked at.
 */
export function leadsTo(chain: readonly X509Certificate[], authorities: readonly X509Certificate[]): boolean {
  const [leaf, ...intermediates] = chain;
  if (leaf === undefined) return false;
  const issued = limitedChecks();
  const reached = [leaf];
  // It grows while it is walked: each certificate is looked at once.
  for (const certificate of reached) {
    if (authorities.some(authority => authority.raw.equals(certificate.raw))) return true;
    if (authorities.some(authority => issued(authority, certificate))) return true;
    const issuers = intermediates.filter(
      candidate => !reached.includes(candidate) && issued(candidate, certificate),
    );
    reached.push(...issuers);
  }
  return false;
}

function limitedChecks(): (issuer: X509Certificate, certificate: X509Certificate) => boolean {
  let left = MOST_CHECKS;
  return (issuer, certificate) => {
    try {
      if (!issuer.ca || !certificate.checkIssued(issuer) || left === 0) return false;
      left -= 1;
      return certificate.verify(issuer.publicKey);
    } catch {
      return false;
    }
  };
}
