/**
 * A deleted EtcdCluster of the same name has left claims, or pods and claims. Taken up, this EtcdCluster becomes their owner: the same
 * members with the same data, under the same ids; pods that run are not restarted. From there the identity is read back from
 * what is stamped, as when a status was lost. Until a person has decided nothing is created
 * (docs/decisions/0124-what-another-cluster-left-is-not-taken.md).
 */
import { ANNOTATION_TAKE_UP, isNameOfMember, nextSerial } from '../../../api/names.ts';
import { blocked, type Decision, operate, type SharedObject, type Step } from '../../model/decision.ts';
import {
  isTokenOfName,
  lastSerialOf,
  ownsToken,
  rebuiltIdentity,
  takenUpPrefix,
} from '../../model/identity.ts';
import type { ObjectFacts, Observation } from '../../model/observation.ts';
import { identify } from '../../model/steps/row.ts';
import {
  choiceOf,
  doubtsAbout,
  type FormerIncarnation,
  formerIncarnations,
  isRestored,
  undecided,
} from '../../checks/former-cluster.ts';
import { madeByOtherOperator } from '../../checks/other-operator.ts';

/** Undefined once the cluster has an identity, and when nothing is left or it is to stay aside. */
export function planTakeUp(observation: Observation): Decision | undefined {
  const { cluster } = observation;
  if (cluster.status.incarnation !== undefined) return undefined;
  if (takenUpPrefix(cluster) !== undefined) return continued(observation);
  const stamp = stampAgain(observation);
  if (stamp !== undefined) return stamp;
  if (rebuiltIdentity(observation) !== undefined || madeByOtherOperator(observation) !== undefined)
    return undefined;
  if (isRestored(observation)) return undefined;
  const former = formerIncarnations(observation);
  const { takeUp, beginAnew } = choiceOf(observation);
  if (takeUp !== undefined && beginAnew === undefined) return asked(observation, former, takeUp);
  const obstacle = undecided(observation, former);
  return obstacle && blocked(obstacle);
}

/** A person named the incarnation. */
function asked(observation: Observation, former: readonly FormerIncarnation[], token: string): Decision {
  const { namespace, name } = observation.cluster;
  const named = former.find(each => each.token === token);
  if (named === undefined) {
    const left = former.map(each => each.token).join(', ') || 'none';
    const message = `the annotation ${ANNOTATION_TAKE_UP} names ${token}, of which neither a claim nor a pod with that annotation is in namespace ${namespace} (incarnations that are left: ${left}): bring the claims back, or remove the annotation; nothing is created meanwhile`;
    return blocked({ reason: 'TakeUpRefused', message });
  }
  const doubts = doubtsAbout(observation, named);
  const steps = takingUp(observation, named);
  if (doubts.length > 0) {
    const message = `incarnation ${token} of a deleted EtcdCluster ${name} is not taken up: ${doubts.join('; ')}`;
    return blocked({ reason: 'TakeUpRefused', message }, steps);
  }
  const going = named.pods.filter(({ unowned, deleting }) => deleting || unowned !== true);
  if (going.length > 0) {
    const message = `waiting until pod ${going.map(pod => pod.name).join(', ')} of the deleted EtcdCluster is gone`;
    return blocked({ reason: 'PodTerminating', message, waitMs: 5_000 }, steps);
  }
  return operate('repairCluster', steps);
}

/**
 * Pods that it owns, and that only a take-up can have given to it, are all that is left to show that: without the stamp their claims would be
 * nobody's, and the members would count as such that keep their data in their pods.
 */
function stampAgain(observation: Observation): Decision | undefined {
  const { cluster, claims } = observation;
  const { incarnation: { token } = { token: undefined }, clusterId } = rebuiltIdentity(observation) ?? {};
  if (!isTokenOfName(cluster.name, token) || ownsToken(cluster, token) || clusterId === undefined)
    return undefined;
  const left = claims.filter(claim => claim.token === token);
  const pods = observation.pods.filter(pod => pod.token === token);
  return operate('repairCluster', takingUp(observation, { token, claims: left, pods }));
}

/** It was begun: what still has no owner follows. */
function continued(observation: Observation): Decision | undefined {
  const { cluster, pods } = observation;
  const left = pods.filter(pod => pod.unowned === true && !pod.deleting && ownsToken(cluster, pod.token));
  const token = rebuiltIdentity(observation)?.incarnation.token;
  if (token === undefined || (left.length === 0 && sharedLeft(observation).length === 0)) return undefined;
  const claims = observation.claims.filter(claim => claim.owned && claim.token === token);
  return operate('repairCluster', takingUp(observation, { token, claims, pods: left }));
}

function takingUp(
  observation: Observation,
  { token, claims, pods }: Pick<FormerIncarnation, 'token' | 'claims' | 'pods'>,
): Step[] {
  const { cluster, namesSeen } = observation;
  const [clusterId = ''] = [...claims, ...pods].flatMap(object => object.clusterId ?? []);
  const names = [...namesSeen, ...[...observation.claims, ...observation.pods].map(({ name }) => name)];
  return [
    {
      kind: 'takeUpMembers',
      token,
      clusterId,
      // Names of other objects that are left are not used again.
      lastSerial:
        nextSerial(
          lastSerialOf(cluster),
          names.filter(each => isNameOfMember(cluster.name, each)),
        ) - 1,
      claims: identify(claims),
      pods: identify(pods),
      objects: sharedLeft(observation),
    },
  ];
}

function sharedLeft({ peerService, clientService, disruptionBudget }: Observation): SharedObject[] {
  const shared = Object.entries({ peerService, clientService, disruptionBudget }) as [
    SharedObject,
    ObjectFacts,
  ][];
  return shared.filter(([, { unowned }]) => unowned === true).map(([object]) => object);
}
