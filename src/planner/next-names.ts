/**
 * Certificates that list members by name know the members of now. Whoever takes the place of one has the next number, and its name is
 * demanded before anything is taken away. Pure.
 */
import { memberName, serialOf } from '../api/names.ts';
import { coversHost, memberNameInCertificate, secretKeys } from '../api/tls.ts';
import type { Obstacle } from './checks.ts';
import { nextMember } from './membership/seats.ts';
import type { Observation } from './observation.ts';

/** What keeps the member with the next number from being made, or nothing. */
export function nextIsCertified(observation: Observation): Obstacle | undefined {
  return areCertified(observation, [nextMember(observation)]);
}

/** The same, of as many members as are asked for, which begin with this one. */
export function successorsAreCertified(observation: Observation, first: string): Obstacle | undefined {
  const { name, config } = observation.cluster;
  const serial = serialOf(first) ?? 0;
  const members = Array.from({ length: config.size }, (_, index) => memberName(name, serial + index));
  return areCertified(observation, members);
}

function areCertified({ tls, cluster }: Observation, members: readonly string[]): Obstacle | undefined {
  const { name, namespace, config } = cluster;
  const domain = config.pod.ClusterDomain;
  const hosts = members.map(member => memberNameInCertificate({ name, namespace, domain }, member));
  const said = (tls?.certificates ?? []).flatMap(({ role, secret, keys, dnsNames }) => {
    const lacking =
      role === 'operator' || dnsNames === undefined ? [] : hosts.filter(host => !coversHost(dnsNames, host));
    return lacking.length === 0
      ? []
      : [`${secretKeys(role, keys).cert} of Secret ${secret} is not valid for ${lacking.join(', ')}`];
  });
  if (said.length === 0) return undefined;
  const message = `${said.join('; ')}: the next member has that name, and nothing is taken away before; issue the certificate with it, or with *.${name}.${namespace}.svc`;
  return { reason: 'WrongNames', message };
}
