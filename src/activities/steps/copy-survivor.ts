/** The step that takes over the data of a survivor. It observes, acts once and observes again, and can run twice. */
import { statusNamed } from '../../objects/containers.ts';
import {
  inspectionPodName,
  SURVIVOR_COPIER,
  type SurvivorFacts,
  survivorPodName,
} from '../../objects/survivor-pod.ts';
import { timestamp } from '../../api/values/time.ts';
import type { KubeObject } from '../../kube/port.ts';
import { readLivingCluster, recordStatus } from '../resource/etcd-cluster.ts';
import type { ClusterRef } from '../runtime/cluster-reference.ts';
import type { Dependencies } from '../runtime/dependencies.ts';
import { exitWords, memoryOf } from '../observe/container-exit.ts';
import type { PodStatus } from '../observe/pod-trouble.ts';
import { finalFailure, preconditionChanged } from '../runtime/failures.ts';
import { CLAIM, POD } from '../runtime/kinds.ts';
import type { WaitOutcome } from '../runtime/poll.ts';
import type { Perform } from './shared/perform.ts';
import { createHelper, createVolume, helperWorked, readBoth, recordSeeding } from './shared/seeding.ts';
import { inspectionPodOf, survivorPodOf } from './shared/seed-objects.ts';
import { stillPlanned } from './shared/still-planned.ts';

const WORK = { container: SURVIVOR_COPIER, endOf };

/** Makes the claim of the first member, has a pod copy the data onto it, and records that it is there. */
export const copySurvivor: Perform<'copySurvivor', WaitOutcome> = async (deps, ref, step) => {
  const { cluster, restore } = await readBoth(deps, ref, step);
  const { survivor } = step;
  const claim = await deps.kube.get({ ...CLAIM, namespace: ref.namespace, name: survivor.name });
  if (claim === undefined || claim.metadata.uid !== survivor.claimUid)
    throw preconditionChanged(
      `claim ${survivor.name} is not the claim that contains the data of the survivor`,
    );
  await createVolume(deps, cluster, step);
  const pod = { ...POD, namespace: ref.namespace, name: survivorPodName(step.member) };
  await createHelper(deps, await survivorPodOf(deps, { cluster, restore, step }));
  const { end, trouble, outcome } = await helperWorked(deps, pod, WORK);
  // Nobody else looks at this pod: what keeps it from starting would be silence.
  if (end === undefined && trouble !== undefined)
    throw finalFailure('SeedFailed', `pod ${pod.name} does not start: ${trouble}`);
  if (end === undefined) return outcome;
  if (end.failure === undefined) await recordSeeding(deps, ref, { token: step.token, filled: true });
  await deps.kube.delete(pod, { gracePeriodSeconds: 1 });
  if (end.failure !== undefined)
    throw finalFailure(
      'SeedFailed',
      `the data of ${survivor.name} could not be taken over: ${end.failure}. It is as it was; abort the recovery to return to the members before`,
    );
  return 'done';
};

/** Looks at the data of a member that does not answer, in a pod that cannot write to it, and records what it is. */
export const inspectSurvivor: Perform<'inspectSurvivor', WaitOutcome> = async (deps, ref, step) => {
  const { cluster } = await stillPlanned(deps, ref, step);
  const pod = { ...POD, namespace: ref.namespace, name: inspectionPodName(step.member) };
  await createHelper(deps, await inspectionPodOf(deps, { cluster, step }));
  const { end, trouble, outcome } = await helperWorked(deps, pod, WORK);
  if (end === undefined && trouble === undefined) return outcome;
  // It uses the volume of a member: gone before anything else is done.
  await deps.kube.delete(pod, { gracePeriodSeconds: 1 });
  const failure = end?.failure ?? trouble;
  if (failure !== undefined)
    throw finalFailure(
      'InspectionFailed',
      `the data of ${step.member} could not be inspected: ${failure}. Its volume is as it was, and the operator tries again. Correct what keeps pod ${pod.name} from working; if its data cannot be read, recover from another member and name its id with "kubectl etcd recover --give-up"`,
    );
  await recordInspection(deps, ref, { member: step.member, claimUid: step.claimUid, facts: end?.facts });
  return 'done';
};

async function recordInspection(
  deps: Dependencies,
  ref: ClusterRef,
  {
    member: name,
    claimUid: claimUID,
    facts,
  }: { readonly member: string; readonly claimUid: string; readonly facts: SurvivorFacts | undefined },
): Promise<void> {
  if (facts === undefined)
    throw finalFailure('InspectionFailed', `the pod that inspected ${name} said nothing`);
  const cluster = await readLivingCluster(deps.kube, ref);
  const { revision, clusterId: clusterID, raftTerm, raftIndex, hash } = facts;
  const others = (cluster.status?.survivors ?? []).filter(each => each.name !== name);
  const found = {
    ...{ name, claimUID, clusterID, raftTerm, raftIndex },
    revision: Number(revision),
    hash,
    time: timestamp(deps.now()),
  };
  await recordStatus(deps.kube, cluster, { survivors: [...others, found] });
}

interface End {
  /** Absent: all is well. */
  readonly failure?: string;
  readonly facts?: SurvivorFacts;
}

/** How the work of the pod ended; undefined while it has not. What else runs in it need not end. */
function endOf(pod: KubeObject | undefined): End | undefined {
  if (pod === undefined) return undefined;
  const status = (pod['status'] ?? {}) as PodStatus;
  const ended = statusNamed(status, SURVIVOR_COPIER)?.state?.terminated;
  if (ended?.exitCode === 0) return factsIn(ended.message ?? '');
  if (ended !== undefined)
    return {
      failure:
        ended.message?.trim() ||
        (exitWords(ended, memoryOf(pod, SURVIVOR_COPIER)) ??
          `container ${SURVIVOR_COPIER} ended with exit code ${ended.exitCode}`),
    };
  return status.phase === 'Failed'
    ? { failure: status.message ?? 'its pod failed without a message' }
    : undefined;
}

/** What the pod says of the data. A late copy of it that found all done says so. */
function factsIn(message: string): End {
  try {
    return { facts: JSON.parse(message) as SurvivorFacts };
  } catch {
    return {};
  }
}
