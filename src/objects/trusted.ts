/**
 * Which authorities a member trusts, on its pod: etcd reads certificate and key at each handshake and the authorities only when it
 * starts (etcd documentation, "Transport security model"), so what the Secret holds now does not show it. Pure.
 */
import { ANNOTATION_AUTHORITIES } from '../api/names.ts';

/** The Secrets that are mounted into members, each with authorities in it. */
export type TrustingRole = 'peer' | 'server';

export const TRUSTING_ROLES: readonly TrustingRole[] = ['peer', 'server'];

/**
 * Fingerprints of authorities: `<who>.<certificate>`. An authority that was certified again with the same name and key has another
 * second part, and what it signed is trusted by both.
 */
export type TrustedAuthorities = Partial<Readonly<Record<TrustingRole, readonly string[]>>>;

/** Of one object Kubernetes keeps 256 KiB of annotations, and others need room as well. */
const MOST_BYTES = 65_536;

/** The annotation with it; none where nothing is known, or of a bundle of absurd size: then it counts as unknown. */
export function authoritiesNote(trusted: TrustedAuthorities): Readonly<Record<string, string>> {
  const text = JSON.stringify(trusted);
  return text === '{}' || text.length > MOST_BYTES ? {} : { [ANNOTATION_AUTHORITIES]: text };
}

/** What the annotation says; undefined without one, or when somebody damaged it. */
export function readAuthorities(annotation: string | undefined): TrustedAuthorities | undefined {
  if (annotation === undefined) return undefined;
  try {
    const note: unknown = JSON.parse(annotation);
    if (typeof note !== 'object' || note === null) return undefined;
    const lists = Object.entries(note).filter(
      ([role, list]) => TRUSTING_ROLES.some(each => each === role) && isFingerprints(list),
    );
    return lists.length === 0 ? undefined : Object.fromEntries(lists);
  } catch {
    return undefined;
  }
}

function isFingerprints(list: unknown): boolean {
  return Array.isArray(list) && list.length > 0 && list.every(each => typeof each === 'string');
}

/** Whether one of the authorities that are trusted is one of these by name and key. */
export function trustsOneOf(trusted: readonly string[], authorities: readonly string[]): boolean {
  const known = new Set(trusted.map(whoOf));
  return authorities.some(authority => known.has(whoOf(authority)));
}

function whoOf(fingerprint: string): string {
  return fingerprint.split('.')[0] ?? fingerprint;
}
