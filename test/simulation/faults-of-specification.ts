/** Users who change their mind about other things than the size, and others who stand in the way. */
import type { EtcdClusterSpec } from '../../src/api/schemas/types.ts';
import type { KubeObject, WritableObject } from '../../src/kube/port.ts';
import type { Fault } from './fault.ts';
import type { Random } from './random.ts';
import { NAMESPACE } from './sim-kube.ts';
import type { SimWorld } from './sim-world.ts';

const CLASS = 'StorageClass';
/** Nothing says whose it is. */
const FOREIGN = 'somebody-elses';

const POLICIES: readonly ((random: Random) => EtcdClusterSpec)[] = [
  random => ({ pod: { labels: { team: `team-${random.below(3)}` } } }),
  random => ({ pod: { annotations: { note: `${random.below(3)}` }, nodeSelector: { disk: 'fast' } } }),
  random => ({ pod: { resources: { requests: { cpu: `${1 + random.below(4)}` } } } }),
  random => ({ etcd: { quotaBackendBytes: 2_147_483_648 + random.below(3) * 1_073_741_824 } }),
  random => ({
    repair: { maxReplacementsPerHour: random.below(2), replaceAfterSeconds: random.below(1_000) },
  }),
  random => ({ storage: { retain: random.chance(0.5) ? 'Retain' : 'Delete' } }),
  random => ({
    maintenance: random.chance(0.7) ? { defragment: { schedule: '*/10 * * * *' } } : { defragment: {} },
  }),
  random => ({ storage: { retainDeadMemberFor: `${random.below(300)}s` } }),
];

const policyChanged: Fault = (world, random) => {
  const change = random.pick(POLICIES)?.(random) ?? {};
  world.edit(change);
  return JSON.stringify(change);
};

/** Labels that users want on the claims. */
const claimsLabelled: Fault = (world, random) => {
  if (!world.hasTemplate) return undefined;
  const labels = { tier: `tier-${random.below(3)}` };
  world.edit({ storage: { volumeClaimTemplate: { metadata: { labels }, spec: {} } } });
  return labels.tier;
};

/** Users want volumes of another class, which exists or is made later, or not at all until it is taken back. */
const classChanged: Fault = (world, random) => {
  if (!world.hasTemplate) return undefined;
  const storageClassName = random.pick(['standard', 'fast', 'fast']) ?? '';
  const isThere = world.kube.all(CLASS).some(({ metadata }) => metadata.name === storageClassName);
  if (!isThere && random.chance(0.7)) makeClass(world, storageClassName);
  world.edit({ storage: { volumeClaimTemplate: { spec: { storageClassName } } } });
  return storageClassName;
};

function makeClass({ kube }: SimWorld, name: string): void {
  const object = { apiVersion: 'storage.k8s.io/v1', kind: CLASS, metadata: { name } };
  kube.create({ ...object, provisioner: 'example.com/disk', allowVolumeExpansion: true } as WritableObject);
}

/** The storage driver cannot, or may not, enlarge a volume; or it can again. */
const growthRefused: Fault = (world, random) => {
  if (random.chance(0.5)) {
    world.kubelet.volumesAreStuck = !world.kubelet.volumesAreStuck;
    return `driver ${world.kubelet.volumesAreStuck}`;
  }
  const found = world.kube.all(CLASS)[0];
  if (found === undefined) return undefined;
  const allowVolumeExpansion = found['allowVolumeExpansion'] !== true;
  world.kube.change(found, { allowVolumeExpansion });
  return `class ${allowVolumeExpansion}`;
};

/** Somebody puts an object of their own where one of the cluster was. */
const nameTaken: Fault = (world, random) => {
  const object = random.pick([...world.kube.all('Service'), ...world.kube.all('PodDisruptionBudget')]);
  if (object === undefined || isForeign(object)) return undefined;
  const { apiVersion, kind, metadata } = object;
  world.kube.delete(kind, metadata.name);
  const labels = { owner: FOREIGN };
  world.kube.create({
    apiVersion,
    kind,
    metadata: { name: metadata.name, namespace: NAMESPACE, labels },
    spec: {},
  } as WritableObject);
  return `${kind} ${metadata.name}`;
};

function isForeign({ metadata }: KubeObject): boolean {
  return metadata.labels?.['owner'] === FOREIGN;
}

/** Asks for what cannot be had, or no more. */
const specBroken: Fault = (world, random) => {
  if (world.isBroken) {
    mendSpecification(world);
    return 'no more';
  }
  world.isBroken = true;
  // Before it is created any way of TLS is as good as another, and a lost status does not say which it was.
  const isCreated = world.invariants.recordedAt !== undefined && !world.invariants.forgot;
  if (random.chance(0.5) || !isCreated) world.edit({ pod: { labels: { app: 'other' } } });
  else
    world.edit({
      TLS: world.tls === undefined ? { auto: {} } : { static: null, auto: {} },
    } as EtcdClusterSpec);
  return JSON.stringify(world.spec.TLS ?? world.spec.pod);
};

/** Takes back what cannot be had, and what stands in the way. */
export function mendSpecification(world: SimWorld): void {
  const { resource, kube } = world;
  world.isBroken = false;
  world.kubelet.volumesAreStuck = false;
  if (resource === undefined) return;
  const { TLS: _, pod, ...spec } = world.spec;
  const { app: __, ...labels } = pod?.labels ?? {};
  const mended = { ...spec, pod: { ...pod, labels }, ...(world.tls && { TLS: world.tls }) };
  if (JSON.stringify(mended) !== JSON.stringify(world.spec)) kube.change(resource, { spec: mended });
  const { storageClassName } = spec.storage?.volumeClaimTemplate?.spec ?? {};
  const classes = kube.all(CLASS);
  if (storageClassName !== undefined && !classes.some(({ metadata }) => metadata.name === storageClassName))
    makeClass(world, storageClassName);
  for (const found of kube.all(CLASS)) kube.change(found, { allowVolumeExpansion: true });
  for (const object of [...kube.all('Service'), ...kube.all('PodDisruptionBudget')])
    if (isForeign(object)) kube.delete(object.kind, object.metadata.name);
}

export const faultsOfSpecification = {
  policyChanged,
  claimsLabelled,
  classChanged,
  growthRefused,
  nameTaken,
  specBroken,
} satisfies Record<string, Fault>;
