/**
 * Whether a restore may take the place of what a cluster has. A user who overwrites data names the cluster that goes, by its id. Without
 * that only a cluster is restored whose data is proved lost, volume by volume: that nobody answers proves nothing, neither of one
 * member nor of all (etcd docs, "Disaster recovery", begins with members that are gone for good, not with silence). Pure.
 */
import { isAsleep } from '../model/hibernation.ts';
import { serialOf } from '../../api/names.ts';
import { rebuiltIdentity, stampsOf } from '../model/identity.ts';
import { memberNames } from '../model/member-names.ts';
import { returnTo } from './kept-incarnation.ts';
import { recoveryOf } from './recovery.ts';
import { isProvedLost, isTotalLoss, unlistedClaims } from './total-loss.ts';
import type { Situation } from '../model/situation.ts';
import { type NotAccepted, refused, waits } from '../model/restore-acceptance.ts';
import type { RestoreOfCluster } from '../model/restore-of-cluster.ts';

/**
 * The id of the cluster that lives or lived here: as it is recorded, else as claims, pods and the resource are stamped with it, else
 * as a quorum says, else that of the incarnation before: a status can be lost in the middle of a restore. Undefined: there has been none yet, or nothing shows it.
 */
function clusterIdOf(situation: Situation): string | undefined {
  const { cluster, membership } = situation;
  const reported = membership.known ? membership.clusterId : undefined;
  return cluster.status.clusterID ?? rebuiltIdentity(situation)?.clusterId ?? reported ?? idBefore(situation);
}

/** The newest id that anything of this cluster is stamped with. */
export function idBefore({ cluster, claims, pods }: Situation): string | undefined {
  const stamped = [...claims, ...pods].filter(({ owned }) => owned);
  const serial = ({ token = '' }: { readonly token?: string | undefined }): number => serialOf(token) ?? 0;
  return [...stamped, stampsOf(cluster)]
    .filter(({ clusterId }) => clusterId !== undefined)
    .toSorted((a, b) => serial(b) - serial(a))[0]?.clusterId;
}

/** Why what is there may not be overwritten; undefined when it may. */
export function judgeConfirmation(situation: Situation, restore: RestoreOfCluster): NotAccepted | undefined {
  const { onlyAfterTotalLoss, confirmClusterId: confirmed } = restore;
  if (onlyAfterTotalLoss === true) return judgeRescue(situation);
  if (restore.survivor !== undefined) return judgeRecovery(situation, restore, restore.survivor);
  if (restore.incarnation !== undefined) return judgeReturn(situation, restore, restore.incarnation);
  const { name } = situation.cluster;
  const id = clusterIdOf(situation);
  if (id === undefined) return judgeUnidentified(situation);
  if (confirmed === id) return undefined;
  if (confirmed !== '') {
    return refused(
      'WrongClusterID',
      `spec.confirmClusterID is ${confirmed}, but the id of the cluster ${name} is ${id}: nothing is overwritten; to overwrite this cluster, set it to ${id}`,
    );
  }
  if (isTotalLoss(situation)) return undefined;
  return refused(
    'NotConfirmed',
    `the cluster ${name} ${stateOf(situation)}, and would be overwritten: to confirm, set spec.confirmClusterID to its id, ${id}. Until then nothing is restored, whatever happens to ${name}`,
  );
}

/** What nobody asked for begins only upon the proof that it was made for. */
function judgeRescue(situation: Situation): NotAccepted | undefined {
  const { name, config } = situation.cluster;
  if (config.recovery.totalLoss !== 'RestoreLatestBackup') {
    const message = `spec.recovery.totalLoss of ${name} is now ${config.recovery.totalLoss}, so nothing is restored automatically; delete this EtcdRestore`;
    return refused('NotLost', message);
  }
  const message = `some volumes of ${name} are no longer lost, so nothing is restored automatically; delete this EtcdRestore`;
  return isTotalLoss(situation) ? undefined : refused('NotLost', message);
}

