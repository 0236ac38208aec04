import { describe, expect, it } from 'vitest';
import type { EtcdClusterStatus } from '../../../../src/api/schemas/types.ts';
import { bumpFor } from '../../../../src/planner/operations/restore/revision-bump.ts';

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

  it('not at all when that is asked for', () => {
    expect(bump(restoredAt(42 + BUMP), 42, 0)).toBe(0);
  });
});
