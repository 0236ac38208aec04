import { describe, expect, it } from 'vitest';
import type { EtcdClusterStatus } from '../../../../src/api/schemas/types.ts';
import { bumpFor, restoredRevision } from '../../../../src/planner/operations/restore/revision-bump.ts';

const BUMP = 1_000_000_000;

function bump(status: EtcdClusterStatus, revision: number | undefined, revisionBump = BUMP): number {
  const source = { location: '', size: 1, sha256: '', snapshotSize: 1, compression: 'none' } as const;
  return bumpFor(
    { status },
    {
      name: 'back',
      uid: '1',
      createdAt: '',
      confirmClusterId: '',
      revisionBump,
      source: { ...source, ...(revision !== undefined && { revision }) },
    },
  );
}

const restoredAt = (revision: number): EtcdClusterStatus => ({
  incarnation: { token: 't', members: [], restore: { name: 'before', uid: '0', revision } },
});

describe('revisions are raised', () => {
  it('once for a cluster that was never restored', () => {
    expect(bump({}, 42)).toBe(BUMP);
    expect(bump({}, undefined)).toBe(BUMP);
  });

  it('once more with every restore of the same backup: above all that was seen since the last', () => {
    expect(bump(restoredAt(42 + BUMP), 42)).toBe(2 * BUMP);
    expect(bump(restoredAt(42 + 2 * BUMP), 42)).toBe(3 * BUMP);
  });

  it('once for a backup that was taken since the last restore', () => {
    expect(bump(restoredAt(42 + BUMP), 50 + BUMP)).toBe(BUMP);
  });

  it('above the newest backup, however small the bump is', () => {
    const lastBackup = { revision: 5_000 };
    const raised = bump({ lastBackup }, 10, 1_000);
    expect(raised % 1_000).toBe(0);
    expect(10 + raised).toBeGreaterThan(5_000);
  });

  it('above all that was seen, for a backup of a cluster that no one has written to', () => {
    const reached = restoredAt(2 + BUMP);
    expect(restoredRevision({ revision: 1 }, bump(reached, 1))).toBeGreaterThanOrEqual(2 + 2 * BUMP);
  });

  it('not at all when that is asked for', () => {
    expect(bump(restoredAt(42 + BUMP), 42, 0)).toBe(0);
  });
});

describe('a restored cluster begins', () => {
  it.each([
    ['at the revision of the backup', 42, 0, 42],
    ['above it, with revisions raised', 42, BUMP, 42 + BUMP],
    ['at the first revision, of a backup that nobody has written to', 1, 0, 1],
    ['at what is added to no key at all, of the same with revisions raised', 1, BUMP, BUMP],
    ['at what is added, of a backup with a revision of 0', 0, BUMP, BUMP],
    ['at what is added, of a backup whose revision is not known', undefined, BUMP, BUMP],
  ])('%s', (_, revision, raised, expected) => {
    expect(restoredRevision(revision === undefined ? {} : { revision }, raised)).toBe(expected);
  });
});
