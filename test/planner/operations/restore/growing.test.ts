/** From the first member of a restore to as many as are asked for. */
import { describe, expect, it } from 'vitest';
import type { Observation } from '../../../../src/planner/model/observation.ts';
import { plan } from '../../../../src/planner/plan.ts';
import {
  ABSENT,
  aCluster,
  anIncarnation,
  aRunningCluster,
  aRunningStatus,
  NOW,
} from '../../../worlds/builders.ts';

const RESTORE = { name: 'restore', uid: 'restore-uid', filled: true, seeded: true, revision: 10 };

/** A restore whose first member serves, of three that are asked for. */
function growing(version: string): Observation {
  const status = { ...aRunningStatus(1), incarnation: { ...anIncarnation(1), restore: RESTORE } };
  const cluster = aCluster({ spec: { size: 3, version }, status });
  return aRunningCluster({ cluster, clientService: ABSENT }, 1);
}

describe('a restore whose first member serves', () => {
  it('is grown', () => {
    expect(plan(growing('3.6.16'), {})).toMatchObject({ step: { kind: 'addLearner' } });
  });

  it('of which a step is refused says how to undo it, and not once clients are let in', () => {
    const failed = {
      operation: 'restoreCluster',
      step: 'addLearner',
      message: 'exceeded quota',
      retryAt: Date.parse(NOW) + 5_000,
    } as const;
    const told = 'exceeded quota; the operator tries again';
    expect(plan(growing('3.6.16'), { failed })).toMatchObject({
      kind: 'blocked',
      reason: 'StepFailed',
      message: `${told}; to undo the restore instead, abort it or delete EtcdRestore restore`,
      operation: 'restoreCluster',
      subject: 'restore-uid',
    });
    const open = { ...growing('3.6.16'), clientService: { exists: true, owned: true } };
    expect(plan(open, { failed })).toMatchObject({ reason: 'StepFailed', message: told });
  });

  it('says what is wrong with the specification that no member can be added by, and waits for none (seed 1000055)', () => {
    expect(plan(growing('3.4.1'), {})).toMatchObject({ kind: 'blocked', reason: 'SpecInvalid' });
  });
});
