/** What users can send by mistake or on purpose: a handler that throws blocks its workflow for good. */
import { describe, expect, it } from 'vitest';
import { OPERATION_REQUESTS } from '../../src/api/actions.ts';
import { approvalFrom } from '../../src/workflows/cluster/approvals.ts';
import { requestOf } from '../../src/workflows/cluster/requests.ts';
import { requestFrom, shortText } from '../../src/workflows/messages/text.ts';

const nested = JSON.parse(`${'['.repeat(200_000)}${']'.repeat(200_000)}`) as unknown;

describe('a text of a message', () => {
  it.each([
    ['an object whose toString is no function', JSON.parse('{"toString": 1, "valueOf": null}')],
    ['an object whose toJSON is no function', JSON.parse('{"toJSON": 1}')],
    ['lists within lists', nested],
    ['nothing', null],
  ])('%s is not a text, and does not throw', (_, sent) => {
    expect(shortText(sent)).toBe('a value that is not text');
    expect(JSON.stringify(requestFrom({ by: sent, reason: sent })).length).toBeLessThan(200);
  });

  it('tells two long identities apart, wherever somebody says who they are', () => {
    const long = (end: string) => `system:serviceaccount:${'n'.repeat(63)}:${'s'.repeat(420)}-${end}`;
    const [ana, bob] = [long('ana'), long('bob')];
    expect(requestFrom({ by: ana })).toEqual({ by: ana });
    const approval = { operation: 'replaceMember', ids: ['8e9e05c5'] };
    expect(approvalFrom({ ...approval, by: ana }, { id: 1, now: 0 })).toMatchObject({ by: ana });
    const [form] = OPERATION_REQUESTS;
    const requested = (by: string) =>
      form && requestOf({ requests: [], nextId: 1 }, form, { by, member: 'example-1' });
    expect(requested(ana)).toMatchObject({ by: ana });
    expect(requested(bob)).toMatchObject({ by: bob });
  });

  it('is cut in an approval, too, which is carried from run to run', () => {
    const given = { id: 1, now: 0 };
    const approval = { operation: 'replaceMember', ids: ['8e9e05c5'], by: 'ana' };
    expect(approvalFrom(approval, given)).toMatchObject(approval);
    const long = 'x'.repeat(1_000_000);
    for (const sent of [
      { ...approval, ids: [long] },
      { ...approval, operation: long },
    ])
      expect(approvalFrom(sent, given)).toMatch(/^"(ids|operation)"/);
    expect(JSON.stringify(approvalFrom({ ...approval, by: long, reason: long }, given)).length).toBeLessThan(
      1_000,
    );
  });
});
