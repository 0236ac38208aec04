/**
 * Observations, built field by field by fast-check and not by running a world: also such as nobody has thought of. Most fields are
 * as in a cluster that is well; how many are not is itself left to chance. They shrink towards a cluster that is well, so what
 * is left of a failure is what it takes.
 */
import * as fc from 'fast-check';
import { ANNOTATION_KEPT_INCARNATION, memberName } from '../../src/api/names.ts';
import type { ClaimFacts, Observation } from '../../src/planner/model/observation.ts';
import type { WorkflowState } from '../../src/planner/model/workflow-state.ts';
import {
  ABSENT,
  aClaim,
  anObservation,
  CLUSTER_ID,
  FOREIGN,
  idOf,
  NAME,
  OURS,
  UNKNOWN_MEMBERSHIP,
} from '../worlds/builders.ts';
import { type ClusterDraw, clusterDraw } from './generated-cluster.ts';
import { after } from './generated-calamities.ts';
import { type MemberDraw, memberDraw } from './generated-members.ts';
import { claimOf, hashesOf, membershipOf, podOf, probeOf } from './generated-objects.ts';
import { clusterOf } from './generated-status.ts';
import { before, now, TOKENS } from './generated-values.ts';

/** One observation with what users said. */
export interface Generated {
  readonly observation: Observation;
  readonly workflowState: WorkflowState;
}

const FACTS = { ours: OURS, absent: ABSENT, foreign: FOREIGN };

/** Everything that is generated. `wild`: see {@link memberDraw}. */
function drawn(wild: number) {
  return fc.record({
    cluster: clusterDraw(wild),
    members: fc.array(memberDraw(wild), { minLength: 1, maxLength: 5, size: 'max' }),
  });
}

/** Nearly well, with a few faults, and such as no cluster ever was. */
export const generated: fc.Arbitrary<Generated> = fc
  .oneof(drawn(150), drawn(60), drawn(20))
  .map(({ cluster, members }) => {
    const { calamity } = cluster;
    if (calamity === undefined) return build(cluster, members);
    return build(
      { ...cluster, membership: false },
      members.map(member => after(calamity, member)),
    );
  });

function build(draw: ClusterDraw, members: readonly MemberDraw[]): Generated {
  const cluster = clusterOf(draw, members);
  const names = members.map((_, serial) => memberName(NAME, serial));
  const observation = anObservation({
    now,
    cluster,
    pods: members.flatMap((member, at) => podOf(cluster, draw, { member, name: names[at] ?? '' })),
    claims: [...members.flatMap((member, at) => claimOf(draw, member, names[at] ?? '')), ...keptClaims(draw)],
    peerService: FACTS[draw.services.peer],
    clientService: FACTS[draw.services.client],
    disruptionBudget: FACTS[draw.services.budget],
    namesSeen:
      cluster.status.incarnation === undefined || cluster.status.incarnation.rebuilt === true ? names : [],
    probes: Object.fromEntries(
      members.flatMap((member, at) => (member.pod.there ? [[names[at], probeOf(draw, member, at)]] : [])),
    ) as Observation['probes'],
    membership: draw.membership ? membershipOf(draw, members) : UNKNOWN_MEMBERSHIP,
    ...(draw.asksForKeys && { hashes: hashesOf(members, names) }),
    ...(draw.restores.length > 0 && { restores: restoresOf(draw) }),
    ...(draw.hasBackup && { backups: [BACKUP] }),
  });
  return { observation, workflowState: workflowStateOf(draw, members) };
}

const BACKUP: NonNullable<Observation['backups']>[number] = {
  name: 'nightly',
  uid: 'backup',
  newest: {
    time: before(3_600),
    location: 's3://backups/etcd/1',
    revision: 10,
    size: 4_128,
    verified: 'Checksum',
    clusterID: CLUSTER_ID,
  },
  lastRun: undefined,
  nextRun: undefined,
  timeoutSeconds: 600,
};
/** An incarnation that was put aside, of members that are none of today's. */
const KEPT = {
  token: TOKENS.kept,
  clusterID: 'feed',
  revision: 5,
  members: [90, 91, 92].map(serial => ({ name: memberName(NAME, serial) })),
};

function keptClaims({ restores, kept, spec: { versions } }: ClusterDraw): ClaimFacts[] {
  if (!restores.some(({ back }) => back)) return [];
  return KEPT.members.slice(0, kept).map(({ name }) =>
    aClaim({
      name,
      owned: false,
      keptByRestore: true,
      token: KEPT.token,
      clusterId: KEPT.clusterID,
      version: versions.current,
      annotations: { [ANNOTATION_KEPT_INCARNATION]: JSON.stringify(KEPT) },
    }),
  );
}

function restoresOf({ restores }: ClusterDraw): NonNullable<Observation['restores']> {
  return restores.map(({ proved, confirms, age, onlyAfterTotalLoss, back }, at) => ({
    name: `back-${at}`,
    uid: `restore-${at}`,
    createdAt: before(age),
    ...(proved && {
      source: {
        location: 's3://backups/etcd/1',
        size: 4_128,
        snapshotSize: 4_096,
        revision: 10,
        etcdVersion: '3.5.35',
        clusterID: CLUSTER_ID,
        sha256: 'abc',
        compression: 'none' as const,
      },
    }),
    confirmClusterId: { nobody: '', own: CLUSTER_ID, other: 'abcdef' }[confirms],
    revisionBump: 1_000,
    ...(onlyAfterTotalLoss && { onlyAfterTotalLoss: true }),
    ...(back && { incarnation: KEPT.token }),
  }));
}

function workflowStateOf(
  { users, spec: { versions } }: ClusterDraw,
  members: readonly MemberDraw[],
): WorkflowState {
  const name = memberName(NAME, users.whom % members.length);
  const id = idOf(name);
  const { asked, approved, aborted } = users;
  const hop = (what: string) => [
    what,
    versions.current,
    versions.target || (versions.asked ?? versions.current),
  ];
  const ids = {
    nothing: [],
    replaceMember: [id],
    restart: [`pod-${name}`],
    moveLeader: [id],
    defragment: [id],
  }[asked];
  const words = { nothing: [], member: [id], begin: hop('begin'), finish: hop('finish') }[approved];
  const operation = approved === 'member' ? 'replaceMember' : 'upgradeCluster';
  return {
    ...(users.paused && { paused: { by: 'me' } }),
    ...(aborted !== undefined && { aborted: { operation: aborted, generation: 3 } }),
    ...(asked !== 'nothing' && {
      requests: [{ id: 1, kind: asked, target: name, by: 'me', ...(users.isAccepted && { ids }) }],
    }),
    ...(approved !== 'nothing' && {
      approvals: [{ id: 2, operation, ids: words, by: 'me', expiresAt: now + 60_000 }],
    }),
  };
}
