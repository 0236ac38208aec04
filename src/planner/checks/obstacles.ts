/**
 * Checks: small named functions from a situation to an obstacle, or nothing. Each
 * operation runs its list in order and stops at the first finding.
 */
import { clientServiceName, disruptionBudgetName, peerServiceName, serialOf } from '../../api/names.ts';
import { validateCluster } from '../../api/validation/validate.ts';
import type { Obstacle } from '../model/decision.ts';
import type { Situation } from '../model/situation.ts';

/** The highest number that a member's name can hold (serialOf in api/names.ts). */
const MAX_SERIAL = 999_999_999;

export type Check = (situation: Situation) => Obstacle | undefined;

/** The first obstacle that the checks find, in their order. */
export function firstObstacle(situation: Situation, checks: readonly Check[]): Obstacle | undefined {
  for (const check of checks) {
    const obstacle = check(situation);
    if (obstacle !== undefined) return obstacle;
  }
  return undefined;
}

/** The specification can be carried out: version, TLS and settings. Otherwise nothing is created for it. */
export const specificationIsUsable: Check = ({ cluster }) => {
  const [fault] = validateCluster(cluster.object, cluster.status.currentVersion).blocking;
  return fault && { reason: 'SpecInvalid', message: fault.message };
};

/** A cluster that is to sleep is not created first. */
export const isAwake: Check = ({ cluster }) =>
  cluster.config.hibernated
    ? {
        reason: 'Hibernated',
        message: 'the cluster is not created while spec.hibernated is true; set it to false',
      }
    : undefined;

/** Nobody else's objects stand under the names that this cluster needs. */
export const namesAreFree: Check = ({ cluster, peerService, clientService, disruptionBudget }) => {
  const objects = [
    { ...peerService, what: `Service ${peerServiceName(cluster.name)}` },
    { ...clientService, what: `Service ${clientServiceName(cluster.name)}` },
    { ...disruptionBudget, what: `PodDisruptionBudget ${disruptionBudgetName(cluster.name)}` },
  ];
  const foreign = objects.find(object => object.exists && !object.owned);
  return foreign && takenName(cluster, foreign.what);
};

function takenName({ namespace }: Situation['cluster'], what: string): Obstacle {
  return {
    reason: 'NameTaken',
    message: `${what} in namespace ${namespace} is not owned by this EtcdCluster; delete it or give the cluster another name`,
  };
}

/** A pod or claim with an absurd number under the cluster's name would leave no number above it for members. */
export const serialsAreLeft: Check = ({ cluster, namesSeen, pods, claims }) => {
  // On a living cluster only what bears its labels, or the name of a member, is looked for.
  const names = [...namesSeen, ...[...pods, ...claims].map(({ name }) => name)];
  const last = names.find(name => (serialOf(name) ?? 0) + cluster.config.size > MAX_SERIAL);
  return last === undefined
    ? undefined
    : {
        reason: 'SerialsExhausted',
        message: `the pod or claim ${last} in namespace ${cluster.namespace} has the highest possible number, and a new member needs a higher one; delete it or give the cluster another name`,
      };
};

/** The members find each other: nobody else's Service stands under the name by which they do. */
export const peerServiceNameIsFree: Check = ({ cluster, peerService }) =>
  peerService.exists && !peerService.owned
    ? takenName(cluster, `Service ${peerServiceName(cluster.name)}`)
    : undefined;

/**
 * Every member that answers belongs to the cluster that is recorded, or that is about to form, and every voter that serves to
 * the one that is listed.
 */
export const membersAreOurs: Check = situation => {
  const { cluster, probes } = situation;
  const recorded = cluster.status.clusterID;
  if (recorded === undefined) return volumesWereNew(situation);
  // One that never was a member is taken back (operations/membership/learner.ts), and keeps nobody else waiting.
  const beginners = situation.members.filter(({ isLearner, started }) => isLearner && !started);
  const members = Object.entries(probes).filter(
    ([name, probe]) =>
      probe.answered && (probe.clusterId === recorded || !beginners.some(view => view.name === name)),
  );
  const [foreign] = members.flatMap(([name, probe]) =>
    probe.answered && probe.clusterId !== recorded ? [{ name, seen: probe.clusterId }] : [],
  );
  if (foreign === undefined) return unlistedVoters({ ...situation, probes: Object.fromEntries(members) });
  const { name, seen } = foreign;
  return {
    reason: 'ClusterIdMismatch',
    message: `${name} reports cluster id ${seen}, but the recorded id is ${recorded}; the operator changes nothing until you have found the cause`,
  };
};

/**
 * etcd goes by the log that it finds, whatever its flags say: a volume that an earlier cluster of this name has left behind brings
 * that one's members and data back. The cluster's id shows both.
 */
export function volumesWereNew({
  cluster,
  membership,
  probes,
  expectedClusterId,
}: Pick<Situation, 'cluster' | 'membership' | 'probes' | 'expectedClusterId'>): Obstacle | undefined {
  const { namespace, name, status } = cluster;
  const { token = '' } = status.incarnation ?? {};
  const answers = Object.entries(probes).flatMap(([member, probe]) =>
    probe.answered ? [{ member, id: probe.clusterId }] : [],
  );
  if (membership.known) answers.push({ member: 'the quorum', id: membership.clusterId });
  const others = answers.filter(({ id }) => id !== (expectedClusterId ?? id));
  if (others.length === 0) return undefined;
  const ids = [...new Set(others.map(({ id }) => id))].join(', ');
  const who = others.map(({ member }) => member).join(', ');
  return {
    reason: 'ClusterIdMismatch',
    message: `${who} of EtcdCluster ${namespace}/${name} started as cluster ${ids}, but incarnation ${token} forms cluster ${expectedClusterId}: the volumes contain the data of another cluster, such as a former cluster of the same name. The operator records nothing, admits no clients and deletes nothing. To keep that data, set spec.storage.retain to Retain and delete this EtcdCluster; to discard it, empty the volumes and delete the pods`,
  };
}

/**
 * A voter through which a quorum has just read is a member: a list without it is that of another quorum, as of a member whose
 * volume was put back to a time when it was alone. Which of them has what clients wrote is not for the operator to guess.
 */
function unlistedVoters({ cluster, membership, probes }: Situation): Obstacle | undefined {
  if (!membership.known) return undefined;
  const listed = membership.members.map(({ id }) => id);
  const unlisted = Object.entries(probes).filter(
    ([, probe]) => probe.answered && probe.read.ok && !probe.isLearner && !listed.includes(probe.memberId),
  );
  if (unlisted.length === 0) return undefined;
  const names = unlisted.map(([name]) => name).join(', ');
  return {
    reason: 'ClusterIdMismatch',
    message: `${names} answers with a quorum of cluster ${cluster.status.clusterID}, and another quorum of the same cluster does not list it; the operator changes nothing until you have found the cause (run etcdctl member list against each member)`,
  };
}
