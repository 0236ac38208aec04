/**
 * What Go's crypto/x509 and crypto/tls refuse and OpenSSL may take: etcd would read such a certificate, and talk to nobody who has it.
 * Answers say what it is and what to do, and quote nothing.
 */
import type { X509Certificate } from 'node:crypto';

export type Usage = 'server' | 'client';

const USAGES: Readonly<Record<Usage, string>> = {
  server: '1.3.6.1.5.5.7.3.1',
  client: '1.3.6.1.5.5.7.3.2',
};
const ANY_USAGE = '2.5.29.37.0';

/** Usages that its extended key usage does not allow; a certificate that names none is good for all. */
export function usagesLacking(certificate: X509Certificate, usages: readonly Usage[]): readonly Usage[] {
  const allowed = certificate.keyUsage as readonly string[] | undefined;
  if (allowed === undefined || allowed.length === 0 || allowed.includes(ANY_USAGE)) return [];
  return usages.filter(wanted => !allowed.includes(USAGES[wanted]));
}

/** In Go the extended key usages of an authority hold for what it has signed ("nested" in VerifyOptions.KeyUsages). */
export function allowsUsages(authority: X509Certificate, usages: readonly Usage[]): boolean {
  return usagesLacking(authority, usages).length === 0;
}

/** SHA-256, SHA-384 and SHA-512 with RSA, RSA-PSS or ECDSA, and Ed25519. */
const SIGNATURES = [
  ...[10, 11, 12, 13].map(last => `1.2.840.113549.1.1.${last}`),
  ...[2, 3, 4].map(last => `1.2.840.10045.4.3.${last}`),
  '1.3.101.112',
];

/** Go checks no other signatures, SHA-1 no more since 1.18 (release notes, "crypto/x509"). Undefined: it is checked. */
export function weakSignature({
  signatureAlgorithm,
  signatureAlgorithmOid,
}: X509Certificate): string | undefined {
  if (SIGNATURES.includes(signatureAlgorithmOid)) return undefined;
  return `it is signed with ${signatureAlgorithm ?? signatureAlgorithmOid}, which etcd does not accept: have it signed with SHA-256`;
}

const CURVES = ['secp224r1', 'prime256v1', 'secp384r1', 'secp521r1'];
const INSTEAD = 'which etcd does not accept: use ECDSA with P-256 or RSA with 2048 bits';

/** Go does not parse it at all ("unsupported elliptic curve", and negative serial numbers since 1.23); undefined: it does. */
export function unreadable({ publicKey, serialNumber }: X509Certificate): string | undefined {
  const { asymmetricKeyType: type, asymmetricKeyDetails: details } = publicKey;
  const curve = details?.namedCurve ?? '(unknown)';
  if (type === 'ec' && !CURVES.includes(curve)) return `its key is on the curve ${curve}, ${INSTEAD}`;
  return serialNumber.startsWith('-')
    ? 'its serial number is negative, which etcd does not accept: issue it again'
    : undefined;
}

/** Since Go 1.24 (release notes, "crypto/rsa"). */
const LEAST_RSA_BITS = 1_024;
/** OpenSSL's security level 2, which is Node's: of members whom the operator connects to. */
export const LEAST_RSA_BITS_OF_OPENSSL = 2_048;

/** Keys that Go does not verify with and does not sign with; undefined for all others. */
export function weakKey(certificate: X509Certificate, leastBits = LEAST_RSA_BITS): string | undefined {
  const { asymmetricKeyType: type = 'unknown', asymmetricKeyDetails: details = {} } = certificate.publicKey;
  const found = unreadable(certificate);
  if (found !== undefined || type === 'ec' || type === 'ed25519') return found;
  if (type !== 'rsa') return `its key is of the type ${type}, ${INSTEAD}`;
  if ((details.modulusLength ?? 0) >= leastBits) return undefined;
  return `its RSA key has ${details.modulusLength} bits, ${leastBits > LEAST_RSA_BITS ? INSTEAD.replace('etcd', 'the operator') : INSTEAD}`;
}
