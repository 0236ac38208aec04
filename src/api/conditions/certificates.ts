/** The condition about the certificates of a cluster. Pure data; see catalogue.ts. */
import { OBSTACLES } from '../obstacles/catalogue.ts';
import { TLS_OBSTACLES } from '../obstacles/certificates.ts';
import type { ConditionTable } from './table.ts';

export const CERTIFICATE_CONDITIONS = {
  /** Are the certificates good? Said only of clusters that ask for TLS. */
  TLSReady: {
    True: {
      Ready: ['Every certificate exists, matches its key, is trusted and is not about to expire.'],
      ExpiresSoon: [
        'A certificate expires soon: less than a fifth of its lifetime and less than 30 days are left, or less than a year of an authority of TLS.auto.',
        'Renew the certificate that the message names; etcd loads it without a restart. An authority of TLS.auto is not renewed: restore a backup into a new cluster in time.',
      ],
      SharedIssuer: [
        'The certificates are valid and come from a ClusterIssuer. Anyone in any namespace who gets a certificate from it can be a client of this etcd, with the name root its superuser, and with access to port 2380 a member.',
        'Name an Issuer of the namespace that signs for this cluster alone, and change to its authority as described in docs/operations/tls.md.',
      ],
      AuthorityRollingOut: [
        'The authorities in a Secret differ from those that the members have read: the operator restarts the members one at a time.',
        'Nothing; do not sign anything with a new authority until this has ended.',
      ],
      NextNamesMissing: [
        'Certificates list the members by name, but not the next one. Until they do, a lost member is not replaced, and no backup is restored.',
        'Issue them with the names that the message lists, or with a wildcard for all members.',
      ],
      IssuerChanged: OBSTACLES.IssuerChanged,
    },
    False: { ...TLS_OBSTACLES, NameTaken: OBSTACLES.NameTaken },
    Unknown: {
      ClocksDiffer: OBSTACLES.ClocksDiffer,
    },
  },
} as const satisfies ConditionTable;
