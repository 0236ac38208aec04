/** How operations end: what `status.lastOperation` says of them is what was observed. */
import { ACTION_TIMING } from '../../../src/planner/model/steps/row.ts';
import type { ObstacleReason } from '../../../src/api/obstacles/catalogue.ts';
import { describe, expect, it } from 'vitest';
import type { EtcdClusterSpec, EtcdClusterStatus } from '../../../src/api/schemas/types.ts';
import type { Decision } from '../../../src/planner/model/decision.ts';
import type { Observation } from '../../../src/planner/model/observation.ts';
import type { WorkflowState } from '../../../src/planner/model/workflow-state.ts';
import { observedMembers } from '../../../src/planner/report/members.ts';
import { statusOf } from '../../../src/planner/report/status.ts';
import { transitions } from '../../../src/planner/report/events.ts';
import {
  aCluster,
  anIncarnation,
  aPod,
  aProbe,
  aRunningCluster,
  aRunningStatus,
  LONG_AGO,
  namesOf,
  NOW,
  UNKNOWN_MEMBERSHIP,
} from '../../worlds/builders.ts';
import { situationOf } from '../../../src/planner/situation.ts';

const IDLE: Decision = { kind: 'idle', nextPassSeconds: 60 };
const blocked = (reason: ObstacleReason, summary?: string): Decision => ({
  kind: 'blocked',
  reason,
  message: `it is ${reason}`,
  nextPassSeconds: 10,
  plan: summary === undefined ? [] : [{ kind: 'awaitMembers', summary }],
});
const other: Decision = {
  kind: 'operate',
  operation: 'deleteCluster',
  step: { kind: 'removeFinalizer' },
  timing: ACTION_TIMING,
  plan: [{ kind: 'removeFinalizer', summary: 'remove the finalizer' }],
};

interface Case {
  readonly type: string;
  readonly goal?: string;
  readonly decision?: Decision;
  readonly workflowState?: WorkflowState;
  readonly spec?: EtcdClusterSpec;
  readonly status?: Partial<EtcdClusterStatus>;
  readonly world?: Partial<Observation>;
}

/** The status that a pass writes after which the operation is not planned any more. */
function after({ type, goal, decision = IDLE, workflowState = {}, spec, status = {}, world = {} }: Case) {
  const operation = { type, startedAt: LONG_AGO, ...(goal !== undefined && { goal }) };
  const before = { ...aRunningStatus(), ...status, operation };
  const cluster = aCluster({ status: before, ...(spec && { spec }) });
  const observation = aRunningCluster({ cluster, ...world });
  const findings = {
    situation: situationOf(observation, workflowState),
    decision,
    members: observedMembers(situationOf(observation)),
  };
  const written = statusOf(findings, { workflowId: 'w', now: NOW });
  return { before, written, last: written.lastOperation, operation: written.operation };
}

const running = (version: string) =>
  Object.fromEntries(namesOf(3).map(name => [name, aProbe({ name, version })]));
const podsOf = (version: string) => namesOf(3).map(name => aPod({ name, version }));
const NO_QUORUM = { membership: UNKNOWN_MEMBERSHIP };
const fewer = (count: number): Partial<Observation> => {
  const { membership } = aRunningCluster();
  if (!membership.known) throw new Error('the builder knows its members');
  return { membership: { ...membership, members: membership.members.slice(0, count) } };
};
const asked = (
  kind: 'moveLeader' | 'restart' | 'replaceMember',
  target: string,
  ids: string[],
): WorkflowState => ({
  requests: [{ id: 1, kind, target, ids, by: 'me' }],
});
const restored = (name: string, completedAt?: string): Partial<EtcdClusterStatus> => ({
  incarnation: {
    ...anIncarnation(),
    restore: { name, uid: `uid-of-${name}`, ...(completedAt !== undefined && { completedAt }) },
  },
});
const abortOfRestore = (name: string): WorkflowState => ({
  aborted: { operation: 'restoreCluster', generation: 1, subject: `uid-of-${name}`, by: 'me' },
});
const idOf = (serial: number): string => {
  const { membership } = aRunningCluster();
  return membership.known ? (membership.members[serial]?.id ?? '') : '';
};

describe('one pass without a quorum', () => {
  it.each([
    'scaleCluster',
    'replaceMember',
    'rolloutCluster',
    'upgradeCluster',
    'repairCluster',
    'createCluster',
  ])('does not end %s: no one knows', type => {
    const { last, operation } = after({ type, world: NO_QUORUM });
    expect(last).toBeUndefined();
    expect(operation).toMatchObject({ type, startedAt: LONG_AGO });
    expect(operation?.message).toMatch(/^no quorum answers/);
  });

  it('does not tell that an upgrade was taken back', () => {
    const { last, operation } = after({ type: 'upgradeCluster', goal: '3.6.17', world: NO_QUORUM });
    expect(last).toBeUndefined();
    expect(operation).toMatchObject({ type: 'upgradeCluster', goal: '3.6.17' });
  });
});

