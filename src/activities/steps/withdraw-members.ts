import { CLIENTS_WITHDRAWN, LABEL_CLIENTS } from '../../api/names.ts';
import type { StepOf } from '../../planner/model/step-catalogue.ts';
import { recordClusterEvent } from '../runtime/cluster-events.ts';
import type { ClusterRef } from '../runtime/cluster-reference.ts';
import type { Dependencies } from '../runtime/dependencies.ts';
import { finalFailure } from '../runtime/failures.ts';
import { POD } from '../runtime/kinds.ts';
import { withdraw } from './admit-members.ts';
import type { Perform } from './shared/perform.ts';
import { stillPlanned } from './shared/still-planned.ts';

/** Leads clients away from these very pods (by uid), for as long as their data differs, and looks whether that lasts. */
export const withdrawMembers: Perform<'withdrawMembers'> = async (deps, ref, step) => {
  await stillPlanned(deps, ref, step);
  await withdraw(deps, ref, step.pods);
  await checkWithdrawn(deps, ref, step);
  const names = step.pods.map(({ name }) => name).join(', ');
  const message = `${names} does not have the data of the others: clients are led away`;
  recordClusterEvent(deps, ref, { reason: 'MemberWithdrawn', message });
};

/** Done again it would be changed back again: it is said, and what else there is to do goes on. */
async function checkWithdrawn(
  { kube }: Dependencies,
  { namespace }: ClusterRef,
  { pods }: StepOf<'withdrawMembers'>,
): Promise<void> {
  const found = await Promise.all(pods.map(({ name }) => kube.get({ ...POD, namespace, name })));
  const back = found.flatMap((pod, index) =>
    pod?.metadata.uid === pods[index]?.uid && pod?.metadata.labels?.[LABEL_CLIENTS] !== CLIENTS_WITHDRAWN
      ? [pods[index]?.name]
      : [],
  );
  if (back.length === 0) return;
  const message = `label ${LABEL_CLIENTS} of pod ${back.join(', ')} is not ${CLIENTS_WITHDRAWN} after the write, so clients still read data that differs: something reverts the change, such as an admission webhook`;
  throw finalFailure('ChangedBack', message);
}
