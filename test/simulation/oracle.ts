/**
 * Which steps are never allowed for what was observed, whatever led to them. Written from etcd's documents and source (each rule
 * names its place) and from what Kubernetes promises, and not from the planner: nothing of it is imported but types. It knows of
 * steps that do harm in some world that looks like this, not of those that are useless.
 */
import { ANNOTATION_CLUSTER_ID, ANNOTATION_INCARNATION } from '../../src/api/names.ts';
import type { Decision, Step } from '../../src/planner/model/decision.ts';
import type { Observation } from '../../src/planner/model/observation.ts';
import type { WorkflowState } from '../../src/planner/model/workflow-state.ts';
import { faultOfDowngrade, faultOfRestart, isFull } from './oracle-of-restarts.ts';
import {
  differs,
  faultOfCorruptDisarm,
  faultOfCorruptRemoval,
  isOnlyCorrupt,
} from './oracle-of-corruption.ts';
import {
  claimOf,
  isLost,
  isOver,
  isWell,
  lookAt,
  type Look,
  nameOf,
  quorumOf,
  type Row,
} from './oracle-look.ts';

type Operate = Extract<Decision, { kind: 'operate' }>;
type Of<Kind extends Step['kind']> = Extract<Step, { kind: Kind }>;

/** Whether a step gives back what the operator took from a member: that is done before a pause begins. */
function givesBack({ pods, claims, cluster }: Observation, step: Step): boolean {
  switch (step.kind) {
    case 'admitMembers':
      return step.pods.every(({ name }) => pods.find(pod => pod.name === name)?.clients === 'withdrawn');
    case 'restartMember':
      return (
        cluster.status.operation?.type === 'wakeCluster' ||
        claims.find(claim => claim.name === step.member)?.stopped !== undefined
      );
    case 'stopMember':
    case 'replaceImage':
      return pods.find(pod => pod.name === step.member)?.ready === false;
    case 'removeFinalizer':
      // When nothing is left to be stopped or deleted it takes nothing from anybody (docs/operations/delete.md).
      return true;
    default:
      return false;
  }
}

/** Why this must not be done now; undefined when nothing speaks against it. */
export function forbidden(
  observation: Observation,
  workflowState: WorkflowState,
  { step, operation }: Pick<Operate, 'step' | 'operation'>,
): string | undefined {
  const look = lookAt(observation, workflowState);
  const { cluster } = observation;
  const isEnd = givesBack(observation, step);
  if (workflowState.paused !== undefined && !isEnd) return 'users paused the work';
  if (cluster.config.paused && operation !== 'deleteCluster' && !isEnd) return 'spec.paused is true';
  switch (step.kind) {
    case 'addLearner':
      return faultOfAdd(look, step);
    case 'promoteLearner':
      return faultOfPromotion(look, step);
    case 'removeMember':
      return faultOfRemoval(look, step);
    case 'bootstrapMembers':
      return faultOfBootstrap(look, step);
    case 'recordIncarnation':
      // What is already recorded is no beginning.
      return step.clusterId === undefined && cluster.status.incarnation?.token !== step.incarnation.token
        ? faultOfBeginning(look)
        : undefined;
    case 'recordClusterId':
      return cluster.status.clusterID === undefined ? faultOfRecord(look) : 'a cluster id is recorded';
    case 'restartMember':
    case 'createMember':
    case 'startSeed':
      return faultOfStart(look, step);
    case 'retireMember':
      return faultOfRetirement(look, step);
    case 'releaseClaims':
    case 'deletePods':
    case 'removeFinalizer':
      return cluster.deleting ? faultOfDeletion(look, step) : 'nobody deletes the cluster';
    case 'stopMember':
    case 'replaceImage':
    case 'defragmentMember':
      return faultOfRestart(look, step);
    case 'enableDowngrade':
    case 'cancelDowngrade':
      return faultOfDowngrade(look, step);
    case 'moveLeader':
      // One whose database is full leads as any other.
      return look.voters.some(
        row =>
          row.id === step.toId &&
          (isWell(look, row) || isFull(look, row) || isOnlyCorrupt(look, row)) &&
          !differs(look, nameOf(row)),
      )
        ? undefined
        : 'who is to lead is no voter that is seen well';
    case 'disarmNoSpace':
      return faultOfDisarm(look);
    case 'disarmCorrupt':
      return faultOfCorruptDisarm(look);
    case 'withdrawMembers':
      return step.pods.every(({ name }) => differs(look, name))
        ? undefined
        : 'the data of the majority is kept from clients';
    case 'compactHistory':
      return workflowState.approvals?.some(({ ids }) => ids.some(id => id.endsWith(` ${step.revision}`))) ===
        true
        ? undefined
        : 'nobody approved that history goes';
    case 'fenceMembers':
    case 'switchIncarnation':
    case 'requestRestore':
      return faultOfRestore(look, step);
    case 'requestRecovery':
    case 'inspectSurvivor':
      return faultOfRecovery(look, workflowState, step);
    case 'revertRestore':
      if (observation.cluster.status.incarnation?.restore?.returned === true && step.claims.length > 0)
        return 'a claim that was there before would be deleted';
      return step.claims.some(
        ({ name, uid }) => look.claim(name)?.uid === uid && look.claim(name)?.keptByRestore === true,
      )
        ? 'a claim that a restore put aside would be deleted'
        : undefined;
    default:
      return undefined;
  }
}

