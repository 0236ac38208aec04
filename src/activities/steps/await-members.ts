/** Waiting for members: until a quorum answers, or until every pod is ready. */
import { domainOf } from '../../api/derived/domain.ts';
import { denialOf, type MemberProbe } from '../../planner/model/member-probe.ts';
import type { PodFacts } from '../../planner/model/observation.ts';
import { hasArrived } from '../../planner/operations/upgrade/path.ts';
import { findObjects } from '../observe/cluster-objects.ts';
import { finalFailure } from '../runtime/failures.ts';
import type { Dependencies } from '../runtime/dependencies.ts';
import { POD } from '../runtime/kinds.ts';
import { podFacts } from '../observe/pod-facts.ts';
import { type WaitOutcome, waitUntil } from '../runtime/poll.ts';
import { type ClusterAddress, probeMembers } from '../observe/probe.ts';
import { readLivingCluster } from '../resource/etcd-cluster.ts';
import type { ClusterRef } from '../runtime/cluster-reference.ts';
import { clientAccess, readTlsSecrets } from '../observe/certificate-secrets.ts';
import type { Perform } from './shared/perform.ts';

/** Waits until a linearizable read and member list go through, so until a leader is elected. */
export const awaitQuorum: Perform<'awaitQuorum', WaitOutcome> = async (deps, ref, step) => {
  const address = await addressOf(deps, ref);
  return waitUntil(deps, async () => {
    const pods = await membersPods(deps, ref, step.members);
    const { membership, probes } = await probeMembers(deps.etcd, address, pods);
    if (membership.known) return 'done';
    for (const probe of Object.values(probes)) refuseDenied(probe);
    return troubleOr('notYet', pods);
  });
};

/** A restored member may ask for a user, which its backup brought (etcd's documentation: op-guide, authentication). */
function refuseDenied(probe: MemberProbe): void {
  const denial = denialOf(probe);
  if (denial === undefined) return;
  const message = `${denial}: the data has authentication enabled, and the operator is not a user with the role root. Restore into a cluster with TLS.auto, whose operator certificate is that of root, or with an operatorSecret for such a user; abort the restore to return to the previous state`;
  throw finalFailure('AuthenticationAsked', message);
}

/**
 * Waits until every member's pod is ready. Pods belong to the resource by its uid, so it is asked for only when they did not become
 * ready, which may be because it is gone.
 */
export const awaitMembers: Perform<'awaitMembers', WaitOutcome> = async (deps, ref, step) => {
  const outcome = await waitUntil(deps, async () => {
    const pods = await membersPods(deps, ref, step.members);
    const ready = pods.filter(pod => pod.ready && !pod.deleting);
    return ready.length === step.members.length ? 'done' : troubleOr('notYet', pods);
  });
  if (outcome !== 'done') await readLivingCluster(deps.kube, ref);
  return outcome;
};

/** Waits until the member's pod is ready and the member says that it runs this version. Its trouble may pass. */
export const awaitVersion: Perform<'awaitVersion', WaitOutcome> = async (deps, ref, step) => {
  const address = await addressOf(deps, ref);
  return waitUntil(deps, async () => {
    const [pod] = await membersPods(deps, ref, [step.member]);
    if (pod === undefined || !pod.ready || pod.deleting) return 'notYet';
    const { probes } = await probeMembers(deps.etcd, address, [pod]);
    const probe = probes[step.member];
    return probe?.answered === true && probe.version === step.version ? 'done' : 'notYet';
  });
};

/** Waits until every member says that cluster and data have arrived in the minor. */
export const awaitAgreement: Perform<'awaitAgreement', WaitOutcome> = async (deps, ref, step) => {
  const address = { ...(await addressOf(deps, ref)), asksAgreed: true };
  return waitUntil(deps, async () => {
    const pods = await membersPods(deps, ref, step.members);
    const { probes } = await probeMembers(deps.etcd, address, pods);
    const arrived = step.members.filter(name => {
      const probe = probes[name];
      return probe?.answered === true && hasArrived({ server: probe.version, ...probe.agreed }, step.minor);
    });
    return arrived.length === step.members.length ? 'done' : 'notYet';
  });
};

export async function addressOf(deps: Dependencies, ref: ClusterRef): Promise<ClusterAddress> {
  const cluster = await readLivingCluster(deps.kube, ref);
  return {
    ...ref,
    domain: domainOf(cluster),
    access: clientAccess(await readTlsSecrets(deps.kube, cluster)),
  };
}

export async function membersPods(
  deps: Dependencies,
  ref: ClusterRef,
  members: readonly string[],
): Promise<PodFacts[]> {
  const items = await findObjects(deps.kube, POD, { ...ref, names: members });
  return items.map(pod => podFacts(pod, ref.uid)).filter(pod => pod.owned && members.includes(pod.name));
}

/** A pod that Kubernetes cannot start is reported at once instead of waited for. */
function troubleOr(otherwise: WaitOutcome, pods: readonly PodFacts[]): WaitOutcome {
  return pods.some(pod => pod.trouble !== undefined) ? 'trouble' : otherwise;
}
