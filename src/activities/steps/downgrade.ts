/** etcd's own downgrade: enabled before the first member is brought to an older minor, and cancelled where none is to be. */
import { minorOf } from '../../api/versions/compare.ts';
import type { Situation } from '../../planner/model/situation.ts';
import type { StepOf } from '../../planner/model/step-catalogue.ts';
import { isLowered } from '../../planner/operations/upgrade/path.ts';
import { onMember } from '../cluster/leader.ts';
import { probeMembers } from '../observe/probe.ts';
import { recordClusterEvent } from '../runtime/cluster-events.ts';
import type { ClusterRef } from '../runtime/cluster-reference.ts';
import type { Dependencies } from '../runtime/dependencies.ts';
import { preconditionChanged } from '../runtime/failures.ts';
import { waitUntil } from '../runtime/poll.ts';
import { addressOf, membersPods } from './await-members.ts';
import type { Perform } from './shared/perform.ts';
import { stillPlanned } from './shared/still-planned.ts';

/**
 * Has etcd enable the downgrade, if it is not enabled already, and waits until every member says that the cluster and its data are of the
 * older minor. etcd says that it cannot before it is asked to.
 */
export const enableDowngrade: Perform<'enableDowngrade'> = async (deps, ref, step) => {
  const { situation } = await stillPlanned(deps, ref, step);
  const { member, version } = step;
  const isNew = await onMember(deps, situation, {
    member,
    ask: async asked => {
      const { downgrade = '' } = await asked.version();
      if (downgrade === version) return false;
      if (downgrade !== '') throw preconditionChanged(`a downgrade to ${downgrade} is enabled by now`);
      await asked.downgrade('validate', version);
      await asked.downgrade('enable', version);
      return true;
    },
  });
  if (isNew) {
    const message = `enabled etcd's downgrade to ${minorOf(version)}`;
    recordClusterEvent(deps, ref, { reason: 'DowngradeEnabled', message });
  }
  let behind: readonly string[] = [];
  const outcome = await waitUntil(deps, async () => {
    behind = await notLowered(deps, ref, step);
    return behind.length === 0 ? 'done' : 'notYet';
  });
  if (outcome !== 'done')
    throw new Error(
      `the downgrade to ${minorOf(version)} is enabled, and not every member has lowered its versions: ${behind.join(', ')}. The leader lowers them when every member answers; what its log holds of the newer minor has to be in a snapshot first`,
    );
};

/** Has etcd end the downgrade to this version; one that is enabled no more was ended. */
export const cancelDowngrade: Perform<'cancelDowngrade'> = async (deps, ref, step) => {
  const { situation } = await stillPlanned(deps, ref, step);
  await onMember(deps, situation, {
    member: step.member,
    ask: async asked => {
      if ((await asked.version()).downgrade !== step.version) return;
      await asked.downgrade('cancel', step.version);
      const { downgrade } = await asked.version();
      if (downgrade === step.version)
        throw new Error(`${step.member} still says that a downgrade to ${downgrade} is enabled`);
    },
  });
  const message = `cancelled etcd's downgrade to ${minorOf(step.version)}`;
  recordClusterEvent(deps, ref, { reason: 'DowngradeCancelled', message });
};

/** Members of which it is not known that they and the cluster are of the older minor, with what they say. */
async function notLowered(
  deps: Dependencies,
  ref: ClusterRef,
  { members, version }: StepOf<'enableDowngrade'>,
): Promise<string[]> {
  const address = { ...(await addressOf(deps, ref)), asksAgreed: true };
  const pods = await membersPods(deps, ref, members);
  const { probes } = await probeMembers(deps.etcd, address, pods);
  return members.flatMap(name => {
    const probe: Situation['probes'][string] | undefined = probes[name];
    if (probe?.answered !== true) return [`${name} does not answer`];
    const said = { server: probe.version, ...probe.agreed };
    if (isLowered(said, minorOf(version) ?? '')) return [];
    const { cluster = 'unknown', storage = 'unknown' } = said;
    return [`${name} (cluster version ${cluster}, storage version ${storage})`];
  });
}
