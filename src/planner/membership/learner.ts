/** A learner is unfinished business: it is brought to an end, as a voter or by removing it, before anything else. */
import { blocked, operate } from '../answers.ts';
import type { Decision, Operation, Step } from '../decision.ts';
import type { Observation } from '../observation.ts';
import { everyVoterHealthy, onlyOurs } from './preflight.ts';
import { type Seat, seatsOf } from './seats.ts';

/** A learner that has not caught up after this long is given up. */
const PATIENCE_MS = 600_000;

/** The steps that finish the one learner there is; undefined when there is none. */
export function planLearner(observation: Observation, seats: readonly Seat[]): Decision | undefined {
  const learner = seats.find(seat => seat.isLearner);
  if (learner === undefined) return undefined;
  const obstacle = onlyOurs(seats);
  if (obstacle !== undefined) return blocked(obstacle);
  const operation = operationOf(observation);
  const hopeless = hopelessness(observation, learner);
  if (hopeless !== undefined) {
    const { name: member, id } = learner;
    const expected = seats.map(seat => seat.id);
    return operate(operation, [
      { kind: 'removeMember', member, id, expected, reason: hopeless, dead: false },
    ]);
  }
  return finish(observation, learner, operation);
}

/** Whether members are added to make good a loss, or because more were asked for. */
export function operationOf({ cluster }: Observation): Operation {
  const open = (cluster.status.replacements ?? []).some(({ replacedBy }) => replacedBy === undefined);
  return open ? 'replaceMember' : 'scaleCluster';
}

function finish(observation: Observation, learner: Seat, operation: Operation): Decision {
  const { name: member, id, pod } = learner;
  const token = observation.cluster.status.incarnation?.token ?? '';
  const ahead: Step[] = [{ kind: 'promoteLearner', member, id }];
  if (pod === undefined) return operate(operation, [{ kind: 'createMember', token, member, id }, ...ahead]);
  if (pod.deleting)
    return blocked({ reason: 'PodTerminating', message: `waiting for ${member} to be gone` }, ahead);
  if (pod.trouble !== undefined) {
    const message = `${member}: ${pod.trouble.reason} (${pod.trouble.message}); it is given up after ten minutes`;
    return blocked({ reason: 'MembersNotStarting', message }, ahead);
  }
  const unwell = everyVoterHealthy(seatsOf(observation));
  return unwell === undefined ? operate(operation, ahead) : blocked(unwell, ahead);
}

/** Why the learner will never become a voter, when that is certain or it took too long. */
function hopelessness({ cluster, now }: Observation, { pod, claim, started }: Seat): string | undefined {
  const onClaims = cluster.status.storage?.kind === 'PersistentVolumeClaim';
  // What a started learner had is on its volume; without it it would come back empty under an old id.
  if (
    started &&
    pod === undefined &&
    (!onClaims || claim === undefined || claim.deleting || claim.phase === 'Lost')
  )
    return 'it lost its data before it caught up';
  if (pod !== undefined && now - pod.createdAt > PATIENCE_MS) return 'it did not catch up within ten minutes';
  return undefined;
}
