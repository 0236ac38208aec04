/** The steps that give a restored cluster its first member. Each observes, acts once and observes again, and can run twice. */
import { Context } from '@temporalio/activity';
import { EtcdError } from '../../etcd/port.ts';
import { statusNamed } from '../../objects/containers.ts';
import { DONE_BEFORE, SEED_CONTAINERS, seedPodName, SNAPSHOT_KEY } from '../../objects/seed-pod.ts';
import type { KubeObject } from '../../kube/port.ts';
import { noteDataVersion } from '../cluster/data-version.ts';
import { finalFailure, preconditionChanged } from '../runtime/failures.ts';
import { exitWords, memoryOf } from '../observe/container-exit.ts';
import { authoritiesNoted } from '../cluster/note-authorities.ts';
import { placeOf, resourcesOf } from '../runtime/pod-placement.ts';
import type { PodStatus } from '../observe/pod-trouble.ts';
import { CLAIM, POD } from '../runtime/kinds.ts';
import type { WaitOutcome } from '../runtime/poll.ts';
import { onLeader } from '../cluster/leader.ts';
import { stillPlanned } from './shared/still-planned.ts';
import { seedPodOf, seedVersion, startedSeed, volumeOwner } from './shared/seed-objects.ts';
import { createHelper, createVolume, helperWorked, readBoth, recordSeeding } from './shared/seeding.ts';
import { createOwned } from './shared/create-owned.ts';
import { snapshotIn } from '../backup/examined-object.ts';
import { useEither } from '../restore/either-store.ts';
import { recordRestore } from '../resource/etcd-restore.ts';
import type { Dependencies } from '../runtime/dependencies.ts';
import { eventOf } from '../../api/events.ts';
import type { EtcdRestore } from '../../api/schemas/types.ts';
import { endRestorePods } from './shared/restore-pods.ts';
import type { Perform } from './shared/perform.ts';

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
    if (there !== undefined) return await recordSeeding(deps, ref, { token: step.token, filled: true });
    const instead = await useEither(deps, { restore, source }, opened =>
      volume.put(SNAPSHOT_KEY, snapshotIn(opened, source, options), options),
    );
    if (instead !== undefined) await sayReadElsewhere(deps, restore, instead);
  } catch (error) {
    if (error instanceof EtcdError && error.code === 'corrupt') {
      throw finalFailure('SeedFailed', `${error.message}; abort the restore, and restore another backup`);
    }
    throw error;
  } finally {
    await volume.close();
  }
  await recordSeeding(deps, ref, { token: step.token, filled: true });
};

async function sayReadElsewhere(
  deps: Dependencies,
  { metadata }: EtcdRestore,
  because: string,
): Promise<void> {
  await recordRestore(deps, metadata, ({ status = {} }) => ({
    ...status,
    ...(status.source && { source: { ...status.source, because: because.slice(0, 4096) } }),
  }));
  const { namespace, name, uid } = metadata;
  const event = eventOf('EtcdRestore', 'SecondStoreUsed', because);
  deps.recordEvent({ kind: 'EtcdRestore', namespace, name, uid }, event);
}

/** Of the file that says that the data is finished. */
const FINISHED_KEY = 'restore/finished';

/** Has etcdutl make the member's data of the snapshot, and records that it is done. */
export const unpackBackup: Perform<'unpackBackup', WaitOutcome> = async (deps, ref, step) => {
  const { cluster, restore } = await readBoth(deps, ref, step);
  const pod = { ...POD, namespace: ref.namespace, name: seedPodName(step.member) };
  await createHelper(deps, await seedPodOf(deps, { cluster, restore, step }));
  const { end, trouble, outcome } = await helperWorked(deps, pod, { container: 'finish', endOf });
  // Nobody else looks at this pod: what keeps it from starting would be silence.
  if (end === undefined && trouble !== undefined)
    throw finalFailure('SeedFailed', `pod ${pod.name} does not start: ${trouble}`);
  if (end === undefined) return outcome;
  if (end.failure === undefined) await recordSeeding(deps, ref, { token: step.token, seeded: true });
  await deps.kube.delete(pod, { gracePeriodSeconds: 1 });
  if (end.failure !== undefined)
    throw finalFailure('SeedFailed', `etcdutl could not restore the snapshot: ${end.failure}`);
  return 'done';
};

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
