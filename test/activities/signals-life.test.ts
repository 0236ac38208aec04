/** What users asked a workflow for by signals and is still open is mirrored in the status: a run that begins anew goes on with it. */
import { describe, expect, it } from 'vitest';
import type { OpenSignals } from '../../src/activities/index.ts';
import {
  pause as pauseBackup,
  requestBackup,
  requestVerification,
} from '../../src/workflows/backup/state.ts';
import { podUids } from '../worlds/living-cluster.ts';
import { BackupWorld } from '../worlds/backup-world.ts';
import { OperatorWorld } from '../worlds/operator-world.ts';

const ANEW = { anew: true } as const;

/** A cluster of which nothing is to be done. */
async function living(): Promise<OperatorWorld> {
  const world = new OperatorWorld();
  await world.run();
  await world.run();
  return world;
}

const approvalUntil = (expiresAt: number) => ({
  id: 3,
  operation: 'replaceMember',
  ids: ['8e9e05c5'],
  by: 'ana',
  reason: 'its disk is worn',
  expiresAt,
});

describe('a run of a cluster that begins anew', () => {
  it('goes on with the pause that was open, and with who asked for it, when and why', async () => {
    const world = await living();
    const paused = { by: 'ana', reason: 'to look', at: world.now };
    await world.drive({ paused });
    const { uid } = world.ref;
    expect(world.cluster.status.signals).toMatchObject({ uid, pause: { by: 'ana', reason: 'to look' } });
    const { state } = await world.drive({}, ANEW);
    expect(state.paused).toMatchObject({ by: 'ana', reason: 'to look' });
    expect(world.cluster.status).toMatchObject({ controlPaused: true, signals: { pause: { by: 'ana' } } });
    await world.drive({});
    expect(world.cluster.status.controlPaused).toBe(false);
    expect(world.cluster.status.signals).toBeUndefined();
  });

  it('goes on with approvals that were neither used nor have expired', async () => {
    const world = await living();
    const hour = 3_600_000;
    await world.drive({ approvals: [approvalUntil(world.now + hour)] });
    const first = await world.drive({}, ANEW);
    expect(first.state.approvals).toMatchObject([{ id: -1, operation: 'replaceMember', by: 'ana' }]);
    expect(world.cluster.status.signals?.approvals).toMatchObject([{ id: -1, ids: ['8e9e05c5'] }]);
    world.now += hour;
    const second = await world.drive({}, ANEW);
    expect(second.state.approvals).toEqual([]);
    expect(world.cluster.status.signals).toBeUndefined();
  });

  it('goes on with requests that are not done, of exactly the pods that they were accepted for', async () => {
    const world = await living();
    const uids = podUids(world);
    const restart = {
      id: 1,
      kind: 'restart',
      target: '',
      by: 'ana',
      reason: 'a new key',
      at: world.now,
    } as const;
    await world.drive({ requests: [restart], nextId: 2 }, { before: step => step === 'restartMember' });
    expect(world.cluster.status.signals?.requests).toMatchObject([
      { kind: 'restart', by: 'ana', reason: 'a new key', ids: uids },
    ]);
    const { state } = await world.drive({}, ANEW);
    expect(state.requests).toEqual([]);
    expect(state.judged).toMatchObject([{ id: -1, outcome: 'done' }]);
    expect(podUids(world).filter(uid => uids.includes(uid))).toEqual([]);
    const after = podUids(world);
    await world.drive({}, ANEW);
    expect(podUids(world)).toEqual(after);
    expect(world.cluster.status.signals).toBeUndefined();
  });

  it('leaves a request of a kind that only another release knows', async () => {
    const world = await living();
    world.kube.mutate(world.resource, object => {
      const signals = { uid: world.ref.uid, requests: [{ kind: 'shuffle', by: 'ana' }] };
      Object.assign(object['status'] as object, { signals });
    });
    expect((await world.drive({}, ANEW)).state.requests).toEqual([]);
    expect(world.cluster.status.signals).toBeUndefined();
  });

  it('goes on with the abort of this specification', async () => {
    const world = await living();
    const { generation = 0 } = world.cluster.metadata;
    const aborted = { operation: 'scaleCluster', generation, by: 'ana' };
    await world.drive({ aborted });
    expect((await world.drive({}, ANEW)).state.aborted).toEqual(aborted);
    await world.drive({ aborted: { ...aborted, generation: generation - 1 } });
    expect(world.cluster.status.signals).toBeUndefined();
  });

  it('takes nothing over that another resource of its name was asked for', async () => {
    const world = await living();
    await world.drive({ paused: { by: 'ana', at: world.now } });
    world.kube.mutate(world.resource, object => {
      Object.assign((object['status'] as { signals: object }).signals, { uid: 'another' });
    });
    expect((await world.drive({}, ANEW)).state.paused).toBeUndefined();
    expect(world.cluster.status.signals).toBeUndefined();
  });
});

