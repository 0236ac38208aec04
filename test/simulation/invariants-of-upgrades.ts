/** What must hold when the operator says that an upgrade has ended: the members' keys were compared since the last of them was changed. */
import type { EtcdClusterStatus } from '../../src/api/schemas/types.ts';
import type { KubeObject } from '../../src/kube/port.ts';
import type { GroundTruth } from './ground-truth.ts';
import { votersOf } from './sim-raft.ts';

/** Why the operator must not write this status now; undefined when it may. */
export function faultOfEnd(
  truth: GroundTruth,
  before: KubeObject | undefined,
  after: KubeObject,
): string | undefined {
  const { targetVersion = '', incarnation } = statusOf(before);
  const now = statusOf(after);
  // A restore forgets an upgrade of the members that it replaces.
  if (now.incarnation?.token !== incarnation?.token) return undefined;
  const isEnd =
    targetVersion !== '' && (now.targetVersion ?? '') === '' && now.currentVersion === targetVersion;
  const voters = votersOf(truth.members() ?? { rows: [], removed: new Set() });
  if (!isEnd || now.phase !== 'Running' || voters.length < 2) return undefined;
  const unasked = voters.find(({ id }) => {
    const { hashedAt = -1, releasedAt = -1 } = truth.diskOfMember(id) ?? {};
    return hashedAt < releasedAt;
  });
  return (
    unasked &&
    `the upgrade to ${targetVersion} has ended, and nobody has asked ${unasked.name} for its keys since it was changed`
  );
}

function statusOf(object: KubeObject | undefined): EtcdClusterStatus {
  return (object?.['status'] ?? {}) as EtcdClusterStatus;
}
