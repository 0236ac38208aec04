/** What stands in the way of a restore before anything is touched. Pure. */
import { parseQuantity } from '../../api/quantity.ts';
import { compareVersions, minorOf } from '../../api/versions.ts';
import { type Check, firstObstacle, isAwake, namesAreFree, type Obstacle } from '../checks.ts';
import { serialsAreLeft, specificationIsUsable } from '../checks.ts';
import { memberNames } from '../members.ts';
import { isTotalLoss } from '../membership/total-loss.ts';
import { denialOf } from '../member-probe.ts';
import type { Observation } from '../observation.ts';
import { quorum } from '../quorum.ts';
import { storageFor } from '../storage.ts';
import { certificatesAreGood } from '../tls.ts';
import { type RestoreOfCluster, type RestoreSource, restoreUnderWay } from './of-cluster.ts';

const CHECKS: readonly Check[] = [
  specificationIsUsable,
  isAwake,
  namesAreFree,
  serialsAreLeft,
  certificatesAreGood,
];

/** What etcd writes beside the database: its log, and room to grow. */
const LOG_BYTES = 256 * 1024 * 1024;

/** Why the restore may not begin; undefined when it may. */
export function admission(observation: Observation, restore: RestoreOfCluster): Obstacle | undefined {
  return (
    otherFirst(observation, restore) ??
    firstObstacle(observation, CHECKS) ??
    canBeAsked(observation) ??
    (restore.source && sourceFits(observation, restore.source)) ??
    isConfirmed(observation, restore) ??
    isStillLost(observation, restore)
  );
}

/** One restore of a cluster at a time; the older one first. */
function otherFirst(
  { cluster, restores = [] }: Observation,
  restore: RestoreOfCluster,
): Obstacle | undefined {
  const under = restoreUnderWay(cluster);
  const waiting = inOrder(restores.filter(({ source }) => source !== undefined));
  const first = under ?? waiting[0];
  if (first === undefined || first.uid === restore.uid) return undefined;
  if (under === undefined && restore.source === undefined) return undefined;
  return {
    reason: 'AnotherRestore',
    message: `EtcdRestore ${first.name} restores the cluster ${cluster.name} first; delete one of the two`,
  };
}

/** The older one first. */
export function inOrder(restores: readonly RestoreOfCluster[]): readonly RestoreOfCluster[] {
  const keyOf = ({ createdAt, name }: RestoreOfCluster): string => `${createdAt} ${name}`;
  return restores.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
}

/** What is begun must be seen, and what is aborted be opened to clients again: both need members that tell the operator. */
function canBeAsked({ cluster, probes }: Observation): Obstacle | undefined {
  const denial = Object.values(probes)
    .map(denialOf)
    .find(found => found !== undefined);
  if (denial === undefined) return undefined;
  return {
    reason: 'UsersWithoutTLS',
    message: `the members of ${cluster.name} ask for a user that the operator is not (${denial}), so it could neither see what it restores nor take it back: write spec.clusterTemplate with TLS.auto, and another name into spec.etcdCluster.name, to restore into a new cluster`,
  };
}

function sourceFits(observation: Observation, source: RestoreSource): Obstacle | undefined {
  const { cluster } = observation;
  const version = cluster.status.currentVersion || cluster.config.version;
  const to = minorOf(version);
  for (const newer of [source.etcdVersion, source.storageVersion]) {
    const from = minorOf(newer ?? '');
    if (from === undefined || to === undefined || compareVersions(`${from}.0`, `${to}.0`) <= 0) continue;
    return {
      reason: 'VersionTooOld',
      message: `the backup comes from etcd ${newer}, and ${cluster.name} runs ${version}, which cannot read it: restore into a cluster of ${from} or later`,
    };
  }
  if (source.authEnabled === true && cluster.config.TLS === undefined) {
    return {
      reason: 'UsersWithoutTLS',
      message: `the backup has authentication switched on, and ${cluster.name} has no TLS: without a certificate of a user with the role root the operator could not ask its members any more; write spec.clusterTemplate with TLS.auto, and another name into spec.etcdCluster.name, to restore into a new cluster`,
    };
  }
  const storage = cluster.status.storage ?? storageFor(observation);
  if (storage.kind === 'EmptyDir') {
    return {
      reason: 'NoVolumes',
      message: `${cluster.name} keeps its data in its pods; a backup is restored onto volumes only: write spec.clusterTemplate with storage.volumeClaimTemplate, and another name into spec.etcdCluster.name, to restore into a new cluster`,
    };
  }
  const size = parseQuantity(storage.size ?? '');
  // For a while the snapshot lies beside the database that is made of it.
  const needed = 2 * source.snapshotSize + LOG_BYTES;
  if (size === undefined || size >= needed) return undefined;
  return {
    reason: 'VolumeTooSmall',
    message: `a backup of ${source.snapshotSize} bytes needs volumes of at least ${needed} bytes, and those of ${cluster.name} have ${storage.size}: raise the size in spec.storage.volumeClaimTemplate`,
  };
}

/**
 * A cluster that has quorum is not overwritten by mistake (etcd-io's disaster recovery starts from a loss of quorum). That nobody
 * answers the operator proves no loss: as long as Kubernetes shows enough members running, the cluster may serve its clients.
 */
function isConfirmed(observation: Observation, restore: RestoreOfCluster): Obstacle | undefined {
  const { cluster, membership } = observation;
  const { clusterID } = cluster.status;
  if (clusterID === undefined || restore.confirmClusterId === clusterID) return undefined;
  if (!membership.known && !mayHaveQuorum(observation)) return undefined;
  const state = membership.known ? 'has quorum' : 'does not answer, but may have quorum';
  return {
    reason: 'NotConfirmed',
    message: `the cluster ${cluster.name} ${state}, and would be overwritten: write its id, ${clusterID}, into spec.confirmClusterID to confirm that`,
  };
}

function mayHaveQuorum(observation: Observation): boolean {
  const names = memberNames(observation);
  const running = observation.pods.filter(
    ({ owned, name, phase, trouble }) =>
      owned && names.includes(name) && phase === 'Running' && trouble === undefined,
  );
  return running.length >= quorum(names.length);
}

/** What nobody asked for begins only upon the proof that it was made for. */
function isStillLost(
  observation: Observation,
  { onlyAfterTotalLoss }: RestoreOfCluster,
): Obstacle | undefined {
  if (onlyAfterTotalLoss !== true || isTotalLoss(observation)) return undefined;
  const message = `not every volume of ${observation.cluster.name} is lost any more, so nothing is restored by itself; delete this EtcdRestore`;
  return { reason: 'NotLost', message };
}