/** A quorum that may come back loses nothing (op-guide/recovery); without a person nobody says what may be lost. */
function faultOfRecovery(
  look: Look,
  workflowState: WorkflowState,
  step: Of<'requestRecovery'> | Of<'inspectSurvivor'>,
): string | undefined {
  const { cluster, probes } = look.observation;
  if (look.rows.length > 0) return 'a quorum answers';
  const { lastSeen = [] } = cluster.status;
  const isVoter = (name: string): boolean => lastSeen.find(each => each.name === name)?.learner !== true;
  const voters = look.names().filter(isVoter);
  const led = Object.values(probes).some(
    probe => probe.answered && probe.leaderId !== undefined && !probe.isLearner,
  );
  if (led) return 'a member knows a leader';
  if (step.kind === 'inspectSurvivor')
    return look.claim(step.member)?.uid === step.claimUid ? undefined : 'it is not the claim of the member';
  const words = (workflowState.approvals ?? []).filter(({ operation }) => operation === 'recoverQuorum');
  const said = words.filter(
    ({ ids }) => ids.includes(`survivor=${step.survivor.id}`) && ids.includes(`revision=${step.revision}`),
  );
  if (said.length === 0) return 'nobody approved of it';
  const named = (name: string): boolean => {
    const id = lastSeen.find(each => each.name === name)?.id;
    const pod = look.pod(name);
    const runs = pod !== undefined && pod.trouble === undefined;
    return !runs && said.some(({ ids }) => ids.includes(`givenUp=${id}`));
  };
  const left = voters.filter(name => !isLost(look, name) && !named(name));
  return left.length < quorumOf(voters.length)
    ? undefined
    : `${left.join(', ')} are not proved lost, and are a quorum of ${voters.length}`;
}

/**
 * etcd refuses to add while a voter is away, and a dead voter is removed first (runtime-configuration, "Strict reconfiguration"). Without space it
 * refuses keys and leases, not members (server/etcdserver/apply.go, applierV3Capped).
 */
function faultOfAdd(look: Look, { member, peerUrl }: Of<'addLearner'>): string | undefined {
  const { rows, voters, observation } = look;
  if (rows.length === 0) return 'the members are not known';
  const unwell = voters.find(row => !isWell(look, row) && !isFull(look, row));
  if (unwell !== undefined) return `voter ${nameOf(unwell)} is not seen well, and was not removed`;
  // One learner at a time (membership/cluster.go, maxLearners).
  if (rows.some(({ isLearner }) => isLearner)) return 'somebody else is still joining';
  const seen = [
    ...rows.map(nameOf),
    ...observation.pods.map(p => p.name),
    ...observation.claims.map(c => c.name),
  ];
  if (seen.includes(member) || rows.some(({ peerUrls }) => peerUrls.includes(peerUrl)))
    return `${member} was there before: its name, volume and URL are not used twice`;
  return rows.length > observation.cluster.config.size
    ? 'there are more members than are asked for'
    : undefined;
}