/** A cluster that nobody has an id of is a new one, unless something is there that only one that lived can have. */
export function judgeUnidentified(situation: Situation): NotAccepted | undefined {
  const { cluster, clientService } = situation;
  const isRecorded = cluster.status.incarnation !== undefined;
  // Clients are let in only after the id is recorded.
  const hasLived = isRecorded
    ? clientService.exists && clientService.owned
    : rebuiltIdentity(situation) !== undefined || situation.pods.some(({ owned }) => owned);
  if (!hasLived) return undefined;
  return waits(
    'IdentityUnknown',
    `the cluster ${cluster.name} has existed, but neither its status nor its claims and pods nor a quorum shows its id, which is needed to confirm that it may be overwritten: start its members again, or delete what is left of it`,
  );
}

/**
 * What was approved is exactly what is there until the last member of the cluster before is stopped: who comes back meanwhile ends it.
 */
function judgeRecovery(
  situation: Situation,
  { source, confirmClusterId }: RestoreOfCluster,
  {
    member,
    memberID: memberId,
    claimUID: claimUid,
    revision,
    givenUp,
  }: NonNullable<RestoreOfCluster['survivor']>,
): NotAccepted | undefined {
  const examined = source === undefined ? undefined : { member, memberId, claimUid, revision };
  const judged = recoveryOf(situation, { givenUp, examined });
  const other = (what: string) =>
    refused(
      'QuorumMayReturn',
      `nothing is recovered: ${what}. Delete this EtcdRestore; if the quorum is lost for good, approve what "kubectl etcd recover" shows then`,
    );
  if ('fault' in judged) return other(judged.fault);
  const { recovery } = judged;
  const { survivor } = recovery;
  if (recovery.clusterId !== confirmClusterId)
    return other(`the id of the cluster is ${recovery.clusterId}, and ${confirmClusterId} was approved`);
  if (survivor.id !== memberId || survivor.claimUid !== claimUid)
    return other(
      `${survivor.name} (${survivor.id}, claim ${survivor.claimUid}) has the newest data, and ${member} (${memberId}, claim ${claimUid}) was approved`,
    );
  if (recovery.revision !== revision)
    return other(`${member} has revision ${recovery.revision}, and ${revision} was approved`);
  const ids = recovery.givenUp.map(({ id }) => id);
  if (ids.length === givenUp.length && ids.every(id => givenUp.includes(id))) return undefined;
  return other(`${ids.join(', ')} would be given up, and ${givenUp.join(', ')} were approved`);
}

/** Only the id of the cluster that runs says what is given up: that it looks lost says nothing here. */
function judgeReturn(
  situation: Situation,
  { confirmClusterId: confirmed }: RestoreOfCluster,
  token: string,
): NotAccepted | undefined {
  const { cluster } = situation;
  const id = clusterIdOf(situation);
  if (id === undefined) return judgeUnidentified(situation) ?? noneRuns(cluster.name);
  if (confirmed === id) {
    const judged = returnTo(situation, token);
    return 'fault' in judged
      ? refused(judged.fault.reason, `nothing is gone back to: ${judged.fault.message}`)
      : undefined;
  }
  return refused(
    'WrongClusterID',
    `spec.confirmClusterID is ${confirmed}, but the id of the cluster ${cluster.name} that runs, and would be given up, is ${id}: look at "kubectl etcd incarnations ${cluster.name}"; to give it up, set spec.confirmClusterID to ${id}`,
  );
}

function noneRuns(cluster: string): NotAccepted {
  return waits(
    'ClusterMissing',
    `the cluster ${cluster} has not formed, so there is nothing to go back from`,
  );
}

function stateOf(situation: Situation): string {
  if (situation.membership.known) return 'has a quorum';
  if (isAsleep(situation)) return 'is hibernated, with its data on its volumes';
  const notLost = memberNames(situation).filter(name => !isProvedLost(situation, name));
  const left = [...notLost, ...unlistedClaims(situation)];
  const whose = left.length === 0 ? 'its data' : `the data of ${left.join(', ')}`;
  return `does not answer, which does not prove that ${whose} is lost`;
}
