import type { EtcdRestore } from '../../api/schemas/types.ts';
import { recordClusterEvent } from '../runtime/cluster-events.ts';
import { createRestore } from './shared/create-restore.ts';
import { stillPlanned } from './shared/still-planned.ts';
import type { Perform } from './shared/perform.ts';

/** Makes the EtcdRestore that was approved, with all facts looked at once more, and says what may be lost. */
export const requestRecovery: Perform<'requestRecovery'> = async (deps, ref, step) => {
  await stillPlanned(deps, ref, step);
  const { namespace, name } = ref;
  const survivor = {
    member: step.survivor.name,
    memberID: step.survivor.id,
    claimUID: step.survivor.claimUid,
    revision: step.revision,
    givenUp: step.givenUp.map(({ id }) => id),
  };
  const isMade = await createRestore(deps.kube, {
    namespace,
    name: step.name,
    // Who approved stands in the history of the cluster: spec.by is who creates it (deploy/users/restore-policy.yaml).
    spec: { etcdCluster: { name }, survivor, confirmClusterID: step.clusterId },
    isOurs: ({ spec }) => (spec as EtcdRestore['spec'] | undefined)?.survivor?.claimUID === survivor.claimUID,
    otherwise: 'and approve the recovery again',
  });
  if (!isMade) return;
  const message = `EtcdRestore ${step.name} recovers the quorum: ${step.window}; approved by ${step.by}`;
  recordClusterEvent(deps, ref, { reason: 'RecoveringQuorum', message });
};
