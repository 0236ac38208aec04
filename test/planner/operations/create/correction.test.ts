/** When members that never started are made again, and when what is there is left alone. */
import { describe, expect, it } from 'vitest';
import { correction } from '../../../../src/planner/operations/create/correction.ts';
import type { ClaimFacts } from '../../../../src/planner/model/observation.ts';
import { situationOf } from '../../../../src/planner/situation.ts';
import {
  aClaim,
  aCluster,
  anIncarnation,
  anObservation,
  aPod,
  namesOf,
  UNKNOWN_MEMBERSHIP,
} from '../../../worlds/builders.ts';

/** Three members that wait for a node, of a cluster that has not formed. */
function beginning(claim: Partial<ClaimFacts> = {}, rebuilt?: true) {
  const incarnation = { ...anIncarnation(3), ...(rebuilt && { rebuilt }) };
  const status = { incarnation, storage: { kind: 'PersistentVolumeClaim' as const } };
  const waits = { clusterId: undefined, phase: 'Pending', ready: false, unstarted: true } as const;
  const situation = situationOf(
    anObservation({
      cluster: aCluster({ spec: { size: 3, version: '3.6.16' }, status }),
      membership: UNKNOWN_MEMBERSHIP,
      pods: namesOf(3).map(name => aPod({ name, ...waits })),
      claims: namesOf(3).map(name => aClaim({ name, clusterId: undefined, ...claim })),
    }),
  );
  return correction(situation, incarnation);
}

describe('members that wait for a node', () => {
  it('are left as they are while the specification asks for what they have', () => {
    expect(beginning()).toBeUndefined();
  });

  it('are not taken for those of another template when nothing notes what they were made from', () => {
    expect(beginning({ phase: 'Pending' })).toBeUndefined();
  });

  it('are made again when a claim goes, but not where a cluster has lived', () => {
    expect(beginning({ deleting: true })).toMatchObject({ kind: 'remakeMembers', evenStarted: true });
    expect(beginning({ deleting: true }, true)).toBeUndefined();
  });
});
