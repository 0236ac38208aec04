/** The DNS names of a certificate, and whether its authority may sign for them. */
import type { X509Certificate } from 'node:crypto';
import { nameConstraintsOf } from './der.ts';

/** Those of its subject alternative name; the name in its subject counts for nothing, as in Go. */
export function dnsNamesOf({ subjectAltName = '' }: X509Certificate): readonly string[] {
  const entries = subjectAltName.split(', ');
  return entries.filter(entry => entry.startsWith('DNS:')).map(entry => entry.slice('DNS:'.length));
}

/** Whether an authority's constraints let it sign for these names (matchDomainConstraint in Go's crypto/x509). */
export function maySignFor(authority: X509Certificate, names: readonly string[]): boolean {
  const { permitted, excluded } = nameConstraintsOf(authority);
  const isBelow = (name: string, constraint: string): boolean => {
    const [host, top] = [name.toLowerCase(), constraint.toLowerCase()];
    if (top === '') return true;
    return top.startsWith('.') ? host.endsWith(top) : host === top || host.endsWith(`.${top}`);
  };
  return names.every(
    name =>
      (permitted.length === 0 || permitted.some(each => isBelow(name, each))) &&
      !excluded.some(each => isBelow(name, each)),
  );
}
