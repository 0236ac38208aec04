import { describe, expect, test } from 'vitest';
import { priorityOf, priorityOfOperation } from '../../../src/api/values/priority.ts';

const of = (operation: string, ...kinds: readonly string[]) =>
  priorityOfOperation({ operation, plan: kinds.map(kind => ({ kind })) }).priorityKey;
const PASS = priorityOf('EtcdCluster', 'shop').priorityKey;

describe('the priority of an operation', () => {
  test.each<[string, readonly string[]]>([
    ['Services that were edited', ['applyObjects']],
    ['Services that are gone', ['ensureObjects']],
    ['both', ['ensureObjects', 'applyObjects']],
  ])('that repairs nothing but %s is that of passes', (_, kinds) => {
    expect(of('repairCluster', ...kinds)).toBe(PASS);
  });

  test.each<[string, string, readonly string[]]>([
    ['starts a member again', 'repairCluster', ['restartMember']],
    ['also starts a member again', 'repairCluster', ['ensureObjects', 'restartMember']],
    ['seals a member', 'repairCluster', ['sealMembers']],
    ['ends a creation', 'createCluster', ['ensureObjects']],
    ['ends a restore', 'restoreCluster', ['ensureObjects']],
    ['says nothing of its plan', 'repairCluster', []],
  ])('that %s comes before passes', (_, operation, kinds) => {
    expect(of(operation, ...kinds)).toBeLessThan(PASS);
  });
});
