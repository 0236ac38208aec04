/** Claims with too few stamps get them when a quorum and their members report them. */
import { describe, expect, it } from 'vitest';
import {
  ANNOTATION_CLUSTER_ID,
  ANNOTATION_DATA_VERSION,
  ANNOTATION_MEMBER_ID,
} from '../../../../src/api/names.ts';
import { planStamps } from '../../../../src/planner/operations/stamps/claims.ts';
import {
  aClaim,
  aRunningCluster,
  CLUSTER_ID,
  idOf,
  namesOf,
  UNKNOWN_MEMBERSHIP,
  VERSION,
} from '../../../worlds/builders.ts';
import { situationOf } from '../../../../src/planner/situation.ts';

const claims = (given: object) => namesOf(3).map(name => aClaim({ name, ...given }));

describe('a claim of a member', () => {
  it('is left as it is when it says all', () => {
    expect(planStamps(situationOf(aRunningCluster()))).toBeUndefined();
  });

  it('gets the cluster id, the member id and the version', () => {
    const decision = planStamps(
      situationOf(aRunningCluster({ claims: claims({ clusterId: undefined, version: undefined }) })),
    );
    expect(decision).toMatchObject({ kind: 'operate', operation: 'repairCluster' });
    expect(decision?.kind === 'operate' && decision.step).toEqual({
      kind: 'labelClaim',
      claim: 'example-0',
      uid: 'claim-example-0',
      labels: {},
      annotations: {
        [ANNOTATION_CLUSTER_ID]: CLUSTER_ID,
        [ANNOTATION_MEMBER_ID]: idOf('example-0'),
        [ANNOTATION_DATA_VERSION]: VERSION,
      },
    });
  });

  it('gets only what it lacks', () => {
    const decision = planStamps(situationOf(aRunningCluster({ claims: claims({ version: undefined }) })));
    expect(decision?.kind === 'operate' && decision.step).toMatchObject({
      annotations: { [ANNOTATION_DATA_VERSION]: VERSION },
    });
  });

  it.each([
    ['no quorum tells', { membership: UNKNOWN_MEMBERSHIP }],
    ['its member does not answer', { probes: {} }],
    ['it is being deleted', { claims: claims({ version: undefined, deleting: true }) }],
  ])('is not reported while %s', (_, given) => {
    expect(
      planStamps(situationOf(aRunningCluster({ claims: claims({ version: undefined }), ...given }))),
    ).toBeUndefined();
  });
});
