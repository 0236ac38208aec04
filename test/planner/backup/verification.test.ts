/** What a verification may conclude from what it has read. */
import { describe, expect, it } from 'vitest';
import {
  verificationResult,
  parseReport,
  type ReadReport,
} from '../../../src/planner/backup/verification.ts';

const entry = { time: '2026-11-21T10:00:00Z', location: 's3://b/k', revision: 42 };
const structure = { hash: 7, revision: 43, keys: 3 };
const live = { revision: '42', hashes: [{ hash: '99', compactRevision: '10' }] };
const restored = { revision: '42', hash: '99', compactRevision: '10' };

function judged(
  report: Partial<ReadReport>,
  of: { live?: typeof live; before?: typeof structure } = { live },
) {
  const manifest = of.before === undefined ? { entry } : { entry, structure: of.before };
  return verificationResult(manifest, { kind: 'read', structure, ...report }, of.live);
}

describe('the structure', () => {
  it('is enough when it was all that was asked for', () => {
    expect(judged({})).toEqual({ verified: 'Structure' });
    expect(judged({}, {})).toEqual({ verified: 'Structure' });
  });

  it('must reach the revision that was read before the snapshot was taken', () => {
    const short = { structure: { ...structure, revision: 41 } };
    expect(judged(short)).toMatchObject({
      verified: '',
      fault: expect.stringContaining('ends at revision 41'),
    });
  });

  it('of a cluster without writes holds no revision', () => {
    const report: ReadReport = { kind: 'read', structure: { hash: 7, revision: 0, keys: 0 } };
    const fresh = { revision: '1', hashes: [{ hash: '0', compactRevision: '-1' }] };
    expect(verificationResult({ entry: { ...entry, revision: 1 } }, report, fresh)).toEqual({
      verified: 'Structure',
    });
  });

  it('may end below it when all of that is compacted away', () => {
    const short = { structure: { ...structure, revision: 41 } };
    const compacted = { revision: '42', hashes: [{ hash: '99', compactRevision: '42' }] };
    expect(judged(short, { live: compacted })).toEqual({ verified: 'Structure' });
  });

  it('below it proves nothing where the compaction is not known', () => {
    const short = { structure: { ...structure, revision: 41 } };
    expect(judged(short, {})).toMatchObject({ verified: 'Checksum', doubt: expect.any(String) });
  });

  it('must be what it was when it was read before', () => {
    expect(judged({}, { live, before: structure })).toEqual({ verified: 'Structure' });
    expect(judged({}, { live, before: { ...structure, keys: 4 } })).toMatchObject({ verified: '' });
  });
});

describe('a restored snapshot', () => {
  it('is what the cluster was', () => {
    expect(judged({ restored })).toEqual({ verified: 'Restore' });
  });

  it('is what the cluster was after the snapshot, when a compaction came between', () => {
    const hashes = [...live.hashes, { hash: '55', compactRevision: '30' }];
    const after = { revision: '42', hash: '55', compactRevision: '30' };
    expect(judged({ restored: after }, { live: { ...live, hashes } })).toEqual({ verified: 'Restore' });
  });

  it('is not what the cluster was', () => {
    const other = { ...restored, hash: '98' };
    expect(judged({ restored: other })).toMatchObject({ verified: '', fault: expect.stringContaining('99') });
  });

  it.each([
    ['another compaction', { ...restored, hash: '98', compactRevision: '11' }, live],
    ['another revision', { ...restored, hash: '98', revision: '43' }, live],
    ['no hash of the cluster', restored, undefined],
    ['no hash of its own', { unknown: 'it refuses' }, live],
  ])('with %s is neither', (_, facts, of) => {
    const verdict = judged({ restored: facts }, of === undefined ? {} : { live: of });
    expect(verdict).toMatchObject({ verified: 'Structure', doubt: expect.any(String) });
    expect(verdict).not.toHaveProperty('fault');
  });
});

describe('a termination message', () => {
  it.each([
    undefined,
    '',
    'OOMKilled',
    '[]',
    '{"kind":"read"}',
    '{"kind":"fault"}',
    '{"kind":"other","message":"x"}',
  ])('%j is no report', text => expect(parseReport(text)).toBeUndefined());

  it('has room for a report', () => {
    const report = { kind: 'read', structure, restored };
    expect(parseReport(JSON.stringify(report))).toEqual(report);
    expect(parseReport('{"kind":"fault","message":"bad page"}')).toMatchObject({ kind: 'fault' });
  });
});
