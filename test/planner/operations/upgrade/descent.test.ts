/** What etcd is asked on the way to an older minor and back, and what is remembered of it. */
import { describe, expect, it } from 'vitest';
import type { EtcdClusterStatus } from '../../../../src/api/schemas/types.ts';
import type { MemberProbe } from '../../../../src/planner/model/member-probe.ts';
import type { Decision } from '../../../../src/planner/model/decision.ts';
import type { Goal } from '../../../../src/planner/model/upgrade-goal.ts';
import {
  beforeJoin,
  downgradeStep,
  recordedDowngrade,
  stepAfterStop,
  strangeDowngrade,
} from '../../../../src/planner/operations/upgrade/descent.ts';
import { startVersion } from '../../../../src/planner/operations/upgrade/pods.ts';
import { pointOfNoReturn } from '../../../../src/planner/operations/upgrade/steps.ts';
import { situationOf } from '../../../../src/planner/situation.ts';
import {
  aClaim,
  aCluster,
  aPod,
  aProbe,
  aRunningCluster,
  aRunningStatus,
  namesOf,
  UNKNOWN_MEMBERSHIP,
} from '../../../worlds/builders.ts';

const NAMES = namesOf(3);

/** What one member says: its release, the minor of cluster and data, and to what a downgrade is enabled. */
interface Said {
  readonly version: string;
  readonly minor: string;
  readonly storage?: string | undefined;
  readonly downgrade?: string | undefined;
}

const NEWER: Said = { version: '3.7.3', minor: '3.7.0', storage: '3.7.0', downgrade: '' };
const LOWERED: Said = { version: '3.7.3', minor: '3.6.0', storage: '3.6.0', downgrade: '3.6.0' };
const OLDER: Said = { ...LOWERED, version: '3.6.16' };

function probeOf(name: string, { version, minor, storage, downgrade }: Said): MemberProbe {
  return aProbe({ name, version, agreed: { cluster: minor, storage, downgrade } });
}

function cluster(
  said: readonly (Said | undefined)[],
  { status = {}, ...given }: { readonly status?: EtcdClusterStatus; readonly known?: false } = {},
) {
  const probes = NAMES.flatMap((name, at) => {
    const each = said[at];
    return each === undefined ? [] : [[name, probeOf(name, each)] as const];
  });
  return situationOf(
    aRunningCluster({
      cluster: aCluster({ spec: { size: 3, version: '3.6.16' }, status: { ...aRunningStatus(), ...status } }),
      pods: NAMES.map((name, at) => aPod({ name, version: said[at]?.version ?? '3.7.3' })),
      probes: Object.fromEntries(probes),
      ...(given.known === false && { membership: UNKNOWN_MEMBERSHIP }),
    }),
  );
}

function goal(from: string, to: string): Goal {
  return { kind: 'go', from, to, after: [], notes: [] };
}

const DOWN = goal('3.7.3', '3.6.16');
const BACK = goal('3.7.3', '3.7.3');
const OWN = { status: { downgradeVersion: '3.6.0' } };

