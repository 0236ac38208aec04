/** Whether an EtcdRestore may begin, as its own workflow and that of the cluster judge it before anything is touched. Pure. */
import { parseQuantity } from '../../api/values/quantity.ts';
import { minorOf } from '../../api/versions/compare.ts';
import {
  type Check,
  firstObstacle,
  isAwake,
  namesAreFree,
  serialsAreLeft,
  specificationIsUsable,
} from './obstacles.ts';
import { isAsleep } from '../model/hibernation.ts';
import { isTokenOfName, rebuiltIdentity } from '../model/identity.ts';
import { hasEnded } from '../model/member-names.ts';
import { denialOf } from '../model/member-probe.ts';
import type { Situation } from '../model/situation.ts';
import {
  firstRestored,
  certificateCoversEach,
  certificateCoversMembersFrom,
} from './certificate-coverage.ts';
import { returnTo } from './kept-incarnation.ts';
import { newerThan, restoredVersion } from '../model/restored-version.ts';
import { storageFor } from '../model/storage.ts';
import { certificatesAreGood, securityIsUnchanged } from './certificates.ts';
import { madeByOtherOperator } from './other-operator.ts';
import { judgeConfirmation } from './restore-confirmation.ts';
import { type NotAccepted, type Refusal, refused, type Wait, waits } from '../model/restore-acceptance.ts';
import {
  isOpened,
  type RestoreOfCluster,
  type RestoreSource,
  restoreUnderWay,
} from '../model/restore-of-cluster.ts';
import { isTotalLoss } from './total-loss.ts';
import { askedSize, LOG_BYTES } from './volume-sizes.ts';

/**
 * Pods of the cluster's members that are its own no more (somebody took their owner reference away) are nobody's to stop, and would
 * go on beside the restored cluster, behind the same Service.
 */
const noPodContinues: Check = ({ cluster, pods }) => {
  const strays = pods.filter(pod => !pod.owned && isTokenOfName(cluster.name, pod.token) && !hasEnded(pod));
  if (strays.length === 0) return undefined;
  const names = strays.map(({ name }) => name).join(', ');
  const message = `pod ${names} was created for a member of ${cluster.name} and has lost its owner reference: the operator does not stop it, and it would keep running beside the restored cluster; delete it`;
  return { reason: 'NameTaken', message };
};

/** Members of a restore are numbered above all that there ever were. */
const membersAreCertified: Check = situation =>
  certificateCoversMembersFrom(situation, firstRestored(situation));

/** Members that start again have the names that they had. */
const returnsAreCertified =
  (token: string): Check =>
  situation => {
    const judged = returnTo(situation, token);
    // v8 ignore next -- judgeConfirmation refuses it before these checks run
    if ('fault' in judged) return undefined;
    const members = judged.found.members.map(({ name }) => name);
    return certificateCoversEach(situation, members);
  };

const CHECKS: readonly Check[] = [
  noPodContinues,
  specificationIsUsable,
  isAwake,
  namesAreFree,
  serialsAreLeft,
  securityIsUnchanged,
  certificatesAreGood,
];

/**
 * Why the restore may not begin; undefined when it may. What is refused once stays refused. Whether what is there may be overwritten
 * is looked at before all that passes by itself: nothing comes to life unconfirmed later. Only in the middle of another restore
 * nobody can say yet which cluster it will be.
 */
export function whyNotAccepted(situation: Situation, restore: RestoreOfCluster): NotAccepted | undefined {
  return (
    restore.refusal ??
    ofOtherOperator(situation) ??
    otherUnderWay(situation, restore) ??
    judgeConfirmation(situation, restore) ??
    identityIsRecorded(situation) ??
    dataFits(situation, restore) ??
    canBeAsked(situation) ??
    otherFirst(situation, restore) ??
    obstacleOf(situation, restore)
  );
}

/** Restores of which one can be next: proved to be whole, not refused, and after all that is to be saved. The older one first. */
export function candidates({ restores = [], cluster }: Situation): readonly RestoreOfCluster[] {
  const hasData = cluster.status.clusterID !== undefined;
  const isReady = ({ source, refusal, unsaved = false }: RestoreOfCluster): boolean =>
    source !== undefined && refusal === undefined && !(unsaved && hasData);
  return inOrder(restores.filter(isReady));
}

/** Its members cannot be stopped, and their data not be put aside, as those of a cluster of this operator. */
function ofOtherOperator(situation: Situation): Refusal | undefined {
  const other = madeByOtherOperator(situation);
  return (
    other && refused('OtherOperator', `nothing is restored into ${situation.cluster.name}: ${other.message}`)
  );
}

/**
 * Whether all that the restore under way has made is lost, with what clients wrote into it, and its EtcdRestore is gone: nothing of it can be
 * completed or undone, and another restore may take its place.
 */
export function isGivenUp(situation: Situation): boolean {
  const under = restoreUnderWay(situation.cluster);
  const isThere = (situation.restores ?? []).some(({ uid }) => uid === under?.uid);
  return under !== undefined && !isThere && isOpened(situation) && isTotalLoss(situation);
}

