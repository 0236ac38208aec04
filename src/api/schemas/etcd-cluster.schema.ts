/** EtcdCluster: the source of its CRD, of `kubectl explain`, and of its types. */
import * as z from 'zod';
import { DEFAULT_REPOSITORY, DEFAULT_SIZE } from './default-values.ts';
import { etcdSettings, maintenance, recovery, repair, service, upgrade } from './etcd-settings.schema.ts';
import { clusterStatus } from './etcd-cluster-status.schema.ts';
import { type CelRule, cel, int32, kept, text } from './parts.schema.ts';
import { podPolicy } from './pod.schema.ts';
import { storage, storageTransitions } from './storage.schema.ts';
import { tls, tlsTransition } from './tls.schema.ts';
import { DEFAULT_VERSION, NEWEST_KNOWN } from '../versions/table.ts';

const NUMBER = '(0|[1-9][0-9]{0,3})';

const version = cel(
  text(
    64,
    `Release of etcd, such as ${DEFAULT_VERSION}; a leading v is allowed. A change upgrades the cluster one member at a time. Supported: ${Object.keys(NEWEST_KNOWN).join(', ')}. Absent or empty: the version that runs; ${DEFAULT_VERSION} in a new cluster.`,
  ),
  {
    rule: `self == '' || self.matches('^v?${NUMBER}[.]${NUMBER}[.]${NUMBER}$')`,
    message: `must be a release of etcd of the form x.y.z, such as ${DEFAULT_VERSION}`,
  },
);

const repository = cel(text(512, `The image is <repository>:v<version>.`), {
  rule: "!self.matches('[@[:space:]]') && !self.matches(':[^/]*$')",
  message: `must be an image name without tag or digest, such as ${DEFAULT_REPOSITORY}: the tag is v<version>`,
});

const size = cel(
  int32(
    'The number of members, 1 to 7. An even number tolerates no more failures than the odd number below it.',
  ),
  {
    rule: 'self >= 1 && self <= 7',
    message:
      'must be from 1 to 7, best 3 or 5; to stop a cluster and keep its data set spec.hibernated to true',
  },
);

const specFields = z.object({
  size: kept(size, DEFAULT_SIZE),
  version: version.optional(),
  repository: kept(repository, DEFAULT_REPOSITORY),
  paused: z
    .boolean()
    .describe(
      'true: the operator starts the members again that it has stopped, then performs no step, but still updates the status. Absent: false.',
    )
    .optional(),
  hibernated: kept(
    z
      .boolean()
      .describe(
        'true: pods are stopped; volumes, Services and identity remain, and false starts the same members again.',
      ),
    false,
  ),
  pod: podPolicy.optional(),
  TLS: tls.optional(),
  storage: storage.optional(),
  etcd: etcdSettings.optional(),
  profile: kept(
    z
      .enum(['Default', 'Development', 'Kubernetes'])
      .describe(
        'A tested set of defaults for fields that are not set. Development: small, members may share a node. Kubernetes: what a kube-apiserver needs (compaction off, 8Gi quota).',
      ),
    'Default',
  ),
  upgrade: upgrade.optional(),
  repair: repair.optional(),
  maintenance: maintenance.optional(),
  recovery: recovery.optional(),
  service: service.optional(),
});

const ONE_STORAGE: CelRule = {
  rule: '!(has(self.pod) && has(self.pod.persistentVolumeClaimSpec) && has(self.storage) && (has(self.storage.volumeClaimTemplate) || has(self.storage.emptyDir)))',
  message:
    'pod.persistentVolumeClaimSpec and storage both say where members keep their data: keep storage.volumeClaimTemplate or storage.emptyDir, and remove pod.persistentVolumeClaimSpec',
};

/** The specification of a cluster. */
const clusterSpec = cel(specFields.describe('The desired state of the cluster.'), ONE_STORAGE);

/** The specification of a cluster that does not exist yet. */
export const clusterTemplate = cel(
  specFields.describe(
    'An EtcdCluster spec: a new cluster with the name etcdCluster.name is created and the backup is restored into it. Without a version it uses the version of the backup.',
  ),
  ONE_STORAGE,
);

/**
 * CEL over the old object: something may have been created. Only an operator that looked and recorded no incarnation
 * proves the opposite; an object without status may be older than its status.
 */
const BEGUN =
  '!(has(oldSelf.status) && has(oldSelf.status.observedGeneration) && !has(oldSelf.status.incarnation))';

/** CEL: the members have not formed a cluster yet, so their storage may still change: the operator makes it again. */
const UNFORMED =
  '(has(oldSelf.status) && has(oldSelf.status.incarnation) && !has(oldSelf.status.incarnation.restore) && !has(oldSelf.status.incarnation.rebuilt) && !has(oldSelf.status.clusterID))';

/** CEL: the domain that URLs of members end in; absent and empty are the same. */
const domainOf = (object: string): string =>
  `(has(${object}.spec.pod) && has(${object}.spec.pod.ClusterDomain) ? ${object}.spec.pod.ClusterDomain : '')`;

const DOMAIN_STAYS: CelRule = {
  rule: `!(${BEGUN}) || ${domainOf('self')} == ${domainOf('oldSelf')}`,
  message:
    'pod.ClusterDomain cannot be changed on a living cluster, whose members know each other by URLs that end in it: write the old domain; for another one make a new cluster and restore a backup into it',
  fieldPath: '.spec',
};

/** The rules of the whole object: its name, and what may not change while it lives. */
const clusterRules: readonly CelRule[] = [
  {
    rule: 'size(self.metadata.name) <= 52',
    message:
      'metadata.name may have at most 52 characters, because members are named <name>-<number>: write a shorter one',
  },
  {
    rule: "self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",
    message:
      'metadata.name must name a Service: write lower-case letters, digits and dashes, a letter first, no dots',
  },
  ...storageTransitions(`${BEGUN} && !${UNFORMED}`),
  tlsTransition(BEGUN),
  DOMAIN_STAYS,
];

export const etcdClusterSchema = cel(
  z
    .object({
      spec: clusterSpec.prefault({}),
      status: clusterStatus.optional(),
    })
    .describe('A cluster of etcd members that the operator creates, repairs, scales and upgrades.'),
  ...clusterRules,
);

export type ClusterSpecInput = z.input<typeof clusterSpec>;