describe('before the next member', () => {
  it.each([
    ['no member is ready', [NEWER, NEWER, NEWER], 'enableDowngrade'],
    ['one has not lowered its data', [LOWERED, LOWERED, { ...LOWERED, storage: '3.7.0' }], 'enableDowngrade'],
    ['one does not say', [LOWERED, LOWERED, { ...LOWERED, storage: undefined }], 'enableDowngrade'],
    [
      'it is enabled no more',
      [NEWER, NEWER, NEWER].map(said => ({ ...said, minor: '3.6.0', storage: '3.6.0' })),
      'enableDowngrade',
    ],
    ['all are ready', [LOWERED, LOWERED, LOWERED], undefined],
    [
      'one is there, and somebody has cancelled it',
      [OLDER, LOWERED, LOWERED].map(said => ({ ...said, downgrade: '' })),
      undefined,
    ],
  ])('on the way down: %s', (_, said, kind) => {
    expect(downgradeStep(cluster(said), DOWN)?.kind).toBe(kind);
  });

  it('members of 3.5 say nothing of their data', () => {
    const lowered = { version: '3.6.16', minor: '3.5.0', storage: '3.5.0', downgrade: '3.5.0' };
    const old = { version: '3.5.35', minor: '3.5.0' };
    expect(downgradeStep(cluster([old, lowered, lowered]), goal('3.6.16', '3.5.35'))).toBeUndefined();
    expect(downgradeStep(cluster([old, old, lowered]), goal('3.6.16', '3.6.16'))).toBeUndefined();
  });

  it('a member of 3.6 or newer is asked, the leader where it can be', () => {
    const old = { version: '3.5.35', minor: '3.5.0' };
    const left = { version: '3.6.16', minor: '3.5.0', storage: '3.5.0', downgrade: '3.5.0' };
    expect(downgradeStep(cluster([NEWER, NEWER, NEWER]), DOWN)).toMatchObject({
      member: 'example-0',
      version: '3.6.0',
      members: NAMES,
    });
    expect(downgradeStep(cluster([old, left, old]), goal('3.5.35', '3.6.16'))).toEqual({
      kind: 'cancelDowngrade',
      member: 'example-1',
      version: '3.5.0',
      members: NAMES,
    });
  });

  it.each([
    ['which this operator has enabled, is cancelled on the way back', OWN, 'cancelDowngrade'],
    ['which somebody else has enabled, is not', {}, undefined],
  ])('a downgrade %s', (_, status, kind) => {
    expect(downgradeStep(cluster([OLDER, LOWERED, LOWERED], status), BACK)?.kind).toBe(kind);
  });
});

describe('a downgrade that has stopped', () => {
  it('is cancelled while no member runs the older minor, and otherwise left for what comes', () => {
    expect(stepAfterStop(cluster([LOWERED, LOWERED, LOWERED], OWN), DOWN)?.kind).toBe('cancelDowngrade');
    expect(stepAfterStop(cluster([OLDER, LOWERED, LOWERED], OWN), DOWN)).toBeUndefined();
    expect(stepAfterStop(cluster([LOWERED, LOWERED, LOWERED], OWN), BACK)).toBeUndefined();
  });
});

describe('a downgrade to another minor than that of the goal', () => {
  const strange = [{ ...NEWER, version: '3.6.16', minor: '3.6.0', storage: '3.6.0', downgrade: '3.5.0' }];
  it('is reported with the command that cancels it', () => {
    const obstacle = strangeDowngrade(
      cluster([...strange, ...strange, ...strange]),
      goal('3.6.15', '3.6.16'),
    );
    expect(obstacle).toMatchObject({ reason: 'DowngradeEnabled' });
    expect(obstacle?.message).toMatch(/kubectl exec example-0 -c etcd -- etcdctl downgrade cancel$/);
  });

  it('is none where it is that of the goal, this operator’s, or not enabled', () => {
    expect(strangeDowngrade(cluster([LOWERED, LOWERED, LOWERED]), DOWN)).toBeUndefined();
    expect(strangeDowngrade(cluster([LOWERED, LOWERED, LOWERED], OWN), BACK)).toBeUndefined();
    expect(strangeDowngrade(cluster([NEWER, NEWER, undefined]), DOWN)).toBeUndefined();
  });
});

describe('what this operator has enabled', () => {
  const blocked = { kind: 'blocked', reason: 'Paused', message: '', plan: [] } as never;
  it.each([
    ['while members say so', [LOWERED, LOWERED, undefined], {}, '3.6.0'],
    ['while nobody says', [undefined, undefined, undefined], {}, '3.6.0'],
    ['while no quorum answers', [undefined, undefined, undefined], { known: false as const }, '3.6.0'],
    ['until they say that it is over', [NEWER, NEWER, NEWER], {}, undefined],
  ])('is remembered %s', (_, said, given, expected) => {
    const status = { ...OWN.status, currentVersion: '3.7.3', targetVersion: '3.6.16' };
    expect(recordedDowngrade(cluster(said, { status, ...given }), blocked)).toBe(expected);
  });
});

