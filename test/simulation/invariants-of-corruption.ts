/** What must hold when a member goes because its data differs, and when CORRUPT is taken back: by what is really on the disks. */
import type { GroundTruth } from './ground-truth.ts';
import type { Attempt } from './sim-calls.ts';
import type { SimEtcd } from './sim-etcd.ts';
import { newestMembers, quorumOf, type Row, votersOf } from './sim-raft.ts';

export interface CorruptionWorld {
  readonly etcd: SimEtcd;
  readonly truth: GroundTruth;
}

/** Whether a member holds other keys than were written; undefined: it changed since that look, which could not know. */
function isBad({ etcd, truth }: CorruptionWorld, id: string, since: number): boolean | undefined {
  const process = [...etcd.processes.values()].find(({ memberId }) => memberId === id);
  const rottenSince = truth.diskOfMember(id)?.rottenSince;
  const compared = etcd.hashedAt.get(id) ?? since;
  if (rottenSince !== undefined && rottenSince >= Math.min(since, compared)) return undefined;
  if (
    process !== undefined &&
    process.changedAt >= Math.min(since, compared) &&
    process.corrupt !== undefined
  )
    return undefined;
  return rottenSince !== undefined || process?.corrupt === true;
}

/** Why a voter must not be removed for its data; undefined when it may, or is not removed for that. */
export function faultOfCorruptRemoval(
  world: CorruptionWorld,
  row: Row,
  attempt: Attempt,
): string | undefined {
  const { step, lookedAt } = attempt;
  if (step?.kind !== 'removeMember' || step.replacement !== 'Corrupt' || world.truth.named.has(row.id))
    return undefined;
  const voters = votersOf(world.truth.members() ?? { rows: [], removed: new Set() });
  const states = voters.map(({ id }) => ({ id, bad: isBad(world, id, lookedAt) }));
  const good = states.filter(({ bad }) => bad !== true);
  if (good.length < quorumOf(voters.length))
    return `of ${voters.length} voters only ${good.length} hold the same, and nobody said which is right`;
  return states.find(({ id }) => id === row.id)?.bad === false
    ? 'it holds what the majority holds'
    : undefined;
}

/** Whether its data may be the reason for which a voter goes. */
export function mayGoForItsData(world: CorruptionWorld, row: Row, attempt: Attempt): boolean {
  const { step, lookedAt } = attempt;
  return (
    step?.kind === 'removeMember' &&
    step.replacement === 'Corrupt' &&
    isBad(world, row.id, lookedAt) !== false &&
    faultOfCorruptRemoval(world, row, attempt) === undefined
  );
}

/** Why CORRUPT must stay: members take writes again that do not hold the same, and nobody has said that they may. */
export function faultOfCorruptDisarm(
  world: CorruptionWorld,
  clusterId: string,
  { lookedAt, step }: Attempt,
): string | undefined {
  if (step?.plannedUpon?.approvals?.some(({ ids }) => ids.some(id => id.startsWith('CORRUPT of '))))
    return undefined;
  const leader = [...world.etcd.processes.values()].find(
    each => each.isLeader && each.clusterId === clusterId,
  );
  if (leader === undefined) return undefined;
  const bad = votersOf(newestMembers(leader.disk)).find(({ id }) => isBad(world, id, lookedAt) === true);
  return bad && `${bad.name} holds other keys than were written`;
}
