/** When a member counts as one that does not come up with its new version, and what becomes of it. */
import { expect, test } from 'vitest';
import { ANNOTATION_RENDERED } from '../../../../src/api/names.ts';
import { memberPod } from '../../../../src/objects/pod.ts';
import { ephemeral } from '../../../../src/planner/operations/upgrade/ephemeral.ts';
import { failedMember, recordedFailure } from '../../../../src/planner/operations/upgrade/failure.ts';
import { canGoBack } from '../../../../src/planner/operations/upgrade/goal.ts';
import { afterCorrection, afterFailure } from '../../../../src/planner/operations/upgrade/rollback.ts';
import { startAgain } from '../../../../src/planner/operations/upgrade/steps.ts';
import type { EtcdClusterStatus } from '../../../../src/api/schemas/types.ts';
import type { Decision } from '../../../../src/planner/model/decision.ts';
import type { Goal } from '../../../../src/planner/model/upgrade-goal.ts';
import type { PodFacts } from '../../../../src/planner/model/observation.ts';
import {
  aClaim,
  aCluster,
  aPod,
  aProbe,
  aRunningCluster,
  aRunningStatus,
  LONG_AGO,
  namesOf,
  NOW,
  TOKEN,
} from '../../../worlds/builders.ts';
import { situationOf } from '../../../../src/planner/situation.ts';

const HOP: Goal = { kind: 'go', from: '3.6.15', to: '3.6.16', after: [], notes: [] };
const upgraded: Partial<PodFacts> = {
  version: '3.6.16',
  imageReplacedAt: Date.parse(LONG_AGO),
  ready: false,
};

test.each([
  ['does not get ready', upgraded, 'example-1'],
  ['was upgraded a minute ago', { ...upgraded, imageReplacedAt: Date.parse(NOW) - 60_000 }, undefined],
  [
    'was ready, and its node is not heard of any more',
    { ...upgraded, statusStale: true as const },
    undefined,
  ],
  ['crashes', { ...upgraded, trouble: { reason: 'CrashLoopBackOff', message: '' } }, 'example-1'],
  ['no node takes', { ...upgraded, trouble: { reason: 'Unschedulable', message: '' } }, undefined],
  [
    'was evicted (the simulation’s seed 2035830352)',
    { ...upgraded, phase: 'Failed', trouble: { reason: 'Evicted', message: '' } },
    undefined,
  ],
  ['runs the old version still', { ...upgraded, version: '3.6.15' }, undefined],
])('a member that %s', (_, given, expected) => {
  const pods = namesOf(3).map(name => aPod({ name, ...(name === 'example-1' ? given : {}) }));
  const probes = {};
  expect(failedMember(situationOf(aRunningCluster({ pods, probes })), HOP)?.name).toBe(expected);
});

test('a member that answers reads with the new version has not failed, whatever keeps its pod from being ready', () => {
  const failedWhen = (ok: boolean) => {
    const pods = namesOf(3).map(name => aPod({ name, ...(name === 'example-1' ? upgraded : {}) }));
    const read = ok ? { ok, revision: '10' } : { ok, message: 'etcdserver: no leader' };
    const probes = { 'example-1': { ...aProbe({ name: 'example-1', version: '3.6.16' }), read } };
    return failedMember(situationOf(aRunningCluster({ pods, probes })), HOP)?.name;
  };
  expect(failedWhen(false)).toBe('example-1');
  expect(failedWhen(true)).toBeUndefined();
});

test.each([
  { before: 'Healthy', expected: undefined },
  { before: 'Unknown', expected: 'example-1' },
  { before: 'Unhealthy', expected: 'example-1' },
] as const)(
  'a member that answers no read has failed only if it did not answer the pass before: $before',
  ({ before, expected }) => {
    const pods = namesOf(3).map(name => aPod({ name, ...(name === 'example-1' ? upgraded : {}) }));
    const members = { details: [{ name: 'example-1', health: before }] };
    const cluster = aCluster({ status: { ...aRunningStatus(), members } });
    const failed = failedMember(situationOf(aRunningCluster({ cluster, pods, probes: {} })), HOP);
    expect(failed?.name).toBe(expected);
  },
);

const MINOR = { from: '3.5.35', to: '3.6.16' };
const down = { ready: false, trouble: { reason: 'CrashLoopBackOff', message: 'panic' } };

test.each([
  ['one runs the older minor', '3.5.35', {}, true],
  ['all run the newer minor, which the leader makes the cluster’s at any moment', '3.6.16', {}, false],
  ['the last one does not come up with the newer minor', '3.6.16', down, true],
])('members can go back to the older minor while %s: %s', (_, version, last, expected) => {
  const names = namesOf(3);
  const pods = names.map(name =>
    aPod({ name, version: '3.6.16', ...(name === 'example-2' && { version, ...last }) }),
  );
  const agreed = { cluster: '3.5.0' };
  const answers = names.map(
    name => [name, aProbe({ name, agreed, version: name === 'example-2' ? version : '3.6.16' })] as const,
  );
  const answered = answers.filter(([name]) => name !== 'example-2' || last !== down);
  const probes = Object.fromEntries(answered);
  expect(canGoBack(situationOf(aRunningCluster({ pods, probes })), MINOR)).toBe(expected);
});