describe('a member without a pod', () => {
  const situation = (claim: Parameters<typeof aClaim>[0]) =>
    situationOf(aRunningCluster({ pods: [], claims: [aClaim({ name: 'example-0', ...claim })] }));
  it.each([
    ['whose pod somebody deleted starts with the newer release', { version: '3.7.3' }, DOWN, '3.7.3'],
    [
      'that the operator stopped starts with the older one',
      { version: '3.7.3', stopped: 'uid' },
      DOWN,
      '3.6.16',
    ],
    ['that ran the older minor starts with it', { version: '3.6.15' }, DOWN, '3.6.16'],
    ['starts with the newer one on the way up', { version: '3.6.16' }, goal('3.6.16', '3.7.3'), '3.7.3'],
  ])('%s', (_, claim, to, version) => {
    expect(startVersion(situation(claim), to, 'example-0')).toBe(version);
  });
});

it('the last step down is said to be the end of the downgrade', () => {
  expect(pointOfNoReturn('3.7.3', '3.6.16')).toContain('the way back to 3.7 is an upgrade');
  expect(pointOfNoReturn('3.6.16', '3.7.3')).toContain('the point of no return');
  expect(pointOfNoReturn('3.6.16', '3.6.15')).toBeUndefined();
});

describe('a member that is about to join while a downgrade is enabled', () => {
  const adding = { kind: 'operate', operation: 'scaleCluster', step: { kind: 'addLearner' } } as Decision;
  const failed = { kind: 'blocked', reason: 'LearnerGivenUp', message: '' } as Decision;
  const quiet = { kind: 'none' } as const;

  it('waits until the one of this operator is cancelled', () => {
    const situation = { ...cluster([LOWERED, LOWERED, LOWERED], { status: { downgradeVersion: '3.6.0' } }) };
    const goal: Goal = { kind: 'go', from: '3.7.3', to: '3.6.16', after: [], notes: [] };
    expect(beforeJoin({ ...situation, goal }, adding)).toMatchObject({
      operation: 'scaleCluster',
      step: { kind: 'cancelDowngrade' },
    });
  });

  it('is tried again later, when one has failed beside the one of this operator', () => {
    const situation = cluster([LOWERED, LOWERED, LOWERED], { status: { downgradeVersion: '3.6.0' } });
    const goal: Goal = { kind: 'go', from: '3.7.3', to: '3.6.16', after: [], notes: [] };
    expect(beforeJoin({ ...situation, goal }, failed)).toBe(failed);
  });

  it("waits for the person who has enabled somebody's, also when one has failed for it", () => {
    const situation = { ...cluster([LOWERED, LOWERED, LOWERED]), goal: quiet };
    for (const decision of [adding, failed])
      expect(beforeJoin(situation, decision)).toMatchObject({
        kind: 'blocked',
        reason: 'DowngradeEnabled',
        message: expect.stringContaining('kubectl exec example-0 -c etcd -- etcdctl downgrade cancel'),
      });
  });

  it('joins when none is, and nothing else is held up', () => {
    expect(beforeJoin({ ...cluster([NEWER, NEWER, NEWER]), goal: quiet }, adding)).toBe(adding);
    const idle = { kind: 'idle' } as Decision;
    expect(beforeJoin({ ...cluster([LOWERED, LOWERED, LOWERED]), goal: quiet }, idle)).toBe(idle);
    expect(beforeJoin({ ...cluster([LOWERED, LOWERED, LOWERED]), goal: quiet }, undefined)).toBeUndefined();
  });
});

it('the first member is asked for a downgrade where none says what it runs', () => {
  const goal: Goal = { kind: 'go', from: '3.7.3', to: '3.6.16', after: [], notes: [] };
  expect(downgradeStep(cluster([undefined, undefined, undefined]), goal)).toMatchObject({
    kind: 'enableDowngrade',
    member: 'example-0',
    version: '3.6.0',
  });
});
