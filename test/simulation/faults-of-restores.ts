/** Users who make backups, restore them in place, confirm, change their minds, and lose what they have in the store. */
import { ANNOTATION_INCARNATION, ANNOTATION_KEPT_BY_RESTORE, API_VERSION } from '../../src/api/names.ts';
import type { EtcdClusterStatus, EtcdRestoreSpec, EtcdRestoreStatus } from '../../src/api/schemas/types.ts';
import type { KubeObject, WritableObject } from '../../src/kube/port.ts';
import { hasEnded } from '../../src/planner/model/restore-of-cluster.ts';
import type { Fault } from './fault.ts';
import { CLUSTER } from './invariants.ts';
import { BACKUP, keyOf } from './sim-backups.ts';
import { NAMESPACE } from './sim-kube.ts';
import type { SimWorld } from './sim-world.ts';

/** What stands in the way of a restore until users take one of the two away. */
const ANOTHER = 'AnotherRestore';
/** Then nobody believes any more that what cannot be read will be there again. */
const MOST_FAILURES = 3;
/** So many EtcdRestores that have not ended stand beside each other. */
const MOST_AT_ONCE = 4;

const backedUp: Fault = world => backUp(world);

/** Somebody has a backup made; undefined when there is nobody to ask. */
export function backUp({ backups, etcd }: SimWorld): string | undefined {
  const leader = [...etcd.processes.values()].find(found => found.isLeader && etcd.hasQuorum(found));
  const path = leader && backups.take(CLUSTER, leader);
  // The others are there before their copies are.
  if (path !== undefined && backups.paths.length % 3 === 0) backups.copy(path);
  return path;
}

/** With the id of the cluster that may go, without, or with another one's; of a backup that is there or of none. Several stand side by side. */
const restoreAsked: Fault = (world, random) => {
  if (underWay(world).length >= MOST_AT_ONCE) return undefined;
  const path = random.chance(0.5) ? backUp(world) : random.pick([...world.backups.paths, 'etcd/of-nobody']);
  if (path === undefined) return undefined;
  const name = `back-${world.kube.all('EtcdRestore').length}`;
  if (world.kube.peek('EtcdRestore', name) !== undefined) return undefined;
  const confirmClusterID = random.chance(0.7) ? clusterIdOf(world) : random.pick([undefined, 'abcdef']);
  const which = random.chance(0.3)
    ? { backupRef: { name: BACKUP } }
    : { backupStorageType: 'S3', s3: { path, awsSecret: '' } };
  const spec = {
    etcdCluster: { name: CLUSTER },
    ...which,
    ...(confirmClusterID !== undefined && { confirmClusterID }),
    ...(random.chance(0.3) && { revisionBump: random.below(2) * 1_000 }),
    ...(random.chance(0.2) && { saveFirst: true }),
  };
  const metadata = { name, namespace: NAMESPACE };
  world.kube.create({ apiVersion: API_VERSION, kind: 'EtcdRestore', metadata, spec } as WritableObject);
  world.wake();
  return `${name} ${JSON.stringify(spec)}`;
};

/** What was before a restore is to be again: of an incarnation that is kept or of none, with the id of the cluster that runs or another one's. */
const goBackAsked: Fault = (world, random) => {
  if (underWay(world).length >= MOST_AT_ONCE) return undefined;
  const kept = keptTokens(world);
  const token = random.chance(0.9) ? random.pick(kept) : 'example-00000000-9';
  const confirmClusterID = random.chance(0.8) ? clusterIdOf(world) : 'abcdef';
  const name = `return-${world.kube.all('EtcdRestore').length}`;
  if (token === undefined || confirmClusterID === undefined) return undefined;
  if (world.kube.peek('EtcdRestore', name) !== undefined) return undefined;
  const spec = { etcdCluster: { name: CLUSTER }, incarnation: { token }, confirmClusterID };
  const metadata = { name, namespace: NAMESPACE };
  world.kube.create({ apiVersion: API_VERSION, kind: 'EtcdRestore', metadata, spec } as WritableObject);
  world.wake();
  return `${name} ${token} for ${confirmClusterID}`;
};

/** Incarnations of which a claim says that it is kept. */
function keptTokens({ kube }: SimWorld): readonly string[] {
  const tokens = kube
    .all('PersistentVolumeClaim')
    .filter(({ metadata }) => metadata.annotations?.[ANNOTATION_KEPT_BY_RESTORE] !== undefined)
    .flatMap(({ metadata }) => metadata.annotations?.[ANNOTATION_INCARNATION] ?? []);
  return [...new Set(tokens)];
}

/** The paths under which a backup lies. */
export function backupsLeft({ backups }: SimWorld): readonly string[] {
  return backups.paths.filter(path => backups.store.objects.has(keyOf(path)));
}

/** When members are gone for good that a quorum needs: a backup is restored, if there is one. */
export function restoreWhatIsLost(world: SimWorld): void {
  const { kube, random } = world;
  const path = random.pick(backupsLeft(world));
  const confirmClusterID = clusterIdOf(world);
  if (path === undefined || confirmClusterID === undefined || underWay(world).length > 0) return;
  const name = `lost-${kube.all('EtcdRestore').length}`;
  if (kube.peek('EtcdRestore', name) !== undefined) return;
  const spec = {
    etcdCluster: { name: CLUSTER },
    backupStorageType: 'S3',
    s3: { path, awsSecret: '' },
    confirmClusterID,
  };
  const metadata = { name, namespace: NAMESPACE };
  kube.create({ apiVersion: API_VERSION, kind: 'EtcdRestore', metadata, spec } as WritableObject);
  world.record(`! ${name} of ${path} in place of members that are gone for good`);
  world.wake();
}

