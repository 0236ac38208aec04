/** Does a certificate lead to an authority that is trusted? */
import type { X509Certificate } from 'node:crypto';

/** Longer chains than this exist nowhere in practice; a loop of certificates ends here. */
const LONGEST = 8;

/**
 * Whether the first of `chain` is signed by one of `authorities`, directly or through the others of `chain`, as Go's verifier looks
 * at it. Validity in time is not looked at.
 */
export function leadsTo(chain: readonly X509Certificate[], authorities: readonly X509Certificate[]): boolean {
  const [leaf, ...intermediates] = chain;
  return leaf !== undefined && isTrusted(leaf, { intermediates, authorities }, LONGEST);
}

function isTrusted(
  certificate: X509Certificate,
  known: {
    readonly intermediates: readonly X509Certificate[];
    readonly authorities: readonly X509Certificate[];
  },
  left: number,
): boolean {
  if (known.authorities.some(authority => authority.raw.equals(certificate.raw))) return true;
  if (known.authorities.some(authority => issued(authority, certificate))) return true;
  if (left === 0) return false;
  return known.intermediates.some(
    candidate => issued(candidate, certificate) && isTrusted(candidate, known, left - 1),
  );
}

function issued(issuer: X509Certificate, certificate: X509Certificate): boolean {
  try {
    return issuer.ca && certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey);
  } catch {
    return false;
  }
}