describe('an operation has succeeded', () => {
  it.each<[string, Case]>([
    ['scaling: as many voters as asked for', { type: 'scaleCluster' }],
    ['a replacement: the count is whole', { type: 'replaceMember' }],
    ['a repair: nothing is missing', { type: 'repairCluster' }],
    ['a rollout: no pod differs', { type: 'rolloutCluster' }],
    ['an upgrade: all run its version', { type: 'upgradeCluster', goal: '3.6.16' }],
    ['waking: all are ready', { type: 'wakeCluster' }],
    [
      'a handed over leadership: that member leads',
      {
        type: 'moveLeader',
        goal: 'moveLeader example-0',
        workflowState: asked('moveLeader', 'example-0', [idOf(0)]),
      },
    ],
    ['a hand-over before a leader leaves: no leader is about to', { type: 'moveLeader' }],
    [
      'a restore that follows one that was aborted',
      {
        type: 'restoreCluster',
        goal: 'tuesday',
        workflowState: abortOfRestore('monday'),
        status: restored('tuesday', NOW),
      },
    ],
    ['also when another one begins in the same pass', { type: 'scaleCluster', decision: other }],
    [
      'also when something else is in the way of what comes next',
      { type: 'scaleCluster', decision: blocked('MembersNotReady', 'restart example-0') },
    ],
  ])('%s', (_, given) => {
    const { last } = after(given);
    expect(last).toMatchObject({ type: given.type, outcome: 'Succeeded', completedAt: NOW });
    expect(last).not.toHaveProperty('message');
  });
});