/** One restore of a cluster at a time. */
function otherUnderWay(situation: Situation, restore: RestoreOfCluster): Wait | undefined {
  const { cluster } = situation;
  const under = restoreUnderWay(cluster);
  if (under === undefined || under.uid === restore.uid || isGivenUp(situation)) return undefined;
  return waitsFor(under.name, cluster.name, isAsleep(situation));
}

/** The older one first. */
function otherFirst(situation: Situation, restore: RestoreOfCluster): Wait | undefined {
  const [first] = candidates(situation);
  if (first === undefined || first.uid === restore.uid || restore.source === undefined) return undefined;
  return waitsFor(first.name, situation.cluster.name);
}

function waitsFor(other: string, cluster: string, isHibernated = false): Wait {
  const message = `EtcdRestore ${other} restores the cluster ${cluster} first; delete one of them`;
  const hibernated = `${message}. The cluster is hibernated: set its spec.hibernated to false to continue`;
  return waits('AnotherRestore', isHibernated ? hibernated : message);
}

function inOrder(restores: readonly RestoreOfCluster[]): readonly RestoreOfCluster[] {
  const keyOf = ({ createdAt, name }: RestoreOfCluster): string => `${createdAt} ${name}`;
  return restores.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
}

/** A lost status is recorded again first: what the restore puts aside must be known, so that it can be brought back. */
export function identityIsRecorded(situation: Situation): Wait | undefined {
  const { status, name } = situation.cluster;
  const found = status.incarnation === undefined ? rebuiltIdentity(situation) : undefined;
  // Nothing records an identity that nobody knows.
  if (found?.clusterId === undefined || found.incarnation.members.length === 0) return undefined;
  return waits('StatusLost', `the status of ${name} was lost and must be recorded again first`);
}

/** What the cluster itself says stands in the way of everything. */
function obstacleOf(situation: Situation, { incarnation }: RestoreOfCluster): Wait | undefined {
  const isCertified = incarnation === undefined ? membersAreCertified : returnsAreCertified(incarnation);
  const obstacle = firstObstacle(situation, [...CHECKS, isCertified]);
  return obstacle && waits(obstacle.reason, obstacle.message);
}

/** What is begun must be seen, and what is aborted be opened to clients again: both need members that answer the operator. */
function canBeAsked({ cluster, probes }: Situation): Refusal | undefined {
  const denial = Object.values(probes)
    .map(denialOf)
    .find(found => found !== undefined);
  if (denial === undefined) return undefined;
  return refused(
    'UsersWithoutTLS',
    `the members of ${cluster.name} reject the user of the operator (${denial}), so it could neither check the restore nor undo it: to restore into a new cluster, set spec.clusterTemplate with TLS.auto, and another name in spec.etcdCluster.name`,
  );
}

/** What is gone back to stays on its own volumes (kept-incarnation.ts). */
function dataFits(situation: Situation, { source, incarnation }: RestoreOfCluster): Refusal | undefined {
  return source === undefined || incarnation !== undefined ? undefined : sourceFits(situation, source);
}

function sourceFits(situation: Situation, source: RestoreSource): Refusal | undefined {
  const { cluster } = situation;
  const version = restoredVersion(cluster, source);
  const newer = newerThan(version, source);
  if (newer !== undefined) {
    return refused(
      'VersionTooOld',
      `the backup is from etcd ${newer}, but ${cluster.name} runs ${version}, which cannot read it: restore into a cluster of ${minorOf(newer)} or later`,
    );
  }
  if (source.authEnabled === true && cluster.config.TLS === undefined) {
    return refused(
      'UsersWithoutTLS',
      `the backup has authentication enabled, but ${cluster.name} has no TLS: without a certificate of a user with the role root the operator would lose access to its members; to restore into a new cluster, set spec.clusterTemplate with TLS.auto, and another name in spec.etcdCluster.name`,
    );
  }
  const { quotaBackendBytes: quota } = cluster.config.etcd;
  if (source.snapshotSize >= quota) {
    return refused(
      'QuotaTooSmall',
      `the database of the backup has ${source.snapshotSize} bytes, but the quota of ${cluster.name} is ${quota} (spec.etcd.quotaBackendBytes), so the members would refuse all writes; raise the quota, then send this EtcdRestore the signal resync`,
    );
  }
  const storage = cluster.status.storage ?? storageFor(situation);
  if (storage.kind === 'EmptyDir') {
    return refused(
      'NoVolumes',
      `${cluster.name} stores its data in its pods, but a backup can only be restored onto volumes: to restore into a new cluster, set spec.clusterTemplate with storage.volumeClaimTemplate, and another name in spec.etcdCluster.name`,
    );
  }
  return volumeFits(situation, source, askedSize(situation) ?? storage.size ?? '');
}

/** The volumes are made anew, of the size that the specification asks for. */
function volumeFits({ cluster }: Situation, source: RestoreSource, asked: string): Refusal | undefined {
  const size = parseQuantity(asked);
  // For a while the snapshot lies beside the database that is made of it.
  const needed = 2 * source.snapshotSize + LOG_BYTES;
  if (size === undefined || size >= needed) return undefined;
  return refused(
    'VolumeTooSmall',
    `a backup of ${source.snapshotSize} bytes needs volumes of at least ${needed} bytes, but those of ${cluster.name} have ${asked}: raise the size in spec.storage.volumeClaimTemplate of the EtcdCluster, then send this EtcdRestore the signal resync`,
  );
}
