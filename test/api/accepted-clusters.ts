/** Odd EtcdClusters that the API server must accept, and what validateCluster must then say of them. */
import type { ConditionStatus, ConditionType } from '../../src/api/conditions/catalogue.ts';

export type Accepted = {
  /** The end of the sentence "an EtcdCluster with …". */
  readonly what: string;
  readonly spec: Record<string, unknown>;
  /** The condition that the operator shows, and words of its message. */
  readonly shows: readonly [type: ConditionType, status: ConditionStatus, reason: string, ...words: string[]];
};

const quota = (size: string, quotaBackendBytes: string) => ({
  storage: { volumeClaimTemplate: { spec: { resources: { requests: { storage: size } } } } },
  etcd: { quotaBackendBytes },
});

export const ACCEPTED_CLUSTERS: readonly Accepted[] = [
  {
    what: 'version v3.5.3',
    spec: { version: 'v3.5.3' },
    shows: ['VersionSupported', 'True', 'Supported', 'etcd 3.5.3'],
  },
  {
    what: 'version 3.5.3, which is older than its floors',
    spec: { version: '3.5.3' },
    shows: [
      'VersionOutdated',
      'True',
      'BelowDataLossFloor',
      'below 3.5.26',
      'below 3.5.33',
      'Set spec.version to 3.5.35',
    ],
  },
  {
    what: 'version 3.5.30, which is older than a security fix only',
    spec: { version: '3.5.30' },
    shows: [
      'VersionOutdated',
      'True',
      'BelowSecurityFloor',
      'GHSA-xg4h-6gfc-h4m8',
      'Set spec.version to 3.5.35',
    ],
  },
  { what: 'version 3.6.16', spec: { version: '3.6.16' }, shows: ['VersionOutdated', 'False', 'UpToDate'] },
  {
    what: 'version 3.6.99, which this operator does not know',
    spec: { version: '3.6.99' },
    shows: ['VersionSupported', 'True', 'NewerThanKnown', '3.6.16'],
  },
  {
    what: 'version 3.2.13',
    spec: { version: '3.2.13' },
    shows: [
      'VersionSupported',
      'False',
      'TooOld',
      'etcd 3.2.13 is out of support',
      'write one of 3.5.35, 3.6.16, 3.7.3',
    ],
  },
  {
    what: 'version 3.4.45',
    spec: { version: '3.4.45' },
    shows: ['VersionSupported', 'False', 'TooOld', '3.4.45'],
  },
  {
    what: 'version 3.8.0',
    spec: { version: '3.8.0' },
    shows: ['VersionSupported', 'False', 'TooNew', '3.8.0'],
  },
  {
    what: 'version 4.0.0',
    spec: { version: '4.0.0' },
    shows: ['VersionSupported', 'False', 'TooNew', '4.0.0'],
  },
  {
    what: 'an empty version',
    spec: { version: '' },
    shows: ['VersionSupported', 'True', 'Supported', 'etcd 3.6.16'],
  },
  {
    what: 'size 4',
    spec: { size: 4 },
    shows: [
      'EvenSize',
      'True',
      'NoExtraTolerance',
      '4 members tolerate 1 failure, no more than 3 do: prefer 3 or 5',
    ],
  },
  { what: 'size 7', spec: { size: 7 }, shows: ['EvenSize', 'False', 'OddSize'] },
  {
    what: 'busyboxImage',
    spec: { pod: { busyboxImage: 'busybox:1.28.0-glibc' } },
    shows: ['FieldsIgnored', 'True', 'SomeIgnored', 'spec.pod.busyboxImage: no longer needed'],
  },
  {
    what: 'DNSTimeoutInSecond',
    spec: { pod: { DNSTimeoutInSecond: 30 } },
    shows: ['FieldsIgnored', 'True', 'SomeIgnored', 'spec.pod.DNSTimeoutInSecond: no longer needed'],
  },
  {
    what: 'DNSTimeoutInSecond 0, which Go clients write',
    spec: { pod: { DNSTimeoutInSecond: 0, busyboxImage: '' } },
    shows: ['FieldsIgnored', 'False', 'NoneIgnored'],
  },
  {
    what: 'a label that the operator sets itself',
    spec: { pod: { labels: { 'app.kubernetes.io/name': 'mine' } } },
    shows: ['FieldsIgnored', 'True', 'SomeIgnored', 'spec.pod.labels[app.kubernetes.io/name]'],
  },
  {
    what: 'more asked for than the limit allows',
    spec: { pod: { resources: { requests: { cpu: '1500m' }, limits: { cpu: 1 } } } },
    shows: [
      'SpecValid',
      'False',
      'Invalid',
      'spec.pod.resources.requests.cpu is more than',
      'raise the limit',
    ],
  },
  {
    what: 'memory asked for beside a limit of nothing',
    spec: { pod: { resources: { requests: { memory: '1Gi' }, limits: { memory: '0' } } } },
    shows: ['SpecValid', 'False', 'Invalid', 'spec.pod.resources.requests.memory is more than'],
  },
  {
    what: 'limits of nothing, which are none to Kubernetes',
    spec: { pod: { resources: { limits: { cpu: 0, memory: '0' } } } },
    shows: ['SpecValid', 'True', 'Valid'],
  },
  {
    what: 'half a byte of memory',
    spec: { pod: { resources: { limits: { memory: '512m' } } } },
    shows: [
      'SpecValid',
      'False',
      'Invalid',
      'spec.pod.resources.limits.memory "512m" is no number of bytes: write one such as 512Mi',
    ],
  },
  {
    what: 'an amount that is an object',
    spec: { pod: { resources: { limits: { memory: { of: '1Gi' } } } } },
    shows: ['SpecValid', 'False', 'Invalid', 'spec.pod.resources.limits.memory'],
  },
  {
    what: 'amounts of every form that Kubernetes takes',
    spec: {
      pod: {
        resources: {
          requests: { cpu: 1.5, memory: 1073741824 },
          limits: { cpu: '2000000000n', 'example.com/x': '3', 'ephemeral-storage': '1e9' },
        },
      },
    },
    shows: ['SpecValid', 'True', 'Valid'],
  },
  {
    what: 'volumes without a file system',
    spec: { storage: { volumeClaimTemplate: { spec: { volumeMode: 'Block' } } } },
    shows: ['SpecValid', 'False', 'Invalid', 'volumeMode Block, and etcd needs a file system'],
  },
  {
    what: 'one volume for all members',
    spec: { size: 3, pod: { persistentVolumeClaimSpec: { volumeName: 'disk-1' } } },
    shows: ['SpecValid', 'False', 'Invalid', 'names the volume "disk-1", which only one of them can have'],
  },
  {
    what: 'a volume for its only member',
    spec: { size: 1, pod: { persistentVolumeClaimSpec: { volumeName: 'disk-1' } } },
    shows: ['SpecValid', 'True', 'Valid'],
  },
  {
    what: 'volumes that nobody may write to',
    spec: { pod: { persistentVolumeClaimSpec: { accessModes: ['ReadOnlyMany'] } } },
    shows: ['SpecValid', 'False', 'Invalid', 'etcd writes: write ReadWriteOnce'],
  },
  {
    what: 'directories that Kubernetes evicts pods for before etcd is full',
    spec: { storage: { emptyDir: { sizeLimit: '1Gi' } } },
    shows: ['StorageTight', 'True', 'VolumeTooSmall', 'sizeLimit 1Gi is smaller than', 'evicts a pod'],
  },
  {
    what: 'directories without a limit',
    spec: { storage: { emptyDir: {} } },
    shows: ['StorageTight', 'False', 'VolumeLargeEnough'],
  },
  {
    what: 'a label whose key is in Greek',
    spec: { pod: { labels: { βάση: 'x' } } },
    shows: ['SpecValid', 'False', 'Invalid', 'spec.pod.labels has the key "βάση": write letters'],
  },
  {
    what: 'a label whose value is in Greek',
    spec: { pod: { labels: { tier: 'βάση' } } },
    shows: ['SpecValid', 'False', 'Invalid', 'spec.pod.labels has the value "βάση" for tier: write letters'],
  },
  {
    what: 'a node selector with an impossible key',
    spec: { pod: { nodeSelector: { 'a b': 'x' } } },
    shows: ['SpecValid', 'False', 'Invalid', 'spec.pod.nodeSelector has the key "a b"'],
  },
  {
    what: 'a defragmentation at a minute that does not exist',
    spec: { maintenance: { defragment: { schedule: '61 2 * * *' } } },
    shows: [
      'SpecValid',
      'False',
      'Invalid',
      'spec.maintenance.defragment.schedule "61 2 * * *": minute "61": write 0 to 59',
    ],
  },
  {
    what: 'a defragmentation on 30 February',
    spec: { maintenance: { defragment: { schedule: '0 0 30 2 *' } } },
    shows: ['SpecValid', 'False', 'Invalid', 'day 30 never comes in month 2'],
  },
  {
    what: 'a volume smaller than three quotas',
    spec: quota('4Gi', '2Gi'),
    shows: [
      'StorageTight',
      'True',
      'VolumeTooSmall',
      'the volume of 4Gi',
      'ask for 8Gi or lower spec.etcd.quotaBackendBytes',
    ],
  },
  {
    what: 'a volume of three quotas and 2Gi',
    spec: quota('8Gi', '2Gi'),
    shows: ['StorageTight', 'False', 'VolumeLargeEnough'],
  },
  {
    what: 'the profile Kubernetes on the default volume',
    spec: { profile: 'Kubernetes' },
    shows: ['StorageTight', 'True', 'VolumeTooSmall', 'ask for 26Gi'],
  },
  { what: 'an empty TLS block', spec: { TLS: {} }, shows: ['TLSSupported', 'True', 'Supported'] },
  {
    what: 'a TLS block of empty Secret names, which Go clients write',
    spec: { TLS: { static: { member: { peerSecret: '', serverSecret: '' }, operatorSecret: '' } } },
    shows: ['TLSSupported', 'True', 'Supported'],
  },
];

/** What the schema refuses by now, and objects that are older than it still hold. */
export const STORED_BEFORE: readonly Accepted[] = [
  {
    what: 'an amount of memory that is none',
    spec: { pod: { resources: { requests: { cpu: 0.5, memory: 'lots' } } } },
    shows: [
      'SpecValid',
      'False',
      'Invalid',
      'spec.pod.resources.requests.memory "lots" is no quantity of zero or more: write one such as 500m or 1Gi',
    ],
  },
  {
    what: 'less than no processor',
    spec: { pod: { resources: { limits: { cpu: '-1' } } } },
    shows: ['SpecValid', 'False', 'Invalid', 'spec.pod.resources.limits.cpu "-1" is no quantity'],
  },
  {
    what: 'limits that are a text',
    spec: { pod: { resources: { limits: '1Gi' } } },
    shows: ['SpecValid', 'False', 'Invalid', 'spec.pod.resources.limits is no map of resources'],
  },
];
