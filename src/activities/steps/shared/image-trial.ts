/** Whether the images of a restore can be pulled, tried by a real pod before anybody is stopped (issue M4): no dry run pulls any. */
import type { EtcdCluster, EtcdRestore } from '../../../api/schemas/types.ts';
import { KubeError } from '../../../kube/errors.ts';
import type { KubeObject } from '../../../kube/port.ts';
import { statusNamed } from '../../../objects/containers.ts';
import { IMAGE_TRIALS, imageTrialPod, imageTrialPodName } from '../../../objects/image-trial-pod.ts';
import { exitWords } from '../../observe/container-exit.ts';
import { type PodStatus, troubleOfHelper } from '../../observe/pod-trouble.ts';
import type { Dependencies } from '../../runtime/dependencies.ts';
import { finalFailure } from '../../runtime/failures.ts';
import { POD } from '../../runtime/kinds.ts';
import { type WaitOutcome, waitUntil } from '../../runtime/poll.ts';
import { hasRoomWithout } from './quota-room.ts';
import { runningAs } from './seed-objects.ts';
import { createHelper } from './seeding.ts';
import { tryObjects } from './trial.ts';

/**
 * Runs the pod to its end. It is not insisted on where it has no place beside the members that run: then nobody knows.
 * @param gone pods that will be gone when the images are needed
 * @throws what its kubelet says against an image
 */
export async function tryImages(
  deps: Dependencies,
  {
    cluster,
    restore,
    member,
    gone,
  }: {
    readonly cluster: EtcdCluster;
    readonly restore: EtcdRestore;
    readonly member: string;
    readonly gone: readonly KubeObject[];
  },
): Promise<WaitOutcome> {
  const { namespace, name, uid } = restore.metadata;
  const pod = imageTrialPod({
    restore: { namespace, name, uid },
    member,
    ...(await runningAs(deps, cluster)),
  });
  await tryObjects(deps.kube, { objects: [pod], gone });
  try {
    await createHelper(deps, pod);
  } catch (error) {
    if (error instanceof KubeError && hasRoomWithout(error.message, gone)) return 'done';
    throw error;
  }
  const at = { ...POD, namespace, name: imageTrialPodName(member) };
  let verdict: Verdict | undefined;
  const outcome = await waitUntil(deps, async () => {
    verdict = verdictOf(await deps.kube.get(at));
    return verdict === undefined ? 'notYet' : 'done';
  });
  if (verdict === undefined) return outcome;
  await deps.kube.delete(at, { gracePeriodSeconds: 1 });
  if (verdict.fault === undefined) return 'done';
  throw finalFailure(
    'ImageNotUsable',
    `pod ${at.name}, which tries the images of the restore, does not run, so nothing was changed: ${verdict.fault}. Correct the image or its credentials (spec.repository, spec.version, spec.pod.imagePullSecrets), or delete the EtcdRestore`,
  );
}

interface Verdict {
  readonly fault: string | undefined;
}

/** Undefined: it still works, or is pulled, or is the one of an attempt before, which ends. */
function verdictOf(pod: KubeObject | undefined): Verdict | undefined {
  if (pod?.metadata.deletionTimestamp !== undefined) return undefined;
  const status = (pod?.['status'] ?? {}) as PodStatus;
  const faults = IMAGE_TRIALS.flatMap(container => (pod && troubleOfHelper(pod, container)) ?? []);
  const [fault] = faults;
  // The members that run have its place.
  if (fault?.startsWith('Unschedulable') === true) return { fault: undefined };
  const ends = IMAGE_TRIALS.map(container => statusNamed(status, container)?.state?.terminated);
  const failed = ends.find(end => end !== undefined && end.exitCode !== 0);
  if (failed !== undefined) return { fault: exitWords(failed) ?? `exit code ${failed.exitCode}` };
  if (ends.every(end => end !== undefined)) return { fault: undefined };
  return fault === undefined ? undefined : { fault };
}