test('a member of the former version that fails with a setting which was corrected is started again from the image that it ran', () => {
  const asked = aCluster({ spec: { size: 3, version: HOP.to }, status: aRunningStatus() });
  const faulty = aCluster({
    spec: { size: 3, version: HOP.to, etcd: { quotaBackendBytes: 3 * 1024 ** 3 } },
    status: aRunningStatus(),
  });
  const stamp = memberPod(faulty.object, {
    name: 'example-1',
    token: TOKEN,
    start: { state: 'restart' },
    storage: 'PersistentVolumeClaim',
    version: HOP.from,
  }).metadata.annotations?.[ANNOTATION_RENDERED];
  const failed = aPod({ name: 'example-1', version: HOP.from, stamp, ready: false });
  const image = `mirror.example.org/etcd:v${HOP.from}`;
  const decided = (formerImage?: string) => {
    const claims = namesOf(3).map(name =>
      aClaim({ name, ...(formerImage !== undefined && { formerImage }) }),
    );
    const observation = aRunningCluster({ cluster: asked, pods: [aPod(), failed], claims });
    const situation = situationOf(observation);
    return { decision: afterCorrection(situation, HOP, failed), situation };
  };
  const next = { version: HOP.from, image };
  const { decision, situation } = decided(image);
  expect(decision).toMatchObject({
    operation: 'upgradeCluster',
    step: { kind: 'stopMember', member: 'example-1', next },
    plan: expect.arrayContaining([
      { kind: 'restartMember', summary: 'start example-1 again on its volume with etcd 3.6.15' },
    ]) as unknown,
  });
  expect(startAgain(situation, 'example-1', next)).toMatchObject([{ kind: 'restartMember', ...next }, {}]);
  const { decision: fromSpecification } = decided();
  expect(fromSpecification).toMatchObject({ step: { next: { version: HOP.from } } });
  expect(fromSpecification).not.toHaveProperty('step.next.image');
});

test('a member that still answers is not taken back while the others are no quorum without it (observations of seed 879122789)', () => {
  const decided = (others: readonly string[], answers = true) => {
    const pods = namesOf(3).map(name => aPod({ name, ...(name === 'example-2' ? upgraded : {}) }));
    const failed = {
      ...aProbe({ name: 'example-2', version: HOP.to }),
      read: { ok: false as const, message: 'no leader' },
    };
    const well = others.map(name => [name, aProbe({ name, version: HOP.from })] as const);
    const probes = { ...Object.fromEntries(well), ...(answers && { 'example-2': failed }) };
    const claims = namesOf(3).map(name => aClaim({ name }));
    return afterFailure(situationOf(aRunningCluster({ pods, probes, claims })), HOP, aPod({ ...pods[2] }));
  };
  expect(decided(['example-0'])).toMatchObject({ kind: 'blocked', reason: 'MembersUnhealthy' });
  expect(decided(['example-0', 'example-1'])).toMatchObject({ kind: 'operate' });
  expect(decided(['example-0'], false)).toMatchObject({ kind: 'operate' });
});

test('a member that cannot go back to the older minor: the newest backup is named, where there is one', () => {
  const newest = { time: NOW, location: 's3://backups/1', verified: 'Checksum' as const };
  const backup = { name: 'nightly', uid: 'u-1', newest, lastRun: undefined, nextRun: undefined };
  const pods = namesOf(3).map(name => aPod({ name, version: '3.6.16', ...(name === 'example-2' && down) }));
  const decided = (backups: readonly (typeof backup)[], status: EtcdClusterStatus = {}) => {
    const spec = { size: 3, version: MINOR.to };
    const cluster = aCluster({ spec, status: { ...aRunningStatus(), ...status } });
    const listed = backups.map(each => ({ ...each, timeoutSeconds: 600 }));
    const given = { cluster, pods, probes: {}, backups: listed };
    const goal: Goal = { kind: 'go', ...MINOR, after: [], notes: [] };
    return afterFailure(situationOf(aRunningCluster(given)), goal, aPod({ ...pods[2] }));
  };
  expect(decided([backup])).toMatchObject({
    kind: 'blocked',
    message: expect.stringMatching(
      /correct the cause, or restore the backup s3:\/\/backups\/1 from /,
    ) as unknown,
  });
  const before = { name: 'nightly', location: 's3://backups/0', time: LONG_AGO };
  const beforeUpgrade = { version: MINOR.from, to: MINOR.to, backup: before };
  expect(decided([backup], { beforeUpgrade })).toMatchObject({
    message: expect.stringContaining(
      `; or, to return to 3.5.35 and the data of ${LONG_AGO}, set spec.version to 3.5.35 and restore`,
    ) as unknown,
  });
  expect(decided([])).toMatchObject({
    message: expect.stringMatching(
      /; no EtcdBackup has a verified backup of this cluster; when every member runs 3\.6\.16 and is well, etcd's downgrade leads back and keeps the data: kubectl patch etcd example --type=merge -p '\{"spec":\{"version":"3\.5\.35"\}\}'$/,
    ) as unknown,
  });
});

test('what an upgrade failed with is remembered for as long as the specification stays the same', () => {
  const remembered = (generation: number) => {
    const upgradeFailure = { version: HOP.to, member: 'example-1', message: '', time: NOW, generation };
    const cluster = aCluster({ status: { ...aRunningStatus(), upgradeFailure } });
    return recordedFailure(situationOf(aRunningCluster({ cluster })), { kind: 'idle' } as Decision);
  };
  const { generation } = aCluster();
  expect(remembered(generation)).toMatchObject({ member: 'example-1' });
  expect(remembered(generation - 1)).toBeUndefined();
});

test('a member without a volume whose settings nobody changed is replaced, or its version put back', () => {
  const pod = aPod({ stamp: undefined });
  const situation = situationOf(aRunningCluster({ claims: [] }));
  const advice = (from: string) => ephemeral(situation, { ...HOP, from }, [pod])?.message;
  expect(advice(HOP.from)).toMatch(/or set spec\.version to 3\.6\.15 again$/);
  expect(advice(HOP.to)).toMatch(
    /or replace example-0 \(kubectl etcd replace, or the signal replaceMember\)$/,
  );
});
