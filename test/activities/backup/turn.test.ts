/** A backup whose store, or whose member's node, is in use by others waits, says so, and loses nothing. */
import { describe, expect, it } from 'vitest';
import type { EtcdBackupSpec } from '../../../src/api/schemas/types.ts';
import { BackupTurns } from '../../../src/activities/backup/turns.ts';
import { createActivities } from '../../../src/activities/index.ts';
import { manifestKey } from '../../../src/api/derived/backup-names.ts';
import { StoreError } from '../../../src/store/port.ts';
import { ActivityEnvironment } from '../../worlds/activity-environment.ts';
import { BackupWorld, NODE } from '../../worlds/backup-world.ts';
import { snapshotStream } from '../../fakes/etcd/snapshot.ts';

const STORE = 's3://backups at https://s3.amazonaws.com';
const NIGHTLY = {
  storageType: 'S3',
  s3: { path: 'backups/etcd/example' },
  clusterRef: { name: 'example' },
} as const;

/** A replica whose only turn at the store, or at the node of all members, is taken, and a backup that begins. */
function crowded(
  backupPolicy: EtcdBackupSpec['backupPolicy'] = { timeoutInSecond: 600 },
  taken: 'store' | 'node' = 'store',
) {
  const world = new BackupWorld({ ...NIGHTLY, backupPolicy });
  world.etcd.snapshotOf = () => snapshotStream(Buffer.alloc(128 * 512, 'etcd'), 3_000);
  const turns = new BackupTurns({ slots: 20, perStore: 1, perNode: 1 });
  const releaseOther = taken === 'store' ? turns.stores.join(STORE) : turns.at(NODE).join(STORE);
  const activities = createActivities({ ...world.deps, turns });
  const perform = <R>(act: () => Promise<R>): Promise<R> => new ActivityEnvironment().run(act);
  const look = () =>
    perform(() => activities.assessBackup(world.ref, { workflowState: {}, workflowId: 'entity' }));
  const next = async () => {
    const { decision } = await look();
    if (decision.kind !== 'operate') throw new Error(`nothing to do: ${decision.kind}`);
    return decision;
  };
  const act = async (decision: Awaited<ReturnType<typeof next>>) => {
    const { step } = decision;
    if (step.kind === 'beginBackup') return perform(() => activities.beginBackup(world.ref, step));
    if (step.kind === 'takeSnapshot') return perform(() => activities.takeSnapshot(world.ref, step));
    throw new Error(`not expected: ${step.kind}`);
  };
  return { world, releaseOther, next, act, turns };
}

describe('a backup whose store is in use', () => {
  it('says what it waits for, is given time to wait, and comes again without failing', async () => {
    const { world, next, act } = crowded();
    await act(await next());
    await expect(act(await next())).rejects.toMatchObject({ type: 'PreconditionChanged' });
    const message = `waits for its turn at ${STORE}: 1 other backups use it`;
    expect(world.status.progress).toMatchObject({ waiting: true, message });
    const waiting = await next();
    expect(waiting.timing.scheduleToCloseSeconds).toBe(600 + 20 + 86_400);
    const failure = act(waiting);
    await expect(failure).rejects.toMatchObject({ type: 'WaitsForTurn', message, nonRetryable: false });
    await expect(failure).rejects.toHaveProperty('nextRetryDelay');
    expect(world.objects).toEqual([]);
  });

  it('whose process died after it noted that it waits is planned again, with time to wait', async () => {
    const { next, act } = crowded();
    await act(await next());
    const first = await next();
    await act(first).catch(() => undefined);
    // The server tries the same activity again, whose time is that of a run that does not wait.
    await expect(act(first)).rejects.toMatchObject({ type: 'PreconditionChanged' });
  });

  it('has its whole time when its turn comes, however long it waited, also in another replica', async () => {
    const { world, releaseOther, next, act } = crowded();
    await act(await next());
    await act(await next()).catch(() => undefined);
    world.now += 5 * 3_600_000;
    const decision = await next();
    expect(decision.step).toMatchObject({ kind: 'takeSnapshot', secondsLeft: 600 });
    releaseOther();
    await act(decision);
    expect(world.objects).toEqual(['etcd/example']);
    expect(world.status).toMatchObject({ succeeded: true, lastRun: { outcome: 'Succeeded' } });
    expect(world.status.progress).toBeUndefined();
  });

  it('that fails in its turn continues as one that did not wait: with what is left of its time, and without waiting again', async () => {
    const { world, releaseOther, next, act } = crowded();
    await act(await next());
    await act(await next()).catch(() => undefined);
    const waiting = await next();
    releaseOther();
    const { snapshotOf } = world.etcd;
    world.etcd.snapshotOf = () => {
      throw new Error('the member went away');
    };
    await expect(act(waiting)).rejects.toMatchObject({ type: 'PreconditionChanged' });
    expect(world.status.progress).not.toHaveProperty('waiting');
    world.now += 100_000;
    const again = await next();
    expect(again.timing.scheduleToCloseSeconds).toBe(500 + 20);
    world.etcd.snapshotOf = snapshotOf;
    await act(again);
    expect(world.status.lastRun).toMatchObject({ outcome: 'Succeeded' });
  });

  it('that no one continues with for a day is given up', async () => {
    const { world, next, act } = crowded();
    await act(await next());
    await act(await next()).catch(() => undefined);
    world.now += (86_400 + 600 + 120) * 1_000;
    await next().catch(() => undefined);
    expect(world.status.lastRun).toMatchObject({
      outcome: 'Failed',
      message: expect.stringContaining('waits for its turn'),
    });
  });

  it('of a schedule is reported when it is late, by the attempt that waits', async () => {
    const policy = { schedule: '0 10 * * *', timeoutInSecond: 7200 };
    const { world, next, act } = crowded(policy);
    world.now = Date.parse('2026-11-22T10:00:01Z');
    await act(await next());
    await act(await next()).catch(() => undefined);
    const waiting = await next();
    expect(world.status.conditions).toContainEqual(
      expect.objectContaining({ type: 'OnSchedule', status: 'True', reason: 'OnTime' }),
    );
    world.now += 16 * 60_000;
    await act(waiting).catch(() => undefined);
    await act(waiting).catch(() => undefined);
    expect(world.status.conditions).toContainEqual(
      expect.objectContaining({ type: 'OnSchedule', status: 'False', reason: 'BackupNotBegun' }),
    );
    expect(world.events.filter(({ reason }) => reason === 'BackupNotBegun')).toEqual([
      expect.objectContaining({ type: 'Warning', message: expect.stringContaining('waits for its turn') }),
    ]);
  });
});