/** The next write would raise it again (op-guide/maintenance, "Space quota"); CORRUPT is looked into before anything is written. */
function faultOfDisarm({ rows, observation: { probes } }: Look): string | undefined {
  if (rows.length === 0) return 'the members are not known';
  const silent = rows.find(row => probes[nameOf(row)]?.answered !== true);
  if (silent !== undefined) return `nobody knows whether ${nameOf(silent)} has room`;
  const errors = Object.values(probes).flatMap(probe => (probe.answered ? probe.errors : []));
  return errors.some(error => error.includes('CORRUPT')) ? 'CORRUPT stands' : undefined;
}

/** As a voter it counts against quorum (learning/design-learner): nobody else may be away, and it must never start empty. */
function faultOfPromotion(look: Look, { id }: Of<'promoteLearner'>): string | undefined {
  const row = look.rows.find(candidate => candidate.id === id);
  if (row?.isLearner !== true) return 'it is no learner';
  const unwell = look.voters.find(other => !isWell(look, other) && !isFull(look, other));
  if (unwell !== undefined) return `voter ${nameOf(unwell)} is not seen well`;
  const pod = look.pod(nameOf(row));
  if (pod === undefined || pod.deleting) return 'it has no pod that stays';
  return pod.firstStart === 'open' ? 'as a voter it could start on an empty volume' : undefined;
}

/** What leaves must leave a quorum of started, healthy voters of the new configuration behind (server.go, mayRemoveMember). */
function faultOfRemoval(look: Look, step: Of<'removeMember'>): string | undefined {
  const { id } = step;
  const { rows, voters } = look;
  const row = rows.find(candidate => candidate.id === id);
  if (row === undefined) return 'it is no member';
  if (!look.isOurs(row)) return 'it was added by hand';
  if (row.isLearner) return undefined;
  if (step.replacement === 'Corrupt') return faultOfCorruptRemoval(look, row);
  const rest = voters.filter(other => other.id !== id);
  // One whose database is full votes.
  const votes = (other: Row) => isFull(look, other) || isOnlyCorrupt(look, other);
  const well = rest.filter(other => isWell(look, other) || (votes(other) && !isWell(look, row)));
  if (rest.length === 0) return 'it is the last voter';
  if (well.length < quorumOf(rest.length))
    return `of ${rest.length} voters that stay ${well.length} are seen well`;
  if (isWell(look, row) && well.length < rest.length)
    return 'a healthy member goes while another one is away';
  if (rows.length > look.observation.cluster.config.size || look.isNamed(row)) return undefined;
  if (isWell(look, row)) return 'it is well, and nobody asked for fewer';
  return isLost(look, nameOf(row)) ? undefined : 'nothing proves that its data is lost, and nobody named it';
}

/** `new` is said once (op-guide/clustering): two emptied members that bootstrap again outvote the one that has the data. */
function faultOfBootstrap(look: Look, { members }: Of<'bootstrapMembers'>): string | undefined {
  const { status } = look.observation.cluster;
  if (status.clusterID !== undefined) return 'the cluster has bootstrapped before';
  const lived = members.find(name => look.rows.some(row => row.started && nameOf(row) === name));
  return lived && `${lived} has started before`;
}

/** An empty cluster in place of one that lived is taken by its clients for the old one. */
function faultOfBeginning({ observation }: Look): string | undefined {
  const { cluster, claims, pods } = observation;
  const { annotations = {} } = cluster.object.metadata;
  const stamped = [...claims, ...pods].find(({ owned, clusterId }) => owned && clusterId !== undefined);
  if (stamped !== undefined) return `${stamped.name} says that the cluster has lived`;
  const isOwn = annotations[ANNOTATION_INCARNATION]?.startsWith(
    `${cluster.name}-${cluster.uid.slice(0, 8)}-`,
  );
  return isOwn === true && annotations[ANNOTATION_CLUSTER_ID] !== undefined
    ? 'the resource says that the cluster has lived'
    : undefined;
}

