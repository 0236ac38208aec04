/** spec.pod: how the pods of members look. The CoreOS operator's PodPolicy with its exact names, and a few additions. */
import * as z from 'zod';
import { DEFAULT_GRACE_SECONDS } from './default-values.ts';
import { CLAIM_SPEC } from './storage.schema.ts';
import { amounts, cel, int32, int64, kept, partlyRaw, rawObject, text, textMap } from './parts.schema.ts';
import {
  DANGEROUS_ENV,
  OPERATOR_ENV,
  OPERATOR_ENV_PREFIXES,
  OWN_ENV,
} from '../values/reserved-environment.ts';

const MAX_ENV = 128;

/** Keys that mean something to the operator itself; the same rule as isReservedKey of names.ts. */
function withoutReservedKeys<T extends z.ZodType>(schema: T, what: string): T {
  return cel(schema, {
    rule: "self.all(key, key != 'app' && key != 'etcd.version' && !key.startsWith('etcd_') && !key.startsWith('etcd.database.coreos.com/'))",
    message: `the ${what} app, etcd.version, etcd_* and etcd.database.coreos.com/* are set by the operator: remove them or choose other keys`,
  });
}

const quoted = (flags: readonly string[]): string => flags.map(flag => `'ETCD_${flag}'`).join(', ');

const etcdEnv = cel(
  z
    .array(
      z.object({
        name: text(
          256,
          'Name of the variable. A flag of etcd has the name ETCD_ and the flag in upper case with underscores.',
        ).min(1),
        value: text(32768, 'Value of the variable.').optional(),
        valueFrom: rawObject('Where the value comes from, as in a pod (core/v1 EnvVarSource).').optional(),
      }),
    )
    .max(MAX_ENV)
    .describe(
      'Environment of the etcd container. Variables that the operator sets itself (name, data directory, initial-*, listen-*, advertise-*, TLS files) or that endanger data are rejected.',
    ),
  {
    rule: `self.all(e, !(e.name in [${quoted(OPERATOR_ENV)}, ${OWN_ENV.map(name => `'${name}'`).join(', ')}]) && ${OPERATOR_ENV_PREFIXES.map(prefix => `!e.name.startsWith('ETCD_${prefix}')`).join(' && ')})`,
    message: `ETCD_NAME, ETCD_DATA_DIR, ETCD_WAL_DIR, ETCD_INITIAL_*, ETCD_LISTEN_*, ETCD_ADVERTISE_*, ETCD_DISCOVERY*, ${OWN_ENV.join(', ')} and the TLS files are set by the operator: remove them; TLS is configured in spec.TLS`,
  },
  {
    rule: `self.all(e, !(e.name in [${quoted(DANGEROUS_ENV)}]))`,
    message: `${DANGEROUS_ENV.map(flag => `ETCD_${flag}`).join(', ')} endanger the data of the cluster: remove them; settings of etcd belong in spec.etcd`,
  },
  {
    rule: 'self.all(e, self.exists_one(other, other.name == e.name))',
    message: 'a variable must be named once: of several with the same name only the last would count',
  },
);

export const podPolicy = z
  .object({
    labels: withoutReservedKeys(
      textMap(64, 63, "Labels of the pods. The keys app, etcd.version and etcd_* are the operator's."),
      'labels',
    ).optional(),
    annotations: withoutReservedKeys(
      textMap(
        64,
        65536,
        "Annotations of the pods. The keys app, etcd.version and etcd_* are the operator's.",
      ),
      'annotations',
    ).optional(),
    nodeSelector: textMap(64, 63, 'Labels that a node must have to run a member.').optional(),
    affinity: rawObject(
      'Affinity of the pods (core/v1 Affinity). If set, antiAffinity is ignored.',
    ).optional(),
    antiAffinity: z
      .boolean()
      .describe('true: two members never share a node. Absent or false: they avoid it if possible.')
      .optional(),
    resources: partlyRaw(
      {
        requests: amounts('What the container needs, such as cpu: 500m or memory: 1Gi.').optional(),
        limits: amounts('The most that the container may use, such as memory: 2Gi.').optional(),
      },
      'CPU and memory of the etcd container, as in a pod (core/v1 ResourceRequirements).',
    ).optional(),
    tolerations: z
      .array(rawObject('A core/v1 Toleration.'))
      .max(64)
      .describe('Taints that the pods tolerate, as in a pod.')
      .optional(),
    etcdEnv: etcdEnv.optional(),
    persistentVolumeClaimSpec: CLAIM_SPEC.describe(
      'The claim of each member (core/v1 PersistentVolumeClaimSpec). Same as spec.storage.volumeClaimTemplate.spec: the claim outlives its pod.',
    ).optional(),
    busyboxImage: text(
      512,
      'Accepted for compatibility with the CoreOS operator and not used: pods have no init container that waits for DNS.',
    ).optional(),
    securityContext: rawObject(
      'Security context of the pods (core/v1 PodSecurityContext). Absent: the restricted Pod Security Standard.',
    ).optional(),
    DNSTimeoutInSecond: int64(
      'Accepted for compatibility with the CoreOS operator and not used: pods have no init container that waits for DNS.',
    ).optional(),
    ClusterDomain: cel(
      text(
        253,
        'The DNS domain of the Kubernetes cluster, such as cluster.local. If set, it is appended to the URLs of members; a leading dot is allowed.',
      ),
      {
        rule: "self == '' || self.matches('^[.]?[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*[.]?$')",
        message: 'must be a DNS domain such as cluster.local',
      },
    ).optional(),
    topologySpreadConstraints: z
      .array(rawObject('A core/v1 TopologySpreadConstraint.'))
      .max(32)
      .describe('How members spread over zones and nodes, as in a pod.')
      .optional(),
    priorityClassName: text(253, 'PriorityClass of the pods.').optional(),
    imagePullSecrets: z
      .array(z.object({ name: text(253, 'Name of the Secret.') }))
      .max(32)
      .describe('Secrets with which the image is pulled.')
      .optional(),
    serviceAccountName: text(
      253,
      'ServiceAccount of the pods. Absent: default. No token is mounted.',
    ).optional(),
    terminationGracePeriodSeconds: kept(
      int32(
        'How long etcd may take to transfer the leadership and stop. It goes on for the first three seconds.',
      )
        .min(1)
        .max(3600),
      DEFAULT_GRACE_SECONDS,
    ),
  })
  .describe('How the pods of members look.');