describe('a backup whose member is on a node that is in use', () => {
  const ON_NODE = `waits for its turn at node ${NODE}: 1 other backups use it`;

  it('says so, holds no turn at its store meanwhile, and reads nothing', async () => {
    const { world, next, act, turns } = crowded({ timeoutInSecond: 600 }, 'node');
    world.holdSnapshots();
    await act(await next());
    await expect(act(await next())).rejects.toMatchObject({ type: 'PreconditionChanged' });
    expect(world.status.progress).toMatchObject({ waiting: true, message: ON_NODE });
    const failure = act(await next());
    await expect(failure).rejects.toMatchObject({ type: 'WaitsForTurn', message: ON_NODE });
    await expect(failure).rejects.toHaveProperty('nextRetryDelay');
    expect(world.snapshots).toBe(0);
    expect(world.status.progress).not.toHaveProperty('turnAt');
    expect(turns.stores.taken()).toBe(0);
  });

  it('has its whole time when its turn comes, and gives back both turns', async () => {
    const { world, releaseOther, next, act, turns } = crowded({ timeoutInSecond: 600 }, 'node');
    await act(await next());
    await act(await next()).catch(() => undefined);
    world.now += 5 * 3_600_000;
    releaseOther();
    const decision = await next();
    expect(decision.step).toMatchObject({ kind: 'takeSnapshot', secondsLeft: 600 });
    await act(decision);
    expect(world.status).toMatchObject({ succeeded: true, lastRun: { outcome: 'Succeeded' } });
    expect([turns.stores.taken(), turns.at(NODE).taken()]).toEqual([0, 0]);
  });

  it('whose store fails after it waited has begun: it continues with what is left of its time', async () => {
    const { world, releaseOther, next, act } = crowded({ timeoutInSecond: 600 }, 'node');
    await act(await next());
    await act(await next()).catch(() => undefined);
    const waiting = await next();
    releaseOther();
    world.store.beforeCall = unavailable;
    await expect(act(waiting)).rejects.toMatchObject({ type: 'PreconditionChanged' });
    expect(world.status.progress).toHaveProperty('turnAt');
    world.now += 100_000;
    expect((await next()).timing.scheduleToCloseSeconds).toBe(500 + 20);
  });

  it('whose store failed before it came to the node still waits for the node', async () => {
    const { world, releaseOther, next, act, turns } = crowded({ timeoutInSecond: 600 }, 'node');
    await act(await next());
    await act(await next()).catch(() => undefined);
    const waiting = await next();
    releaseOther();
    world.store.beforeCall = unavailable;
    await act(waiting).catch(() => undefined);
    world.store.beforeCall = () => {};
    const releaseAnother = turns.at(NODE).join(STORE);
    await expect(act(await next())).rejects.toMatchObject({ type: 'PreconditionChanged' });
    expect(world.status.progress).toMatchObject({ waiting: true, message: ON_NODE });
    expect(world.snapshots).toBe(0);
    releaseAnother();
    world.now += 3_600_000;
    const decision = await next();
    expect(decision.step).toMatchObject({ kind: 'takeSnapshot', secondsLeft: 600 });
    await act(decision);
    expect(world.status).toMatchObject({ succeeded: true, lastRun: { outcome: 'Succeeded' } });
  });

  it('does not wait for it when its object is in the store already', async () => {
    const { world, releaseOther, next, act, turns } = crowded({ timeoutInSecond: 600 }, 'node');
    await act(await next());
    releaseOther();
    world.store.beforeCall = (call, key) => {
      if (call === 'put' && key === manifestKey('etcd/example')) unavailable();
    };
    const step = await next();
    await expect(act(step)).rejects.toThrow('away');
    expect(world.objects).toHaveLength(1);
    world.store.beforeCall = () => {};
    turns.at(NODE).join(STORE);
    await act(step);
    expect(world.status).toMatchObject({ succeeded: true, lastRun: { outcome: 'Succeeded' } });
  });
});

function unavailable(): never {
  throw new StoreError('unavailable', 'the store is away');
}
