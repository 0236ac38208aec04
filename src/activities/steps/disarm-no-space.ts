import { ANNOTATION_WRITE_SEEN } from '../../api/names.ts';
import { bytes } from '../../api/values/sizes.ts';
import { EtcdError } from '../../etcd/port.ts';
import type { Situation } from '../../planner/model/situation.ts';
import type { StepOf } from '../../planner/model/step-catalogue.ts';
import { spaceAlarms } from '../../planner/checks/space.ts';
import { onMember } from '../cluster/leader.ts';
import { observe } from '../observe/observe.ts';
import { recordClusterEvent } from '../runtime/cluster-events.ts';
import type { ClusterRef } from '../runtime/cluster-reference.ts';
import type { Dependencies } from '../runtime/dependencies.ts';
import { finalFailure, preconditionChanged } from '../runtime/failures.ts';
import { POD } from '../runtime/kinds.ts';
import { disarmThroughAny } from './shared/disarm.ts';
import type { Perform } from './shared/perform.ts';
import { stillPlanned } from './shared/still-planned.ts';

type DisarmNoSpace = StepOf<'disarmNoSpace'>;

/**
 * Takes NOSPACE back and has a write go through every voter, each of which answers as it applied that write itself: one that refuses shows
 * that clients are still refused. That it went through is noted on the pod. With nothing to disarm it tries the write alone: an attempt before
 * has disarmed it.
 */
export const disarmNoSpace: Perform<'disarmNoSpace'> = async (deps, ref, step) => {
  const { situation } = await stillPlanned(deps, ref, step);
  for (const id of step.alarms)
    await disarmThroughAny(deps, situation, { members: step.members, id, alarm: 'NOSPACE' });
  await noneIsLeft(deps, ref);
  for (const member of step.members) await writeThrough(deps, situation, member);
  const through = step.members.map(({ name }) => name).join(', ');
  const sizes = Object.values(situation.probes).flatMap(probe => (probe.answered ? [probe.dbSize] : []));
  const message = `disarmed NOSPACE: the largest database has ${bytes(Math.max(...sizes))}, and a write went through ${through}`;
  recordClusterEvent(deps, ref, { reason: 'AlarmDisarmed', message });
};

/** Every member has applied it: each takes writes again only then. */
async function noneIsLeft(deps: Dependencies, ref: ClusterRef): Promise<void> {
  const seen = await observe(deps, ref);
  if (seen === undefined) throw preconditionChanged('the resource is gone');
  const left = Object.entries(seen.observation.probes).flatMap(([name, probe]) =>
    probe.answered && spaceAlarms({ probes: { [name]: probe } }).length > 0 ? [name] : [],
  );
  if (left.length > 0) throw new Error(`${left.join(', ')} still lists NOSPACE after it was disarmed`);
}

/** Has a write go through a member, and notes on its pod that it did. */
export async function writeThrough(
  deps: Dependencies,
  situation: Situation,
  { name, uid }: DisarmNoSpace['members'][number],
): Promise<void> {
  try {
    await onMember(deps, situation, { member: name, ask: asked => asked.tryWrite() });
  } catch (error) {
    if (error instanceof EtcdError && error.code === 'no-space')
      throw finalFailure(
        'WriteRefused',
        `${name} refuses a write after NOSPACE was disarmed: ${error.message}. etcd raises the alarm again, and the next pass says in Progressing what makes room`,
      );
    throw error;
  }
  await deps.kube.patch(
    { ...POD, namespace: situation.cluster.namespace, name },
    { metadata: { uid, annotations: { [ANNOTATION_WRITE_SEEN]: new Date(deps.now()).toISOString() } } },
    { type: 'merge' },
  );
}
