/** When certificates are valid. Times are milliseconds since the epoch. */
import type { X509Certificate } from 'node:crypto';

/** Why a certificate is not valid now; undefined when it is. */
export function notValid(
  certificate: X509Certificate,
  now: number,
): { readonly kind: 'Expired' | 'NotYetValid'; readonly detail: string } | undefined {
  const { validFromDate, validToDate } = certificate;
  if (validToDate.getTime() <= now) return { kind: 'Expired', detail: `it expired on ${iso(validToDate)}` };
  if (validFromDate.getTime() <= now) return undefined;
  return { kind: 'NotYetValid', detail: `it is valid from ${iso(validFromDate)} on only` };
}

/** Those that are valid; all when none is, which is reported elsewhere. */
export function validAt(certificates: readonly X509Certificate[], now: number): readonly X509Certificate[] {
  const valid = certificates.filter(each => notValid(each, now) === undefined);
  return valid.length === 0 ? certificates : valid;
}

/** RFC 3339 with seconds: X.509 has no milliseconds. */
export function iso(date: Date): string {
  return date.toISOString().replace(/\.\d+Z$/, 'Z');
}
