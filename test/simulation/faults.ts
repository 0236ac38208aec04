/** What may befall a cluster, by name, and how often. */
import type { Fate, Fault } from './fault.ts';
import { faultsOfApiserver } from './faults-of-apiserver.ts';
import { faultsOfData } from './faults-of-data.ts';
import { faultsOfDisks } from './faults-of-disks.ts';
import { faultsOfEvictions } from './faults-of-evictions.ts';
import { faultsOfMachines } from './faults-of-machines.ts';
import { faultsOfInjection } from './faults-of-injection.ts';
import { faultsOfUsers } from './faults-of-users.ts';
import { faultsOfRequests } from './faults-of-requests.ts';
import { faultsOfRestores } from './faults-of-restores.ts';
import { faultsOfSpecification } from './faults-of-specification.ts';
import { faultsOfVersions } from './faults-of-versions.ts';
import { faultsOfVolumes } from './faults-of-volumes.ts';
import { faultsOfTls } from './sim-tls.ts';

const temporalLost: Fault = (world, random) => {
  for (const attempt of world.calls.attempts) {
    if (random.chance(0.5)) world.calls.kill(attempt);
    else attempt.zombie = true;
  }
  world.operator.begin();
  for (const restore of world.restores.values()) restore.begin();
  return '';
};

const workflowReset: Fault = (world, random) => {
  for (const attempt of world.calls.attempts) {
    if (random.chance(0.5)) world.calls.kill(attempt);
    else attempt.zombie = true;
  }
  return world.operator.reset(random.below(8));
};

/** Something befalls the next call that is delivered: see SimWorld. */
const ofCalls =
  (fate: Fate): Fault =>
  world => {
    world.fate = fate;
    return undefined;
  };

export const FAULTS = {
  ...faultsOfDisks,
  ...faultsOfMachines,
  ...faultsOfUsers,
  temporalLost,
  workflowReset,
  crashBefore: ofCalls('crashBefore'),
  crashAfter: ofCalls('crashAfter'),
  apiError: ofCalls('apiError'),
  lostAnswer: ofCalls('lostAnswer'),
  zombie: ofCalls('zombie'),
  ...faultsOfData,
  ...faultsOfSpecification,
  ...faultsOfTls,
  ...faultsOfVersions,
  ...faultsOfRestores,
  ...faultsOfApiserver,
  ...faultsOfVolumes,
  ...faultsOfInjection,
  ...faultsOfEvictions,
  ...faultsOfRequests,
} satisfies Record<string, Fault>;

export type FaultName = keyof typeof FAULTS;

/** How many times as often as the others these happen: calls are many, and each may be the one that matters. */
export const WEIGHTS: Partial<Record<FaultName, number>> = {
  requested: 3,
  crashBefore: 2,
  crashAfter: 2,
  apiError: 8,
  nodeGone: 2,
  isolated: 2,
  labelsTaken: 2,
  stuck: 2,
  lostAnswer: 6,
  zombie: 4,
  restoreAsked: 4,
  goBackAsked: 4,
  restoreConfirmed: 2,
  restoreAborted: 5,
  restoreDeleted: 2,
  hibernated: 2,
  claimExchanged: 2,
  podLabelsTaken: 2,
  nodesUnregistered: 2,
  drained: 6,
};
