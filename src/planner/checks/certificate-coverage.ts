/**
 * Certificates that list members by name know the members of now. A successor has the next number, and its name is
 * demanded before anything is taken away. Pure.
 */
import { memberName, nextSerial, serialOf } from '../../api/names.ts';
import {
  bearerNames,
  coversHost,
  memberNameInCertificate,
  secretKeys,
  securityOf,
} from '../../api/derived/tls.ts';
import { lastSerialOf } from '../model/identity.ts';
import type { Obstacle } from '../model/decision.ts';
import { nextMember } from '../model/member-view.ts';
import type { CertificateFacts } from '../model/tls-facts.ts';
import type { Situation } from '../model/situation.ts';

/** What keeps the member with the next number from being made, or nothing. */
export function certificateCoversNextMember(situation: Situation): Obstacle | undefined {
  return certificateCoversEach(situation, [nextMember(situation)]);
}

/** The first member of a restored cluster: numbered above everything that has, or had, a name like a member's. */
export function firstRestored({ cluster, pods, claims, namesSeen }: Situation): string {
  const seen = [...pods, ...claims].map(({ name }) => name);
  return memberName(cluster.name, nextSerial(lastSerialOf(cluster), [...seen, ...namesSeen]));
}

/** The same, of as many members as are asked for, which begin with this one. */
export function certificateCoversMembersFrom(situation: Situation, first: string): Obstacle | undefined {
  const { name, config } = situation.cluster;
  const serial = serialOf(first) ?? 0;
  const members = Array.from({ length: config.size }, (_, index) => memberName(name, serial + index));
  return certificateCoversEach(situation, members);
}

/** The same, of these members. */
export function certificateCoversEach(
  { tls, cluster }: Situation,
  members: readonly string[],
): Obstacle | undefined {
  const { name, namespace, config, object } = cluster;
  const names = { name, namespace, domain: config.pod.ClusterDomain };
  const hosts = members.map(member => memberNameInCertificate(names, member));
  const looksUp = securityOf(object)?.mode !== 'auto';
  const holds = ({ role, dnsNames = [] }: CertificateFacts, host: string): boolean => {
    const isFound = [...bearerNames(names), host].some(each => dnsNames.includes(each));
    return coversHost(dnsNames, host) && (role !== 'peer' || !looksUp || isFound);
  };
  const faults = (tls?.certificates ?? []).flatMap(certificate => {
    const { role, secret, keys, dnsNames } = certificate;
    const isKnown = role !== 'operator' && dnsNames !== undefined;
    const lacking = isKnown ? hosts.filter(host => !holds(certificate, host)) : [];
    return lacking.length === 0
      ? []
      : [`${secretKeys(role, keys).cert} of Secret ${secret} is not valid for ${lacking.join(', ')}`];
  });
  if (faults.length === 0) return undefined;
  const message = `${faults.join('; ')}: the next member will have that name, and no member is removed until the certificate is valid for it; issue the certificate with this name, or with *.${name}.${namespace}.svc and ${bearerNames(names)[0]}`;
  return { reason: 'WrongNames', message };
}
