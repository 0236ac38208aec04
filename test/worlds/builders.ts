/** Inputs of the planner with everything filled in; a test names only what it is about. */
import { withDefaults } from '../../src/api/defaults/etcd-cluster.ts';
import { domainStamp } from '../../src/api/derived/domain.ts';
import {
  ANNOTATION_CLUSTER_ID,
  ANNOTATION_DOMAIN,
  ANNOTATION_INCARNATION,
  ANNOTATION_LAST_SERIAL,
  ANNOTATION_SECURITY,
  API_VERSION,
  memberHost,
  memberName,
} from '../../src/api/names.ts';
import { securityStamp } from '../../src/api/derived/tls.ts';
import type {
  EtcdCluster,
  EtcdClusterSpec,
  EtcdClusterStatus,
  Incarnation,
} from '../../src/api/schemas/types.ts';
import type { MemberProbe } from '../../src/planner/model/member-probe.ts';
import type {
  ClaimFacts,
  ClusterFacts,
  Membership,
  ObjectFacts,
  Observation,
  PodFacts,
} from '../../src/planner/model/observation.ts';

export const NAME = 'example';
export const NAMESPACE = 'shop';
export const UID = '0b7e6e34-55a2-4d5e-8a53-7c2d3a1f9e10';
export const TOKEN = 'example-0b7e6e34-1';
export const CLUSTER_ID = 'c0ffee0123456789';
export const VERSION = '3.6.16';
export const NOW = '2026-11-21T10:00:00Z';
export const LONG_AGO = '2026-11-20T10:00:00Z';

export const ABSENT: ObjectFacts = { exists: false, owned: false };
export const OURS: ObjectFacts = { exists: true, owned: true };
export const FOREIGN: ObjectFacts = { exists: true, owned: false };

/** `example-0` to `example-<size - 1>`. */
export function namesOf(size: number): string[] {
  return Array.from({ length: size }, (_, serial) => memberName(NAME, serial));
}

/** The id that the fixtures give the member of this name. */
export function idOf(name: string): string {
  return `a${name.replace(/\D/g, '')}`;
}

export function anIncarnation(size = 3): Incarnation {
  const members = namesOf(size).map(name => ({
    name,
    peerURL: `http://${memberHost({ member: name, cluster: NAME, namespace: NAMESPACE })}:2380`,
  }));
  return { token: TOKEN, members, createdAt: LONG_AGO };
}

/** What the operator stamps on the resource of a cluster that has its id. */
export function stampsIn(status: EtcdClusterStatus): { readonly annotations?: Record<string, string> } {
  const { incarnation, clusterID, lastSerial = -1 } = status;
  if (incarnation === undefined || clusterID === undefined) return {};
  const metadata = { name: NAME, namespace: NAMESPACE, uid: UID };
  const annotations = {
    [ANNOTATION_INCARNATION]: incarnation.token,
    [ANNOTATION_CLUSTER_ID]: clusterID,
    [ANNOTATION_LAST_SERIAL]: String(lastSerial),
    [ANNOTATION_SECURITY]: securityStamp({ metadata, status }),
    [ANNOTATION_DOMAIN]: domainStamp({ metadata, spec: {}, status }),
  };
  return { annotations };
}

/** The resource, of three members and nothing recorded by default. */
export function aCluster(
  given: {
    readonly spec?: EtcdClusterSpec;
    readonly status?: EtcdClusterStatus;
    readonly generation?: number;
    readonly deleting?: boolean;
    readonly hasFinalizer?: boolean;
  } = {},
): ClusterFacts {
  const { spec = {}, status = {}, generation = 1, deleting = false, hasFinalizer = true } = given;
  const object: EtcdCluster = {
    apiVersion: API_VERSION,
    kind: 'EtcdCluster',
    metadata: { name: NAME, namespace: NAMESPACE, uid: UID, generation, ...stampsIn(status) },
    spec: { size: 3, version: VERSION, ...spec },
    status,
  };
  return {
    namespace: NAMESPACE,
    name: NAME,
    uid: UID,
    generation,
    deleting,
    hasFinalizer,
    object,
    config: withDefaults(object.spec, { version: status.currentVersion }),
    status,
  };
}

