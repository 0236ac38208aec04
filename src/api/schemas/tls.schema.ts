/** spec.TLS: the three ways to secure a cluster. `static` is the CoreOS operator's, with its exact names. */
import * as z from 'zod';
import { ISSUER_DEFAULTS } from './default-values.ts';
import { type CelRule, cel, kept, secretName, text } from './parts.schema.ts';

const isSet = (path: string): string => `(has(${path}) && ${path} != '')`;

const staticTls = cel(
  z
    .object({
      member: z
        .object({
          peerSecret: secretName(
            'Secret for traffic between members: peer.crt, peer.key, peer-ca.crt; or tls.crt, tls.key, ca.crt.',
          ).optional(),
          serverSecret: secretName(
            'Secret for traffic with clients: server.crt, server.key, server-ca.crt; or tls.crt, tls.key, ca.crt.',
          ).optional(),
        })
        .describe('Certificates of the members.')
        .optional(),
      operatorSecret: secretName(
        'Secret with the client certificate of the operator: etcd-client.crt, etcd-client.key, etcd-client-ca.crt; or tls.crt, tls.key, ca.crt. Required if and only if serverSecret is set.',
      ).optional(),
    })
    .describe('Certificates in Secrets of the same namespace, which you create and renew.'),
  {
    rule: `${isSet('self.operatorSecret')} == (has(self.member) && ${isSet('self.member.serverSecret')})`,
    message:
      'member.serverSecret and operatorSecret belong together: set both to secure client traffic, or neither to secure only peer traffic',
  },
);

export const tls = cel(
  z
    .object({
      static: staticTls.optional(),
      auto: z
        .object({})
        .describe(
          'With {}, the operator runs two certificate authorities, issues and rotates all certificates, and publishes <cluster>-client-tls for applications.',
        )
        .optional(),
      certManager: z
        .object({
          issuerRef: z
            .object({
              name: text(253, 'Name of the issuer.').min(1),
              kind: kept(text(63, 'Issuer or ClusterIssuer.'), ISSUER_DEFAULTS.kind),
              group: kept(text(253, 'API group of the issuer.'), ISSUER_DEFAULTS.group),
            })
            .describe('The issuer that signs.'),
        })
        .describe('Certificates are requested from cert-manager.')
        .optional(),
    })
    .describe(
      'Secures the traffic of the cluster. Absent: plain text. It cannot be changed on a live cluster.',
    ),
  {
    rule: '(has(self.static) ? 1 : 0) + (has(self.auto) ? 1 : 0) + (has(self.certManager) ? 1 : 0) <= 1',
    message: 'static, auto and certManager exclude each other: keep one of them',
  },
);

/** CEL: how traffic is secured, as one text that is equal for two objects exactly when it is the same. */
function modeOf(object: string): string {
  const path = `${object}.spec.TLS`;
  const member = `${path}.static.member`;
  const hasMember = `has(${path}.static) && has(${member})`;
  return [
    `(!has(${path}) ? '' : has(${path}.auto) ? 'auto' : has(${path}.certManager) ? 'certManager'`,
    `: (${hasMember} && ${isSet(`${member}.peerSecret`)} ? 'peer' : '')`,
    `+ (${hasMember} && ${isSet(`${member}.serverSecret`)} ? 'client' : ''))`,
  ].join(' ');
}

/** The rule between the old and the new object, written for the root of EtcdCluster. `begun` is CEL: something may exist. */
export function tlsTransition(begun: string): CelRule {
  return {
    rule: `!(${begun}) || ${modeOf('self')} == ${modeOf('oldSelf')}`,
    message:
      'TLS of a live cluster cannot be switched on, off or to another mode: write the old mode; to switch, make a new cluster and restore a backup into it (other Secrets of the same mode are fine)',
    fieldPath: '.spec',
  };
}