describe('an operation that is not planned any more has not succeeded', () => {
  it.each<[string, Case, string, RegExp]>([
    [
      'a rollout of a specification that no pod can be made of',
      { type: 'rolloutCluster', spec: { TLS: { auto: {} } }, decision: blocked('ModeSwitched') },
      'Interrupted',
      /it is ModeSwitched/,
    ],
    [
      'scaling that stopped short',
      { type: 'scaleCluster', spec: { size: 5 } },
      'Interrupted',
      /goal was not reached/,
    ],
    [
      'scaling that something is in the way of',
      { type: 'scaleCluster', spec: { size: 5 }, decision: blocked('SpecInvalid') },
      'Interrupted',
      /it is SpecInvalid/,
    ],
    [
      'scaling that another one goes before',
      { type: 'scaleCluster', spec: { size: 5 }, decision: other },
      'Superseded',
      /^deleteCluster goes first: remove the finalizer/,
    ],
    [
      'a replacement with a member too few',
      { type: 'replaceMember', world: fewer(2) },
      'Interrupted',
      /goal was not reached/,
    ],
    [
      'scaling whose step failed',
      {
        type: 'scaleCluster',
        spec: { size: 5 },
        workflowState: { failed: { operation: 'scaleCluster', message: 'pods is forbidden', retryAt: 0 } },
      },
      'Failed',
      /^pods is forbidden$/,
    ],
    [
      'scaling that was aborted',
      {
        type: 'scaleCluster',
        spec: { size: 5 },
        decision: blocked('Aborted', 'add example-3 as a learner'),
        workflowState: { aborted: { operation: 'scaleCluster', generation: 1, by: 'me' } },
      },
      'Aborted',
      /^aborted by me/,
    ],
    [
      'a restore that was aborted and undone',
      {
        type: 'restoreCluster',
        goal: 'monday',
        workflowState: abortOfRestore('monday'),
        status: { incarnation: anIncarnation() },
      },
      'Aborted',
      /^aborted by me$/,
    ],
    [
      'a restore that was aborted when its members were there',
      {
        type: 'restoreCluster',
        goal: 'monday',
        workflowState: abortOfRestore('monday'),
        status: restored('monday'),
      },
      'Aborted',
      /^aborted by me$/,
    ],
    [
      'a hand-over whose leader is about to leave still',
      {
        type: 'moveLeader',
        world: { pods: namesOf(3).map(name => aPod({ name, deleting: name === 'example-0' })) },
      },
      'Interrupted',
      /goal was not reached/,
    ],
    [
      'a hand-over that was taken back',
      { type: 'moveLeader', goal: 'moveLeader example-1' },
      'Aborted',
      /^moveLeader example-1 is no longer requested$/,
    ],
    [
      'restarts that were taken back',
      { type: 'rolloutCluster', goal: 'restart of all members' },
      'Aborted',
      /^restart of all members is no longer requested/,
    ],
    [
      'a rollout after which a member is not ready',
      {
        type: 'rolloutCluster',
        world: { pods: [...podsOf('3.6.16').slice(0, 2), aPod({ name: 'example-2', ready: false })] },
      },
      'Interrupted',
      /goal was not reached/,
    ],
    [
      'an upgrade that was taken back by its owner',
      { type: 'upgradeCluster', goal: '3.6.17', spec: { size: 3, version: '3.6.16' } },
      'RolledBack',
      /^every member runs 3\.6\.16 again instead of 3\.6\.17$/,
    ],
    [
      'an upgrade whose member did not come up',
      {
        type: 'upgradeCluster',
        goal: '3.6.17',
        spec: { size: 3, version: '3.6.17' },
        decision: blocked('RolledBack', 'restart example-0'),
        status: {
          targetVersion: '3.6.17',
          upgradeFailure: {
            version: '3.6.17',
            member: 'example-2',
            message: 'example-2 CrashLoopBackOff',
            time: LONG_AGO,
            generation: 1,
          },
        },
      },
      'RolledBack',
      /^example-2 CrashLoopBackOff; example-2 was rolled back$/,
    ],
    [
      'a restore that was given up',
      { type: 'restoreCluster', goal: 'monday', status: { incarnation: anIncarnation() } },
      'RolledBack',
      /^monday was abandoned/,
    ],
  ])('%s', (_, given, outcome, message) => {
    const { before, written, last, operation } = after(given);
    expect(last).toMatchObject({ type: given.type, outcome, completedAt: NOW });
    expect(last?.message).toMatch(message);
    expect(operation?.type).not.toBe(given.type);
    const told = transitions(before, written).filter(({ reason }) => reason.startsWith('Operation'));
    expect(told[0]).toMatchObject({
      reason: `Operation${outcome}`,
      type: outcome === 'Superseded' ? 'Normal' : 'Warning',
    });
  });

  it('while an upgrade has a way to go: it goes on, whatever is in the way', () => {
    const spec = { size: 3, version: '3.6.17' };
    const given = { type: 'upgradeCluster', goal: '3.6.17', spec, decision: blocked('NameTaken') };
    expect(after(given)).toMatchObject({
      last: undefined,
      operation: { type: 'upgradeCluster', message: 'it is NameTaken' },
    });
  });

  it('while an alarm of space stands: it goes on, whatever is in the way', () => {
    const errors = ['memberID:161 alarm:NOSPACE '];
    const probes = Object.fromEntries(namesOf(3).map(name => [name, aProbe({ name, errors })]));
    const given = { type: 'reclaimSpace', decision: blocked('SpecInvalid') };
    expect(after({ ...given, world: { probes } })).toMatchObject({
      last: undefined,
      operation: { type: 'reclaimSpace', message: 'it is SpecInvalid' },
    });
  });

  it('while it is held up: it goes on', () => {
    const { last, operation } = after({
      type: 'scaleCluster',
      spec: { size: 5 },
      decision: blocked('MembersUnhealthy', 'add example-3 as a learner'),
    });
    expect(last).toBeUndefined();
    expect(operation).toMatchObject({ type: 'scaleCluster', message: 'it is MembersUnhealthy' });
  });

  it('while some members run the version of an upgrade and others do not', () => {
    const probes = { ...running('3.6.16'), 'example-2': aProbe({ name: 'example-2', version: '3.6.15' }) };
    const pods = podsOf('3.6.16').map(pod =>
      pod.name === 'example-2' ? { ...pod, version: '3.6.15' } : pod,
    );
    const { last } = after({ type: 'upgradeCluster', goal: '3.6.16', world: { probes, pods } });
    expect(last).toMatchObject({ outcome: 'Interrupted' });
  });
});

describe('the goal of an upgrade', () => {
  const upgrade: Decision = { ...other, operation: 'upgradeCluster' };
  const goalOf = (goal: string | undefined, version: string) =>
    after({
      type: 'upgradeCluster',
      ...(goal !== undefined && { goal }),
      decision: upgrade,
      spec: { size: 3, version },
      status: { currentVersion: '3.6.15', targetVersion: '3.6.16' },
    }).operation?.goal;

  it('is the version that is asked for, also when that changes on the way', () => {
    expect(goalOf(undefined, '3.6.16')).toBe('3.6.16');
    expect(goalOf('3.6.16', '3.6.17')).toBe('3.6.17');
  });

  it('stays what it was when the upgrade is turned round', () => {
    expect(goalOf('3.6.16', '3.6.15')).toBe('3.6.16');
  });
});
