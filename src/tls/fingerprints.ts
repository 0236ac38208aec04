/** What distinguishes authorities, without any of their content. */
import { createHash, type X509Certificate } from 'node:crypto';
import { authoritiesOf } from './chain.ts';
import type { Usage } from './go-rules.ts';
import { parseCertificates } from './pem.ts';
import { validAt } from './validity.ts';

/**
 * One fingerprint for each authority of a bundle, `<who>.<certificate>` (objects/trusted.ts), sorted; undefined for what cannot be read.
 */
export function fingerprintsOf(ca: string): readonly string[] | undefined {
  try {
    return fingerprints(parseCertificates(ca));
  } catch {
    return undefined;
  }
}

/** Of the first certificate, the one that signs where its key is beside it; undefined when it cannot be read. */
export function firstFingerprint(text: string): string | undefined {
  try {
    return parseCertificates(text).slice(0, 1).map(fingerprint)[0];
  } catch {
    return undefined;
  }
}

/**
 * Those of the authorities in `ca`, valid at `now` (ms since the epoch), that have signed `cert`; undefined when either cannot be read.
 */
export function signersOf(
  ca: string,
  cert: string,
  { now, usages }: { readonly now: number; readonly usages: readonly Usage[] },
): readonly string[] | undefined {
  try {
    return fingerprints(authoritiesOf(parseCertificates(cert), validAt(parseCertificates(ca), now), usages));
  } catch {
    return undefined;
  }
}

function fingerprints(certificates: readonly X509Certificate[]): readonly string[] {
  return [...new Set(certificates.map(fingerprint))].sort();
}

function fingerprint({ subject, publicKey, raw }: X509Certificate): string {
  const key = publicKey.export({ type: 'spki', format: 'der' });
  return `${digest(subject ?? '', key)}.${digest(raw)}`;
}

/** 64 bits: it distinguishes the few that one bundle holds, and guards nothing. */
function digest(...parts: readonly (string | Buffer)[]): string {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part).update('\0');
  return hash.digest('hex').slice(0, 16);
}
