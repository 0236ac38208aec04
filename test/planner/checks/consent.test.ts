import { describe, expect, it } from 'vitest';
import { consentTo } from '../../../src/planner/checks/consent.ts';
import { situationOf } from '../../../src/planner/situation.ts';
import { anObservation } from '../../worlds/builders.ts';

const CONSENT = { operation: 'replaceMember', ids: ['8e9e05c5', 'c0ffee'] } as const;
const WHY = { reason: 'ReplacementBudget', message: 'too many were lost' } as const;
const NOW = anObservation().now;
const GIVEN = {
  id: 7,
  operation: 'replaceMember',
  ids: ['c0ffee', '8e9e05c5'],
  by: 'ana',
  expiresAt: NOW + 1,
};

function asked(approvals?: readonly (typeof GIVEN)[]) {
  return consentTo(situationOf(anObservation(), approvals && { approvals }), CONSENT, WHY);
}

describe('consent', () => {
  it('is given by an approval that names exactly this, in any order', () => {
    expect(asked([{ ...GIVEN, ids: ['c0ffee'] }, GIVEN])).toEqual({ approval: GIVEN });
  });

  it.each([
    ['nobody approved', undefined],
    ['it has expired', [{ ...GIVEN, expiresAt: NOW }]],
    ['it is for another operation', [{ ...GIVEN, operation: 'upgradeCluster' }]],
    ['it names less', [{ ...GIVEN, ids: ['c0ffee'] }]],
    ['it names one thing twice', [{ ...GIVEN, ids: ['c0ffee', 'c0ffee'] }]],
    ['it names more', [{ ...GIVEN, ids: [...GIVEN.ids, '1'] }]],
    ['it names something else', [{ ...GIVEN, ids: ['c0ffee', '1'] }]],
  ])('is not given when %s: what to send is said', (_, approvals) => {
    expect(asked(approvals)).toEqual({
      obstacle: {
        reason: 'ReplacementBudget',
        message:
          'too many were lost; to approve it, use "kubectl etcd approve" (an EtcdRequest) or send the signal approve with {"operation":"replaceMember","ids":["8e9e05c5","c0ffee"],"by":"your name"}',
        consent: CONSENT,
      },
    });
  });
});
