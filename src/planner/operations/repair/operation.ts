/** What repair is for: nothing is missing of all that is put back under its name. */
import { finding } from '../../../api/conditions/catalogue.ts';
import { idle } from '../../model/decision.ts';
import { goesToSleep } from '../../model/hibernation.ts';
import type { OperationRow } from '../../model/operation.ts';
import type { Situation } from '../../model/situation.ts';
import { planCertificates, tlsCondition, tlsStatus } from '../certificates/index.ts';
import { planStamps } from '../stamps/claims.ts';
import { planResourceStamps } from '../stamps/resource.ts';
import { planSealing } from '../stamps/seal.ts';
import { planClaimLabels } from '../volumes/claim-labels.ts';
import { clientRoutingSteps } from './client-routing.ts';
import { planRepair, sharedObjectSteps } from './index.ts';

export const repairCluster: OperationRow = {
  standing: tlsCondition,
  status: situation => ({ tls: tlsStatus(situation) }),
  conditions: (_situation, { step, plan }) =>
    step.kind === 'restartMember' ? [finding('Recovering', 'RecreatingPod', plan[0]?.summary)] : [],
  isReached: nothingIsMissing,
};

/** Certificates, seals, Services, pods, stamps and labels: nothing of what repair puts back is missing, and no clients are kept out. */
function nothingIsMissing(situation: Situation): boolean {
  const { membership, cluster } = situation;
  if (goesToSleep(situation)) return sharedObjectSteps(situation).length === 0;
  // Who is to be sealed and stamped is known when a quorum lists the members.
  if (cluster.status.clusterID !== undefined && !membership.known) return false;
  const planners = [
    planResourceStamps,
    planCertificates,
    planSealing,
    planRepair,
    planStamps,
    planClaimLabels,
  ];
  return (
    planners.every(planner => planner(situation) === undefined) &&
    clientRoutingSteps(situation, idle()).length === 0
  );
}
