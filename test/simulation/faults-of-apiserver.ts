/** What an apiserver, its cache, its quotas and its other clients do to a client; and a clock that jumps. */
import type { EtcdClusterSpec, EtcdClusterStatus } from '../../src/api/schemas/types.ts';
import { DEFAULT_VERSION } from '../../src/api/versions/table.ts';
import type { KubeObject } from '../../src/kube/port.ts';
import type { Fault } from './fault.ts';
import type { SimWorld } from './sim-world.ts';

const FROZEN = [
  ['Pod'],
  ['PersistentVolumeClaim'],
  ['Pod', 'PersistentVolumeClaim'],
  ['EtcdRestore'],
  ['Node'],
];

/** Lists are answered from a cache that hears of nothing, until somebody notices. */
const listsFrozen: Fault = ({ kube }, random) => {
  kube.thawLists();
  if (random.chance(0.5)) return 'no more';
  const kinds = random.pick(FROZEN) ?? [];
  kube.freezeLists(kinds);
  return kinds.join();
};

/** `exceeded quota` as the admission plugin says it, or what a role does not allow. */
const REFUSED = [
  ['create Pod', 'exceeded quota: all, requested: limits.cpu=1, used: limits.cpu=9, limited: limits.cpu=9'],
  ['create Pod', 'violates PodSecurity "restricted:latest"'],
  ['create PersistentVolumeClaim', 'exceeded quota: storage, requested: requests.storage=1Gi'],
  ['create Service', 'exceeded quota: services'],
  ['delete Pod', 'User "operator" cannot delete resource "pods"'],
  ['patch Pod', 'User "operator" cannot patch resource "pods"'],
  ['list Node', 'User "operator" cannot list resource "nodes"'],
  ['get PersistentVolume', 'User "operator" cannot get resource "persistentvolumes"'],
  ['list PersistentVolumeClaim', 'User "operator" cannot list resource "persistentvolumeclaims"'],
] as const;

const callsRefused: Fault = ({ kube }, random) => {
  const [what, words] = random.pick(REFUSED) ?? REFUSED[0];
  if (!kube.refuses.delete(what)) kube.refuses.set(what, words);
  return `${what} ${kube.refuses.has(what) ? 'from now on' : 'no more'}`;
};

/** A quota on the number of pods: exactly what there is, less, a little more, or none any more. */
const podsLimited: Fault = ({ kube }, random) => {
  const more = random.pick([undefined, -1, 0, 0, 1, 2]);
  kube.mostPods = more === undefined ? undefined : Math.max(0, kube.all('Pod').length + more);
  return kube.mostPods === undefined ? 'no more' : `at most ${kube.mostPods}`;
};

/** The fields that a client knows which was built on the types of the CoreOS operator. */
const KNOWN = ['size', 'repository', 'version', 'paused', 'pod', 'TLS'];

/** A client reads the object, changes its size and writes back what its own types know of it. */
const putByOldClient: Fault = (world, random) => {
  const { resource, kube } = world;
  if (resource === undefined) return undefined;
  const before = resource['spec'] as Record<string, unknown>;
  const isOld = random.chance(0.5);
  const kept = Object.entries(before).filter(([field]) =>
    isOld ? KNOWN.includes(field) : random.chance(0.8),
  );
  const { version, ...spec } = Object.fromEntries(kept);
  const keepsVersion = random.chance(0.5) && version !== undefined;
  world.dropped ??= before as EtcdClusterSpec;
  kube.put({ ...resource, spec: { ...spec, ...(keepsVersion && { version }), size: 1 + random.below(5) } });
  world.noteSize();
  // Of a cluster that is not recorded nobody knows what ran: a new one has the version of the documentation.
  const { incarnation } = (resource['status'] ?? {}) as EtcdClusterStatus;
  if (!keepsVersion && incarnation === undefined) world.invariants.asked.push(DEFAULT_VERSION);
  return `${isOld ? 'of 2019' : 'of another release'}${keepsVersion ? '' : ' without a version'}`;
};

/** Somebody replaces the object by a manifest, which has neither finalizers nor annotations (`kubectl replace`). */
const replacedByManifest: Fault = ({ resource, kube }) => {
  // With the status lost as well nobody could say which names were used.
  const { incarnation } = (resource?.['status'] ?? {}) as EtcdClusterStatus;
  if (resource === undefined || incarnation === undefined) return undefined;
  const { name, namespace = '' } = resource.metadata;
  kube.put({ ...resource, metadata: { name, namespace } });
  return '';
};

const clockJumped: Fault = (world, random) => {
  const jumps = [0, 0, 90_000, 3_600_000, -30_000, -3_600_000];
  world.skewMs = random.pick(jumps) ?? 0;
  if (world.skewMs !== 0) world.invariants.truth.hasJumped = true;
  return `${world.skewMs / 1_000} s`;
};

/** Another cluster domain for a cluster that lives: admission refuses it once the CRDs of this release are there. */
const domainChanged: Fault = (world, random) => {
  const ClusterDomain = random.chance(0.5) ? '.other.example' : null;
  // Users bring certificates that are good for the domain that is asked for at first.
  if (world.tls !== undefined && world.invariants.recordedAt === undefined) return undefined;
  world.edit({ pod: { ClusterDomain } } as EtcdClusterSpec);
  return String(ClusterDomain);
};

/** It takes a member half a minute to hash its keys. */
const hashesSlow: Fault = (world, random) => {
  world.hashesTakeMs = random.chance(0.5) ? 30_000 : 0;
  return `${world.hashesTakeMs / 1_000} s`;
};

const rivalBegun: Fault = world => {
  if (world.rival === undefined) world.beginRival();
  else world.endRival();
  return world.rival === undefined ? 'ends' : 'begins';
};

/** Everything is as it should be again, and users write again what their clients have dropped. */
export function mendApiserver(world: SimWorld): void {
  const { kube, dropped } = world;
  kube.thawLists();
  kube.refuses.clear();
  kube.mostPods = undefined;
  world.skewMs = 0;
  // Large databases stay large.
  world.hashesTakeMs = world.random.chance(0.3) ? 30_000 : 0;
  world.endRival();
  world.dropped = undefined;
  world.edit({ pod: { ClusterDomain: null } } as unknown as EtcdClusterSpec);
  if (dropped === undefined) return;
  const { storage } = dropped;
  const { version = worldVersion(world) } = world.spec as { version?: string };
  world.edit({ ...(storage && { storage }), ...(version !== undefined && { version }) });
}

/** What the members run, when the specification does not say what they should. */
function worldVersion({ resource }: SimWorld): string | undefined {
  const { currentVersion } = ((resource as KubeObject | undefined)?.['status'] ?? {}) as {
    currentVersion?: string;
  };
  return currentVersion;
}

export const faultsOfApiserver = {
  listsFrozen,
  callsRefused,
  podsLimited,
  putByOldClient,
  replacedByManifest,
  clockJumped,
  domainChanged,
  hashesSlow,
  rivalBegun,
} satisfies Record<string, Fault>;
