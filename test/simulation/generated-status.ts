/** The resource of a generated observation: its specification, what is stamped on it, and its status. */
import {
  ANNOTATION_CLUSTER_ID,
  ANNOTATION_INCARNATION,
  memberHost,
  memberName,
} from '../../src/api/names.ts';
import type { EtcdClusterSpec, EtcdClusterStatus, Incarnation } from '../../src/api/schemas/types.ts';
import type { ClusterFacts } from '../../src/planner/model/observation.ts';
import { aCluster, CLUSTER_ID, idOf, NAME, NAMESPACE, TOKEN } from '../worlds/builders.ts';
import type { ClusterDraw } from './generated-cluster.ts';
import type { MemberDraw } from './generated-members.ts';
import { before, firstUid, TOKENS } from './generated-values.ts';

function specOf({ spec }: ClusterDraw, members: number): EtcdClusterSpec {
  const { versions, retain, totalLoss, replaceAfterSeconds, maxReplacementsPerHour } = spec;
  const { strategy, snapshotBefore, allowIntermediateVersions, hibernated, paused } = spec;
  return {
    size: Math.min(7, Math.max(1, members + spec.surplus)),
    ...(versions.asked !== undefined && { version: versions.asked }),
    ...(hibernated && { hibernated }),
    ...(paused && { paused }),
    ...(spec.isOtherDomain && { pod: { ClusterDomain: '.other.example' } }),
    ...(spec.isTls && { TLS: { auto: {} } }),
    storage: { retain, volumeClaimTemplate: { spec: { resources: { requests: { storage: '8Gi' } } } } },
    recovery: { totalLoss },
    repair: { replaceAfterSeconds, maxReplacementsPerHour },
    upgrade: { strategy, snapshotBefore, allowIntermediateVersions },
  };
}

export function clusterOf(draw: ClusterDraw, members: readonly MemberDraw[]): ClusterFacts {
  const listed = members.filter(({ listed }) => listed).length;
  const status = statusOf(draw, members);
  const { deleting, hasFinalizer } = draw;
  const facts = aCluster({
    spec: specOf(draw, Math.max(1, listed)),
    status,
    deleting,
    hasFinalizer,
    generation: 3,
  });
  const { stamps } = draw.status;
  if (stamps === 'none' || status.incarnation === undefined) return facts;
  const annotations = {
    [ANNOTATION_INCARNATION]: TOKENS[stamps] ?? '',
    ...(status.clusterID !== undefined && { [ANNOTATION_CLUSTER_ID]: CLUSTER_ID }),
  };
  const { object } = facts;
  return { ...facts, object: { ...object, metadata: { ...object.metadata, annotations } } };
}

/** The peer URL of a member. */
export function urlOf(member: string, url: MemberDraw['url']): string {
  if (url === 'stranger') return 'http://stranger.elsewhere:2380';
  const domain = url === 'own' ? undefined : 'other.example';
  return `http://${memberHost({ member, cluster: NAME, namespace: NAMESPACE, domain })}:2380`;
}

function incarnationOf({ status }: ClusterDraw, members: readonly MemberDraw[]): Incarnation {
  const all = members.map((_, serial) => memberName(NAME, serial));
  const isRestore = ['seeding', 'seeded', 'restored'].includes(status.incarnation);
  const restore = {
    name: 'back-0',
    uid: 'restore-0',
    ...(status.incarnation !== 'seeding' && { filled: true, seeded: true, revision: 10 }),
    ...(status.incarnation === 'restored' && { completedAt: before(500) }),
  };
  return {
    token: TOKEN,
    members: (isRestore ? all.slice(0, 1) : all).map(name => ({ name, peerURL: urlOf(name, 'own') })),
    createdAt: before(86_400),
    ...(status.incarnation === 'rebuilt' && { rebuilt: true }),
    ...(isRestore && { restore }),
  };
}

function statusOf(draw: ClusterDraw, members: readonly MemberDraw[]): EtcdClusterStatus {
  const { status, spec } = draw;
  const { phase, lastSerial = members.length - 1, underWay, givenUp } = status;
  const { current, target } = spec.versions;
  const isRecorded = status.incarnation !== 'none';
  const details = members.flatMap(({ detail, lostSince, claim }, at) => {
    if (detail === 'none') return [];
    const name = memberName(NAME, at);
    const role = detail === 'learner' ? ('Learner' as const) : ('Follower' as const);
    const lost = lostSince === undefined ? {} : { lostSince: before(lostSince) };
    const recorded = claim.isRecorded && !status.isEphemeral ? { claimUID: firstUid(name) } : {};
    return [{ name, id: idOf(name), role, health: 'Healthy' as const, ...lost, ...recorded }];
  });
  return {
    phase,
    ...(isRecorded && { incarnation: incarnationOf(draw, members) }),
    ...(isRecorded && status.clusterId && { clusterID: CLUSTER_ID }),
    ...(isRecorded && {
      storage: {
        kind: status.isEphemeral ? ('EmptyDir' as const) : ('PersistentVolumeClaim' as const),
        size: '8Gi',
      },
    }),
    lastSerial,
    ...(status.isCurrentKnown && { currentVersion: current }),
    ...(target !== '' && { targetVersion: target }),
    ...(status.hasLowered && target !== '' && { downgradeVersion: `${target.split('.', 2).join('.')}.0` }),
    ...(details.length > 0 && { members: { details } }),
    ...(underWay !== undefined && { operation: { type: underWay, startedAt: before(60) } }),
    ...(status.replaced && { replacements: [{ time: before(100), member: `${NAME}-9` }] }),
    ...(givenUp !== undefined && {
      givenUp: { time: before(givenUp), generation: 3, member: `${NAME}-8`, reason: 'no image' },
    }),
    ...(status.hasSlept && {
      conditions: [
        {
          type: 'Available',
          status: 'False',
          reason: 'Hibernated',
          message: '',
          lastTransitionTime: before(60),
        },
      ],
    }),
    ...(status.hasFailed && {
      upgradeFailure: {
        version: target || current,
        member: `${NAME}-0`,
        message: 'no',
        time: before(60),
        generation: 3,
      },
    }),
  };
}