/** A pod that runs and is ready. */
export function aPod(given: Partial<PodFacts> = {}): PodFacts {
  const { name = 'example-0' } = given;
  return {
    uid: `pod-${name}`,
    owned: true,
    token: TOKEN,
    clusterId: CLUSTER_ID,
    phase: 'Running',
    ready: true,
    deleting: false,
    ip: `10.0.0.${name.replace(/\D/g, '')}`,
    node: `node-${name.replace(/\D/g, '')}`,
    version: VERSION,
    trouble: undefined,
    createdAt: Date.parse(LONG_AGO),
    firstStart: 'sealed',
    clients: 'admitted',
    ...given,
    name,
  };
}

/** A claim that is bound and holds a member's data. */
export function aClaim(given: Partial<ClaimFacts> = {}): ClaimFacts {
  const { name = 'example-0' } = given;
  return {
    uid: `claim-${name}`,
    stampedUid: `claim-${name}`,
    owned: true,
    token: TOKEN,
    clusterId: CLUSTER_ID,
    version: VERSION,
    phase: 'Bound',
    deleting: false,
    keptUntil: undefined,
    ...given,
    name,
  };
}

type Answered = Extract<MemberProbe, { answered: true }>;

/** What a member says that follows the leader, example-0. */
export function aProbe(given: Partial<Answered> & { readonly name?: string } = {}): Answered {
  const { name = 'example-0', ...said } = given;
  return {
    answered: true,
    memberId: idOf(name),
    clusterId: CLUSTER_ID,
    leaderId: idOf('example-0'),
    isLearner: false,
    version: VERSION,
    raftTerm: '2',
    raftIndex: '12',
    raftAppliedIndex: '12',
    dbSize: 20480,
    dbSizeInUse: 16384,
    errors: [],
    read: { ok: true },
    ...said,
  };
}

/** The member list that a quorum answers with. */
export function aMembership(
  names: readonly string[] = namesOf(3),
  unstarted: readonly string[] = [],
): Membership {
  return {
    known: true,
    clusterId: CLUSTER_ID,
    members: names.map(name => ({
      id: idOf(name),
      name,
      isLearner: false,
      peerUrls: [`http://${memberHost({ member: name, cluster: NAME, namespace: NAMESPACE })}:2380`],
      started: !unstarted.includes(name),
    })),
  };
}

export const UNKNOWN_MEMBERSHIP: Membership = {
  known: false,
  message: 'no member answers a linearizable read',
};

/** A resource that was just applied: nothing is there yet. */
export function anObservation(given: Partial<Observation> = {}): Observation {
  return {
    now: Date.parse(NOW),
    cluster: aCluster({ hasFinalizer: false }),
    pods: [],
    claims: [],
    peerService: ABSENT,
    clientService: ABSENT,
    disruptionBudget: ABSENT,
    defaultStorageClass: 'standard',
    namesSeen: [],
    probes: {},
    membership: UNKNOWN_MEMBERSHIP,
    ...given,
  };
}

/** What is recorded of a cluster that was available. */
export function aRunningStatus(size = 3): EtcdClusterStatus {
  return {
    phase: 'Running',
    incarnation: anIncarnation(size),
    clusterID: CLUSTER_ID,
    storage: {
      kind: 'PersistentVolumeClaim',
      storageClassName: 'standard',
      decidedBy: 'DefaultStorageClass',
    },
    lastSerial: size - 1,
    currentVersion: VERSION,
    leader: 'example-0',
    raftTerm: '2',
    leaderSince: LONG_AGO,
    dataComparison: comparedJustNow(size),
  };
}

/** All members held the same data a moment ago. */
function comparedJustNow(size: number): NonNullable<EtcdClusterStatus['dataComparison']> {
  const members = namesOf(size).map(name => ({ name, id: idOf(name), hash: 'a', compactRevision: '5' }));
  return { comparedAt: NOW, revision: '7', members, lastEqual: { time: NOW, revision: '7' } };
}

/** A cluster that lives and wants nothing; `given` says what is different. */
export function aRunningCluster(given: Partial<Observation> = {}, size = 3): Observation {
  const names = namesOf(size);
  return anObservation({
    cluster: aCluster({ spec: { size }, status: aRunningStatus(size) }),
    pods: names.map(name => aPod({ name })),
    claims: names.map(name => aClaim({ name })),
    peerService: OURS,
    clientService: OURS,
    disruptionBudget: OURS,
    probes: Object.fromEntries(names.map(name => [name, aProbe({ name })])),
    membership: aMembership(names),
    hashes: Object.fromEntries(names.map(name => [name, { ok: true, hash: 'a', compactRevision: '5' }])),
    ...given,
  });
}