const restoreConfirmed: Fault = (world, random) => {
  const found = random.pick(underWay(world));
  return found && confirm(world, found);
};

const restoreDeleted: Fault = (world, random) => {
  const found = random.pick(world.kube.all('EtcdRestore'));
  return found && remove(world, found);
};

/** Whatever is done of a restore just then. */
const restoreAborted: Fault = world => {
  if (statusOf(world).operation?.type !== 'restoreCluster') return undefined;
  world.operator.abort = true;
  return 'restoreCluster';
};

/** What lies in the store under the path of a backup is gone, or is another one. */
const backupSpoiled: Fault = ({ backups }, random) => {
  const path = random.pick(backups.paths);
  const other = random.pick(backups.paths);
  if (path === undefined || other === undefined) return undefined;
  const { objects } = backups.store;
  const found = objects.get(keyOf(other));
  if (found === undefined || path === other) objects.delete(keyOf(path));
  else objects.set(keyOf(path), found);
  return `${path}${path === other ? '' : ` with ${other}`}`;
};

/** What is to be done when every volume is lost: only where that may happen it ever is. */
const recoveryChanged: Fault = (world, random) => {
  const totalLoss = random.pick(['Report', 'RestoreLatestBackup'] as const) ?? 'Report';
  world.edit({ recovery: { totalLoss } });
  return totalLoss;
};

export const faultsOfRestores = {
  backedUp,
  restoreAsked,
  goBackAsked,
  restoreConfirmed,
  restoreDeleted,
  restoreAborted,
  backupSpoiled,
  recoveryChanged,
} satisfies Record<string, Fault>;

/** Whether a cluster is being created again of which nothing is recorded yet: the disks of the one before are all that there is. */
export function isSeeding(world: SimWorld): boolean {
  const { incarnation, clusterID } = statusOf(world);
  const { restore } = incarnation ?? {};
  return clusterID === undefined && restore !== undefined && restore.completedAt === undefined;
}

/** The EtcdBackup does, or fails to do, what it is asked for before an upgrade. */
export function answerBackups(world: SimWorld, chance: number): void {
  if (!world.backups.isAsked() || !world.random.chance(chance)) return;
  world.backups.ran(backUp(world) === undefined ? 'Failed' : 'Succeeded');
  world.wake();
}

/** Users answer what stands in the way of a restore, or take it back. */
export function obeyAboutRestores(world: SimWorld): void {
  for (const found of underWay(world)) {
    const { decision, failures = 0 } = world.restores.get(found.metadata.uid ?? '') ?? {};
    // It says what keeps it.
    if (wordOf(found).includes('spec.hibernated')) world.edit({ hibernated: false });
    else if (decision?.kind === 'blocked' || decision?.kind === 'refused')
      answer(world, found, decision.reason);
    else if (
      failures > MOST_FAILURES ||
      /abort the restore|does not contain the expected backup|s3:\S+ does not exist/.test(
        world.decision.message ?? '',
      )
    )
      world.record(`! restore is taken back ${remove(world, found)}`);
  }
}

function wordOf({ status }: KubeObject): string {
  return ((status ?? {}) as EtcdRestoreStatus).step ?? '';
}

function answer(world: SimWorld, found: KubeObject, reason: string): void {
  if (reason === ANOTHER && underWay(world).length > 1) return;
  const { currentVersion } = statusOf(world);
  if (reason === 'SpecInvalid' && currentVersion !== undefined && wordOf(found).startsWith('etcd ')) {
    if (world.spec.version !== currentVersion) world.edit({ version: currentVersion });
    return world.record(
      `! ${reason}: ${found.metadata.name} needs a version that there is: ${currentVersion}`,
    );
  }
  const { confirmClusterID } = found['spec'] as EtcdRestoreSpec;
  // It is confirmed, and its workflow has not looked again.
  const asksForId = reason === 'NotConfirmed' || reason === 'WrongClusterID';
  if (asksForId && confirmClusterID === clusterIdOf(world)) return;
  const isConfirmed = asksForId && world.random.chance(0.5);
  world.record(`! ${reason} ${isConfirmed ? confirm(world, found) : remove(world, found)}`);
}

/** Which restore has not ended. */
export function complaintAboutRestores(world: SimWorld): string | undefined {
  const [found] = underWay(world);
  const { phase } = (found?.['status'] ?? {}) as EtcdRestoreStatus;
  return found && `${found.metadata.name} has not ended: ${phase}`;
}

function underWay({ kube }: SimWorld): readonly KubeObject[] {
  return kube.all('EtcdRestore').filter(({ status }) => !hasEnded((status ?? {}) as EtcdRestoreStatus));
}

function confirm(world: SimWorld, { metadata: { name } }: KubeObject): string | undefined {
  const confirmClusterID = clusterIdOf(world);
  if (confirmClusterID === undefined) return undefined;
  world.kube.merge('EtcdRestore', name, { spec: { confirmClusterID } });
  world.wake();
  return `${name} for ${confirmClusterID}`;
}

function remove(world: SimWorld, { metadata: { name } }: KubeObject): string {
  world.kube.delete('EtcdRestore', name);
  world.wake();
  return name;
}

function clusterIdOf(world: SimWorld): string | undefined {
  return statusOf(world).clusterID;
}

function statusOf({ resource }: SimWorld): EtcdClusterStatus {
  return (resource?.['status'] ?? {}) as EtcdClusterStatus;
}