describe('what users ask for while an operation is under way', () => {
  it('is mirrored at once, and the passes of the operation leave it', async () => {
    const world = await living();
    const record = (open: OpenSignals) =>
      world.act(({ recordRequests }) =>
        recordRequests(world.ref, { open, underWay: { operation: 'scaleCluster' }, workflowId: 'entity' }),
      );
    const paused = { by: 'ana', at: world.now };
    const approvals = [
      approvalUntil(world.now + 3_600_000),
      { ...approvalUntil(world.now + 3_600_000), id: 4 },
    ];
    await record({ paused, approvals });
    expect(world.cluster.status.signals).toMatchObject({
      pause: { by: 'ana' },
      approvals: [{ id: 3 }, { id: 4 }],
    });
    await world.look({ used: [3] });
    expect(world.cluster.status.signals).toMatchObject({ pause: { by: 'ana' }, approvals: [{ id: 4 }] });
    const before = world.cluster.metadata.resourceVersion;
    const left = approvals.filter(({ id }) => id === 4);
    await record({ paused, approvals: left });
    expect(world.cluster.metadata.resourceVersion).toBe(before);
    await world.look({ used: [4] });
    expect(world.cluster.status.signals).toEqual({ uid: world.ref.uid, pause: expect.anything() });
    await record({});
    expect(world.cluster.status.signals).toBeUndefined();
  });
});

it('a run of a backup that begins anew goes on with the pause that was open, and without it when it was resumed', async () => {
  const world = new BackupWorld();
  world.say(state => pauseBackup(state, { by: 'ana', reason: 'to look', at: world.now }));
  await world.run();
  expect(world.status.signals).toMatchObject({ pause: { by: 'ana', reason: 'to look' } });
  const look = (workflowState: object) =>
    world.act(({ assessBackup }) => assessBackup(world.ref, { workflowState, workflowId: 'entity' }));
  const anew = await look({ takesOver: { pause: true } });
  expect(anew).toMatchObject({
    takenOver: { paused: { by: 'ana', reason: 'to look' } },
    summary: { paused: true },
  });
  expect((await look({})).summary?.paused).toBe(false);
  expect(world.status.signals).toBeUndefined();
});

describe('a run of a backup that begins anew', () => {
  const look = (world: BackupWorld, workflowState: object) =>
    world.act(({ assessBackup }) => assessBackup(world.ref, { workflowState, workflowId: 'entity' }));
  const ANEW_BACKUP = { takesOver: { pause: true } };

  it('goes on with a backup that was requested, unless one has begun since', async () => {
    const world = new BackupWorld();
    await world.run();
    const requested = { by: 'ana', at: world.now };
    await look(world, { requested });
    expect(world.status.signals).toMatchObject({ backup: { by: 'ana' } });
    expect(await look(world, ANEW_BACKUP)).toMatchObject({
      takenOver: { requested: { by: 'ana' } },
      decision: { operation: 'takeBackup', step: { requestedBy: 'ana' } },
    });
    world.say(state => requestBackup(state, requested));
    world.now += 5_000;
    await world.run();
    const { lastRun } = world.status;
    // As if no pass had seen that it has begun.
    const ref = { apiVersion: 'etcd.database.coreos.com/v1beta2', kind: 'EtcdBackup', ...world.ref };
    world.kube.mutate(ref, object => {
      const signals = { uid: world.ref.uid, backup: { by: 'ana', at: '2026-11-21T10:00:01Z' } };
      Object.assign(object['status'] as object, { signals });
    });
    expect(await look(world, ANEW_BACKUP)).not.toMatchObject({ decision: { operation: 'takeBackup' } });
    expect(world.status).toMatchObject({ lastRun: { startedAt: lastRun?.startedAt } });
    expect(world.status.signals).toBeUndefined();
  });

  it('goes on with verifications that have not ended, and not with those that have or whose time is over', async () => {
    const world = new BackupWorld();
    await world.run();
    const verification = (uid: string, expiresAt: number) => ({
      uid,
      request: { by: 'ana', at: world.now },
      wanted: { level: 'Structure' as const },
      expiresAt,
    });
    const hour = world.now + 3_600_000;
    const mirrored = [
      { uid: 'late', by: 'ana', expiresAt: world.now - 1_000 },
      { uid: 'one', by: 'ana', level: 'Structure', expiresAt: hour },
      { uid: 'two', by: 'bob', expiresAt: hour },
    ];
    await look(world, { verifications: mirrored });
    const anew = await look(world, ANEW_BACKUP);
    expect(anew).toMatchObject({
      takenOver: {
        verifications: [
          { uid: 'one', level: 'Structure' },
          { uid: 'two', by: 'bob' },
        ],
      },
      decision: { operation: 'verifyStoredBackup', step: { request: 'one' } },
    });
    world.say(state => requestVerification(state, verification('one', hour)));
    await world.run();
    expect(world.status.verification).toMatchObject({ request: 'one', outcome: 'Verified' });
    expect(world.status.signals).toBeUndefined();
    await look(world, { verifications: mirrored });
    const after = await look(world, ANEW_BACKUP);
    expect(after.takenOver?.verifications?.map(({ uid }) => uid)).toEqual(['two']);
  });
});
