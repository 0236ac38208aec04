/** A member is lost while another one is on its way in an upgrade or a rollout: the loss is made good first. */
import { describe, expect, it } from 'vitest';
import type { OperationStatus } from '../../../../src/api/schemas/types.ts';
import type { Observation, PodFacts } from '../../../../src/planner/model/observation.ts';
import { plan } from '../../../../src/planner/plan.ts';
import { upgrading } from '../../../../src/planner/operations/upgrade/conditions.ts';
import {
  aCluster,
  aRunningCluster,
  aRunningStatus,
  LONG_AGO,
  namesOf,
  NOW,
} from '../../../worlds/builders.ts';
import { situationOf } from '../../../../src/planner/situation.ts';

const SIZE = 5;
const COMING = 'example-1';
const LOST = 'example-2';
const HOMELESS: Partial<PodFacts> = {
  phase: 'Pending',
  ready: false,
  trouble: { reason: 'Unschedulable', message: 'no Node has its volume' },
};

/** Five members of 3.6.15, of which one is being changed; another one's volume is on a node that is gone, or it is well. */
function changing(
  type: OperationStatus['type'],
  { pod, isLost = true, size = SIZE }: { pod: Partial<PodFacts>; isLost?: boolean; size?: number },
): Observation {
  const isUpgrade = type === 'upgradeCluster';
  const details = namesOf(SIZE).map(name => ({
    name,
    health: 'Healthy' as const,
    ...(isLost && name === LOST && { lostSince: LONG_AGO }),
  }));
  const status = {
    ...aRunningStatus(SIZE),
    members: { details },
    currentVersion: '3.6.15',
    ...(isUpgrade && { targetVersion: '3.6.16' }),
    operation: { type, startedAt: LONG_AGO },
  };
  const cluster = aCluster({ spec: { size, version: isUpgrade ? '3.6.16' : '3.6.15' }, status });
  const whole = aRunningCluster({ cluster }, SIZE);
  const away = [COMING, ...(isLost ? [LOST] : [])];
  const silent = away.map(name => [name, { answered: false as const, message: 'refused' }] as const);
  const isGone = ({ name }: { readonly name: string }) => isLost && name === LOST;
  const pods = whole.pods.map(found => {
    if (found.name === COMING) return { ...found, ready: false, ...pod };
    return { ...found, version: '3.6.15', ...(isGone(found) && HOMELESS) };
  });
  const home = { node: 'node-2', exists: false };
  return {
    ...whole,
    probes: { ...whole.probes, ...Object.fromEntries(silent) },
    claims: whole.claims.map(claim => (isGone(claim) ? { ...claim, home } : claim)),
    pods,
  };
}

const ends = { deleting: true, goneBy: Date.parse(NOW) - 60_000, version: '3.6.15' };
const starts = { version: '3.6.16', createdAt: Date.parse(NOW) - 10_000 };

describe('a member that is lost while another one', () => {
  it.each([
    ['is waited for to be gone in an upgrade', changing('upgradeCluster', { pod: ends })],
    ['starts in an upgrade', changing('upgradeCluster', { pod: starts })],
    ['starts in a rollout', changing('rolloutCluster', { pod: { ...starts, version: '3.6.15' } })],
  ])('%s is removed at once', (_, observation) => {
    expect(plan(observation, {})).toMatchObject({
      kind: 'operate',
      operation: 'replaceMember',
      step: { kind: 'removeMember', member: LOST, replacement: 'Lost' },
    });
  });

  it('is not there: the upgrade goes on with the one that is on its way', () => {
    const ending = changing('upgradeCluster', { pod: ends, isLost: false });
    expect(plan(ending, {})).toMatchObject({ kind: 'blocked', reason: 'PodTerminating' });
    const starting = changing('upgradeCluster', { pod: starts, isLost: false });
    expect(plan(starting, {})).toMatchObject({ step: { kind: 'awaitVersion', member: COMING } });
  });
});

describe('a size that is asked for in the middle of an upgrade', () => {
  const told = (size: number): string => {
    const observation = changing('upgradeCluster', { pod: starts, isLost: false, size });
    return upgrading(situationOf(observation), plan(observation, {}))[0]?.message ?? '';
  };

  it('waits for its end, and reports it', () => {
    expect(told(3)).toMatch(
      /spec\.size is 3, but there are 5 members: the size is changed when the upgrade has ended/,
    );
    expect(told(SIZE)).not.toMatch(/spec\.size/);
  });
});
