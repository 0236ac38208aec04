/** From the recorded incarnation of a restore to its first member: nobody of the cluster before runs beside it. */
import { describe, expect, it } from 'vitest';
import type { Observation, PodFacts } from '../../../../src/planner/model/observation.ts';
import { plan } from '../../../../src/planner/plan.ts';
import {
  aClaim,
  aCluster,
  aMembership,
  aPod,
  aProbe,
  anIncarnation,
  anObservation,
  aRunningStatus,
  NOW,
  OURS,
  ABSENT,
  UNKNOWN_MEMBERSHIP,
} from '../../../worlds/builders.ts';

const RESTORE = { name: 'restore', uid: 'restore-uid', filled: true, seeded: true, revision: 10 };
const SEED = 'example-3';

/** A restore whose first member's data is made and which has no pod yet. */
function seeded(pods: readonly PodFacts[], claims = [aClaim({ name: SEED })]): Observation {
  const { clusterID: _, members: __, ...status } = aRunningStatus();
  const { token, members, ...incarnation } = anIncarnation(4);
  const seed = members.slice(-1);
  const cluster = aCluster({
    spec: { size: 3 },
    status: { ...status, incarnation: { ...incarnation, token, members: seed, restore: RESTORE } },
  });
  return anObservation({
    cluster,
    pods,
    claims,
    peerService: OURS,
    clientService: ABSENT,
    disruptionBudget: OURS,
    probes: {},
    membership: UNKNOWN_MEMBERSHIP,
    restores: [
      { name: 'restore', uid: 'restore-uid', createdAt: NOW, confirmClusterId: '', revisionBump: 0 },
    ],
  });
}

describe('the first member of a restore', () => {
  it('is started on the volume that was made for it', () => {
    expect(plan(seeded([]), {})).toMatchObject({ step: { kind: 'startSeed', member: SEED } });
  });

  it.each([
    ['has lost its stamps', [aClaim({ name: SEED, owned: false, token: undefined })], 'ClaimsUnstamped'],
    ['says that it is of another cluster', [aClaim({ name: SEED, owned: false })], 'ClaimsUnstamped'],
    ['is another one than was filled', [aClaim({ name: SEED, stampedUid: 'another' })], 'ClaimExchanged'],
    ['is being deleted', [aClaim({ name: SEED, deleting: true })], 'ClaimMissing'],
    ['is gone', [], 'ClaimMissing'],
  ])('is not started on a claim that %s', (_, claims, reason) => {
    expect(plan(seeded([], claims), {})).toMatchObject({ kind: 'blocked', reason });
  });

  it.each([
    ['is not started', []],
    ['does not have its cluster recorded', [aPod({ name: SEED })]],
  ])('%s when a quorum does not list it', (_, pods) => {
    const other = 'example-4';
    const observation = {
      ...seeded([...pods, aPod({ name: other })]),
      membership: aMembership([other]),
      probes: { [other]: aProbe({ name: other, read: { ok: true, revision: '10' } }) },
    };
    expect(plan(observation, {})).toMatchObject({
      kind: 'blocked',
      reason: 'MemberRemoved',
      message: expect.stringContaining('delete EtcdRestore restore') as unknown,
    });
  });

  it('waits while a pod of the cluster before is there: who started one late is stopped again', () => {
    const old = aPod({ name: 'example-1', token: 'example-0b7e6e34-0' });
    expect(plan(seeded([old]), {})).toMatchObject({
      operation: 'restoreCluster',
      step: { kind: 'fenceMembers', pods: [{ name: 'example-1', uid: old.uid }] },
      plan: [{ kind: 'fenceMembers' }, { kind: 'startSeed' }, {}, {}],
    });
    const seed = aPod({ name: SEED });
    expect(plan(seeded([seed, old]), {})).toMatchObject({
      step: { kind: 'fenceMembers', pods: [{ name: 'example-1' }] },
    });
    const stuck = { ...old, deleting: true, goneBy: Date.parse(NOW) - 600_000 };
    expect(plan(seeded([stuck]), {})).toMatchObject({ kind: 'blocked', reason: 'PodTerminating' });
  });

  it('is waited for no longer when it started as another cluster', () => {
    const probes = { [SEED]: aProbe({ name: SEED, clusterId: 'bad' }) };
    const observation = { ...seeded([aPod({ name: SEED })]), probes, expectedClusterId: 'c0ffee' };
    expect(plan(observation, {})).toMatchObject({ kind: 'blocked', reason: 'ClusterIdMismatch' });
  });

  it('is undone without its EtcdRestore once no pod of it is left, and says which one stays', () => {
    const pod = aPod({ name: SEED, deleting: true, goneBy: Date.parse(NOW) - 600_000 });
    const undone = (pods: readonly PodFacts[]) => plan({ ...seeded(pods), restores: [] }, {});
    expect(undone([])).toMatchObject({ step: { kind: 'revertRestore' }, undo: true });
    expect(undone([pod])).toMatchObject({ kind: 'blocked', reason: 'PodTerminating' });
  });

  it('is started again when its pod was evicted: no kubelet does', () => {
    const evicted = aPod({ name: SEED, phase: 'Failed', ready: false });
    expect(plan(seeded([evicted]), {})).toMatchObject({
      operation: 'restoreCluster',
      step: { kind: 'fenceMembers', pods: [{ name: SEED, uid: evicted.uid }] },
    });
  });
});
