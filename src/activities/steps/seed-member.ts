/** The steps that give a restored cluster its first member. Each observes, acts once and observes again, and can run twice. */
import { Context } from '@temporalio/activity';
import type { EtcdCluster, EtcdRestore } from '../../api/schemas/types.ts';
import { EtcdError } from '../../etcd/port.ts';
import { seedBudget } from '../../objects/budget.ts';
import { memberClaim } from '../../objects/claim.ts';
import { statusNamed } from '../../objects/containers.ts';
import {
  DONE_BEFORE,
  SEED_CONTAINERS,
  type seedPod,
  seedPodName,
  SNAPSHOT_KEY,
} from '../../objects/seed-pod.ts';
import { peerService } from '../../objects/services.ts';
import { isAlreadyExists } from '../../kube/errors.ts';
import type { KubeObject } from '../../kube/port.ts';
import { refTo } from '../../kube/resources.ts';
import type { StepOf } from '../../planner/model/step-catalogue.ts';
import { noteDataVersion } from '../cluster/data-version.ts';
import type { Dependencies } from '../runtime/dependencies.ts';
import { finalFailure, preconditionChanged } from '../runtime/failures.ts';
import { exitWords, memoryOf } from '../observe/container-exit.ts';
import { authoritiesNoted } from '../cluster/note-authorities.ts';
import { placeOf, resourcesOf } from '../runtime/pod-placement.ts';
import { isControlledBy } from '../observe/object-facts.ts';
import { type PodStatus, troubleOfHelper } from '../observe/pod-trouble.ts';
import { CLAIM, POD } from '../runtime/kinds.ts';
import { type WaitOutcome, waitUntil } from '../runtime/poll.ts';
import { readLivingCluster, recordStatus } from '../resource/etcd-cluster.ts';
import type { ClusterRef } from '../runtime/cluster-reference.ts';
import { onLeader } from '../cluster/leader.ts';
import { stillPlanned } from './shared/still-planned.ts';
import { seedPodOf, seedVersion, startedSeed, volumeOwner } from './shared/seed-objects.ts';
import { createOwned } from './shared/create-owned.ts';
import { openObject, snapshotIn } from '../backup/examined-object.ts';
import { endRestorePods } from './shared/restore-pods.ts';
import { readRestore } from '../resource/etcd-restore.ts';
import type { Perform } from './shared/perform.ts';

type Seeding = StepOf<'fillVolume' | 'unpackBackup'>;

/** Makes the claim of the first member and brings the snapshot onto it, decompressed and checked. */
export const fillVolume: Perform<'fillVolume'> = async (deps, ref, step) => {
  const { cluster, restore } = await readBoth(deps, ref, step);
  const { source } = restore.status ?? {};
  const { location = source?.location } = cluster.status?.incarnation?.restore ?? {};
  if (source === undefined || source.location !== location)
    throw preconditionChanged('the backup has not been examined yet');
  await createVolume(deps, cluster, step);
  const options = { signal: Context.current().cancellationSignal };
  const volume = await deps.openVolume(volumeOwner(restore), {
    claim: step.member,
    place: placeOf(cluster),
    resources: resourcesOf(cluster),
  });
  try {
    const there = (await volume.head(SNAPSHOT_KEY, options)) ?? (await volume.head(FINISHED_KEY, options));
    if (there !== undefined) return await record(deps, ref, { token: step.token, filled: true });
    const opened = await openObject(deps, restore, source.location);
    try {
      await volume.put(SNAPSHOT_KEY, snapshotIn(opened, source, options), options);
    } finally {
      await opened.store.close();
    }
  } catch (error) {
    if (error instanceof EtcdError && error.code === 'corrupt') {
      throw finalFailure('SeedFailed', `${error.message}; abort the restore, and restore another backup`);
    }
    throw error;
  } finally {
    await volume.close();
  }
  await record(deps, ref, { token: step.token, filled: true });
};

/** Of the file that says that the data is finished. */
const FINISHED_KEY = 'restore/finished';

/** Not retried: shown to users as the failure of the operation, which is tried again later. */
async function createVolume(
  deps: Dependencies,
  cluster: EtcdCluster,
  { member, token }: Seeding,
): Promise<void> {
  const storageClassName = cluster.status?.storage?.storageClassName;
  const claim = memberClaim(cluster, { name: member, token, storageClassName });
  for (const object of [peerService(cluster), seedBudget(cluster), claim]) {
    await createOwned(deps.kube, object, cluster.metadata.uid);
  }
}

/** Has etcdutl make the member's data of the snapshot, and records that it is done. */
export const unpackBackup: Perform<'unpackBackup', WaitOutcome> = async (deps, ref, step) => {
  const { cluster, restore } = await readBoth(deps, ref, step);
  const pod = { ...POD, namespace: ref.namespace, name: seedPodName(step.member) };
  await createPod(deps, await seedPodOf(deps, { cluster, restore, step }));
  let end: SeedEnd | undefined;
  let trouble: string | undefined;
  const outcome = await waitUntil(deps, async () => {
    const found = await deps.kube.get(pod);
    end = endOf(found);
    trouble = found && troubleOfHelper(found, 'finish');
    return end === undefined ? 'notYet' : 'done';
  });
  // Nobody else looks at this pod: what keeps it from starting would be silence.
  if (end === undefined && trouble !== undefined)
    throw finalFailure('SeedFailed', `pod ${pod.name} does not start: ${trouble}`);
  if (end === undefined) return outcome;
  if (end.failure === undefined) await record(deps, ref, { token: step.token, seeded: true });
  await deps.kube.delete(pod, { gracePeriodSeconds: 1 });
  if (end.failure !== undefined)
    throw finalFailure('SeedFailed', `etcdutl could not restore the snapshot: ${end.failure}`);
  return 'done';
};

