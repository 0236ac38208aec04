import type { Step } from '../../planner/decision.ts';
import { seatsOf } from '../../planner/membership/seats.ts';
import type { Observation } from '../../planner/observation.ts';
import { CLAIM, observe, POD } from '../observe.ts';
import { ANNOTATION_KEPT_UNTIL } from '../../api/names.ts';
import type { EtcdCluster, EtcdClusterStatus } from '../../api/types.ts';
import type { Dependencies } from '../dependencies.ts';
import { onLeader } from '../leader.ts';
import { type ClusterRef, recordStatus } from '../resource.ts';
import { stillPlanned } from './still-planned.ts';
import { timestamp } from '../../api/time.ts';

/** What is remembered of replacements; the budget looks one hour back. */
const REMEMBERED = 20;

/**
 * Removes one member for good. That its data is lost, or that it is not needed, and that the others are well is looked
 * at once more. A replacement is recorded before it happens, so that a crash never makes the budget larger.
 */
export async function removeMember(
  deps: Dependencies,
  ref: ClusterRef,
  step: Extract<Step, { kind: 'removeMember' }>,
): Promise<void> {
  const before = await observe(deps, ref);
  const listed = before === undefined ? [] : seatsOf(before.observation);
  if (listed.length > 0 && !listed.some(seat => seat.id === step.id)) return;
  const { cluster, observation } = await stillPlanned(deps, ref, step);
  const known = cluster.status?.replacements ?? [];
  if (step.dead && !known.some(({ member }) => member === step.member)) {
    const time = timestamp(deps.now());
    const replacedBy = successorOf(observation, step);
    const replaced = { time, member: step.member, reason: step.reason, ...(replacedBy && { replacedBy }) };
    const replacements = [...known, replaced].slice(-REMEMBERED);
    await recordStatus(deps.kube, cluster, { replacements });
  }
  if (step.givenUp === true)
    await recordStatus(deps.kube, cluster, { givenUp: givenUp(deps, cluster, step) });
  await onLeader(deps, observation, leader => leader.removeMember(step.id));
  await stopRemoved(deps, observation, step.member);
  const reason = step.dead ? 'Replacing Dead Member' : 'Member Removed';
  const message = `removed ${step.member} (${step.id}): ${step.reason}`;
  deps.recordEvent(
    { kind: 'EtcdCluster', ...ref },
    { type: step.dead ? 'Warning' : 'Normal', reason, message },
  );
}

/**
 * The learner that was added for a member before that was lost, as when its claim goes first and its pod later: nobody is
 * added for it any more, and what waits for its successor would take the next member for that one.
 */
function successorOf(observation: Observation, { id }: { readonly id: string }): string | undefined {
  const { config, status } = observation.cluster;
  const staying = seatsOf(observation).filter(seat => seat.id !== id);
  if (staying.length < config.size) return undefined;
  const learner = staying.find(({ isLearner }) => isLearner)?.name;
  return status.replacements?.some(({ replacedBy }) => replacedBy === learner) ? undefined : learner;
}

/**
 * The etcd of a removed member ends by itself, and its kubelet would start it again and again. When this is cut short, or
 * the removal was done by an earlier try, retireMember does it.
 */
async function stopRemoved(
  deps: Dependencies,
  { cluster, pods }: Observation,
  member: string,
): Promise<void> {
  const pod = pods.find(({ name, owned }) => owned && name === member);
  if (pod === undefined || pod.deleting) return;
  const { namespace } = cluster;
  await deps.kube.delete({ ...POD, namespace, name: member }, { uid: pod.uid });
}

function givenUp(
  deps: Dependencies,
  { metadata: { generation = 0 } }: EtcdCluster,
  { member, reason }: Extract<Step, { kind: 'removeMember' }>,
): NonNullable<EtcdClusterStatus['givenUp']> {
  return { time: timestamp(deps.now()), generation, member, reason };
}

/** Deletes the pod of a removed member, and deletes or keeps its claim. */
export async function retireMember(
  deps: Dependencies,
  ref: ClusterRef,
  step: Extract<Step, { kind: 'retireMember' }>,
): Promise<void> {
  await stillPlanned(deps, ref, step);
  const { namespace } = ref;
  for (const { name, uid } of step.pods) await deps.kube.delete({ ...POD, namespace, name }, { uid });
  for (const { name, uid } of step.claims) {
    if (step.fate === 'Delete') await deps.kube.delete({ ...CLAIM, namespace, name }, { uid });
    else {
      const annotations = { [ANNOTATION_KEPT_UNTIL]: keptUntil(step.fate) };
      await deps.kube.patch(
        { ...CLAIM, namespace, name },
        { metadata: { uid, annotations } },
        { type: 'merge' },
      );
    }
  }
}

function keptUntil(fate: 'Retain' | { readonly keepUntil: number }): string {
  return fate === 'Retain' ? '9999-12-31T23:59:59Z' : timestamp(fate.keepUntil);
}