/** A restored cluster is what its first member was made of (op-guide/recovery): one without it has not been restored. */
function faultOfRecord({ rows, observation }: Look): string | undefined {
  const { restore, members = [] } = observation.cluster.status.incarnation ?? {};
  const isListed = members.some(({ name }) => rows.some(row => nameOf(row) === name));
  if (restore === undefined || restore.completedAt !== undefined || rows.length === 0 || isListed)
    return undefined;
  return 'what was restored is no member of what would be recorded';
}

/** One process for one id, on the very data that it had (FAQ, "Should I add a member before removing an unhealthy member?"). */
function faultOfStart(
  look: Look,
  step: Of<'restartMember'> | Of<'createMember'> | Of<'startSeed'>,
): string | undefined {
  const { member, token } = step;
  const { status } = look.observation.cluster;
  const claim = look.claim(member);
  if (status.incarnation?.token !== token) return 'it is of another incarnation than is recorded';
  // Kubernetes keeps two pods of one name apart; one that ends is not gone.
  const pod = look.pod(member);
  if (pod?.owned === true && (pod.deleting || !isOver(pod)))
    return 'its pod is there: two processes with one id';
  if (step.kind === 'startSeed') {
    const old = look.observation.pods.find(pod => pod.owned && pod.token !== token);
    if (old !== undefined) return `${old.name} of the cluster before is still there`;
  }
  const row = look.rows.find(candidate => nameOf(candidate) === member);
  if (look.rows.length > 0 && row === undefined) return 'it is no member';
  if (claim?.token !== undefined && claim.token !== token) return 'its volume is of another incarnation';
  const isOther =
    status.clusterID !== undefined && claim?.clusterId !== undefined && claim.clusterId !== status.clusterID;
  if (isOther) return 'its volume is of another cluster';
  if (step.kind === 'createMember')
    return row?.started === true && claimOf(look, member) === undefined
      ? 'it would start empty under an old id'
      : undefined;
  if (claim === undefined || claim.uid !== step.claimUid) return 'the volume is not the one that it had';
  if (claim.deleting || claim.phase === 'Lost') return 'its volume goes';
  return look.isExchanged(member) ? 'its volume was exchanged' : undefined;
}

/** A volume of somebody who is a member, or may be, is never deleted. */
function faultOfRetirement(look: Look, { pods, claims, retention }: Of<'retireMember'>): string | undefined {
  if (look.rows.length === 0) return 'the members are not known';
  const names = look.rows.map(nameOf);
  const still = [...pods, ...claims].find(({ name }) => names.includes(name));
  if (still !== undefined) return `${still.name} is a member`;
  const isForeign = look.rows.some(row => !look.isOurs(row));
  if (retention === 'Delete' && claims.length > 0 && isForeign)
    return 'not every member is known by its name';
  return faultOfDeletion(look, { kind: 'retire', claims: retention === 'Delete' ? claims : [] });
}

function faultOfDeletion(
  { observation, claim }: Look,
  step: { readonly kind: string; readonly claims?: readonly { readonly name: string }[] },
): string | undefined {
  const { claims = [] } = step;
  if (claims.length > 0 && observation.cluster.config.storage.retain === 'Retain')
    return 'volumes are to be kept';
  const kept = claims.find(({ name }) => claim(name)?.keptByRestore === true || claim(name)?.owned !== true);
  return kept && `the claim ${kept.name} is to be kept`;
}