/** How far the first member's volume is. */
async function record(
  deps: Dependencies,
  ref: ClusterRef,
  { token, ...done }: { readonly token: string; readonly filled?: true; readonly seeded?: true },
): Promise<void> {
  const cluster = await readLivingCluster(deps.kube, ref);
  const { incarnation } = cluster.status ?? {};
  if (incarnation?.token !== token || incarnation.restore === undefined)
    throw preconditionChanged(`incarnation ${token} is not the recorded incarnation`);
  const restore = { ...incarnation.restore, ...done };
  await recordStatus(deps.kube, cluster, { incarnation: { ...incarnation, restore } });
}

async function createPod({ kube }: Dependencies, pod: ReturnType<typeof seedPod>): Promise<void> {
  const { metadata } = pod;
  const found = await kube.get(refTo(pod));
  if (found !== undefined) {
    const owner = metadata.ownerReferences[0]?.uid ?? '';
    if (isControlledBy(found, owner)) return;
    throw preconditionChanged(
      `pod ${metadata.namespace}/${metadata.name} is not owned by this EtcdCluster: delete it`,
    );
  }
  try {
    await kube.create(pod);
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
  }
}

interface SeedEnd {
  /** Absent: all is well. */
  readonly failure?: string;
}

/**
 * How the work of the pod ended; undefined while it has not. Its phase does not say: containers that others put beside ours need not
 * end, and how they end is of no concern.
 */
function endOf(pod: KubeObject | undefined): SeedEnd | undefined {
  if (pod === undefined) return undefined;
  const status = (pod['status'] ?? {}) as PodStatus;
  if (exitCodeOf(status, 'finish') === 0 || status.phase === 'Succeeded') return {};
  const name = SEED_CONTAINERS.find(each => hasFailed(status, each));
  const bad = name === undefined ? undefined : statusNamed(status, name)?.state?.terminated;
  if (name === undefined || bad === undefined)
    return status.phase === 'Failed' ? { failure: failureOf(status) } : undefined;
  if (bad.message?.trim() === DONE_BEFORE) return {};
  return {
    failure: exitWords(bad, memoryOf(pod, name)) ?? `container ${name} ended with exit code ${bad.exitCode}`,
  };
}

function exitCodeOf(status: PodStatus, container: string): number | undefined {
  return statusNamed(status, container)?.state?.terminated?.exitCode;
}

const hasFailed = (status: PodStatus, container: string): boolean =>
  (exitCodeOf(status, container) ?? 0) !== 0;

/** Of a pod none of whose own containers failed: its node ended it, or an init container that somebody injected. */
function failureOf(status: PodStatus): string {
  const other = status.initContainerStatuses?.find(({ name }) => hasFailed(status, name));
  if (status.message !== undefined) return status.message;
  return other === undefined
    ? 'its pod failed without a message'
    : `init container ${other.name} ended with exit code ${exitCodeOf(status, other.name)}`;
}

/** Starts the first member on what was restored. */
export const startSeed: Perform<'startSeed'> = async (deps, ref, step) => {
  const { cluster } = await readBoth(deps, ref, step);
  const claim = await deps.kube.get({ ...CLAIM, namespace: ref.namespace, name: step.member });
  if (claim === undefined || claim.metadata.uid !== step.claimUid) {
    throw preconditionChanged(`claim ${step.member} is not the claim that contains the restored data`);
  }
  // Attempts that were cut short may have left some.
  await endRestorePods(deps, { ...step.restore, namespace: ref.namespace });
  const noted = await authoritiesNoted(deps.kube, cluster);
  await createOwned(deps.kube, noted(startedSeed(cluster, step)), ref.uid);
  await noteDataVersion(deps.kube, { namespace: ref.namespace, name: step.member }, seedVersion(cluster));
};

/** Takes back alarms that came with the snapshot. */
export const disarmAlarms: Perform<'disarmAlarms'> = async (deps, ref, step) => {
  const { situation } = await stillPlanned(deps, ref, step);
  await onLeader(deps, situation, async leader => {
    for (const { memberId, alarm } of step.alarms) await leader.disarm(memberId, alarm);
  });
};

/** The cluster and the restore that the step was planned for, when it would be planned again. */
async function readBoth(
  deps: Dependencies,
  ref: ClusterRef,
  step: StepOf<'fillVolume' | 'unpackBackup' | 'startSeed'>,
): Promise<{ readonly cluster: EtcdCluster; readonly restore: EtcdRestore }> {
  const { cluster } = await stillPlanned(deps, ref, step);
  const restore = await readRestore(deps.kube, { ...step.restore, namespace: ref.namespace });
  if (restore === undefined) throw preconditionChanged(`EtcdRestore ${step.restore.name} is gone`);
  return { cluster, restore };
}