/** Of the cluster that is there: as recorded, else as its incarnation's claims and pods are stamped, else as any claim is. */
function idsThatLived({ observation: { cluster, claims, pods } }: Look): string[] {
  const { clusterID, incarnation } = cluster.status;
  if (clusterID !== undefined) return [clusterID];
  const idsOf = (objects: readonly { readonly owned: boolean; readonly clusterId?: string | undefined }[]) =>
    objects.flatMap(({ owned, clusterId }) => (owned && clusterId !== undefined ? [clusterId] : []));
  const ofNewest = idsOf([...claims, ...pods].filter(({ token }) => token === incarnation?.token));
  return ofNewest.length > 0 ? ofNewest : idsOf(claims);
}

/** Members start on data that exists, as many as elect a leader; and a person has named what is given up, whatever became of it. */
function faultOfReturn(
  look: Look,
  { claims, members }: NonNullable<Of<'switchIncarnation'>['back']>,
  named: readonly { readonly confirmClusterId: string; readonly incarnation?: string }[],
): string | undefined {
  const lived = idsThatLived(look);
  const asked = named.filter(({ confirmClusterId }) => lived.includes(confirmClusterId));
  if (asked.length === 0) return `nobody confirmed that ${lived.join()} is given up`;
  const bad = claims.find(({ name, uid }) => {
    const claim = look.claim(name);
    const isAsked = asked.some(({ incarnation }) => incarnation === claim?.token);
    return claim?.uid !== uid || claim.deleting || claim.phase === 'Lost' || !isAsked;
  });
  if (bad !== undefined) return `the claim ${bad.name} is none of what is gone back to`;
  const voters = members.filter(({ learner }) => learner !== true);
  const have = voters.filter(({ name }) => claims.some(claim => claim.name === name));
  return have.length >= quorumOf(voters.length)
    ? undefined
    : `${have.length} of ${voters.length} voters have their claims`;
}

/** What is given up can be gone back to in turn. */
function faultOfKeeping(
  { observation: { cluster, claims } }: Look,
  keep: Of<'switchIncarnation'>['keep'],
): string | undefined {
  const { token } = cluster.status.incarnation ?? {};
  const forgotten = claims.find(
    claim => claim.owned && claim.token === token && !keep.some(({ uid }) => uid === claim.uid),
  );
  return forgotten && `the claim ${forgotten.name} would not be kept`;
}

/** Loss of quorum is never made good without a person (op-guide/recovery): only the loss of all data is, and that is proved. */
function faultOfRestore(
  look: Look,
  step: Of<'fenceMembers'> | Of<'switchIncarnation'> | Of<'requestRestore'>,
): string | undefined {
  const { cluster, restores = [] } = look.observation;
  const { status, deleting } = cluster;
  const { restore: under } = status.incarnation ?? {};
  if (deleting) return 'the cluster is being deleted';
  // What was made of a backup and is not open to clients holds nothing that the backup does not.
  if (under !== undefined && under.completedAt === undefined && status.clusterID === undefined)
    return step.kind === 'fenceMembers' ? undefined : 'a restore is under way';
  const isAllLost = look.names().length > 0 && look.names().every(name => isLost(look, name));
  // Nobody is stopped who has anything, and clients were not let in yet.
  if (under !== undefined && under.completedAt === undefined && isAllLost && step.kind === 'fenceMembers')
    return undefined;
  if (under !== undefined && under.completedAt === undefined) return 'a restore is under way';
  if (step.kind === 'requestRestore') return isAllLost ? undefined : 'not every volume is proved lost';
  const proved = restores.filter(({ source }) => source !== undefined);
  if (proved.length === 0) return 'no backup is proved';
  const lived = idsThatLived(look);
  if (lived.length === 0) return undefined;
  const named = proved.filter(({ uid }) => step.kind === 'fenceMembers' || uid === step.restore.uid);
  if (step.kind === 'switchIncarnation' && step.back !== undefined)
    return faultOfReturn(look, step.back, named) ?? faultOfKeeping(look, step.keep);
  if (named.some(({ confirmClusterId }) => lived.includes(confirmClusterId)) || isAllLost) return undefined;
  return `nobody confirmed that ${[...new Set(lived)].join()} may go, and its data is not proved lost`;
}
