/** Messages that were given as EtcdRequests, on a real Temporal server: each is carried out once, over runs and repetitions. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { GivenRequest } from '../../src/api/values/requests.ts';
import { BackupEntity } from '../worlds/backup-bench.ts';
import { CREATION, REPAIR, Script } from '../worlds/scripted-activities.ts';
import { continued, type Entity, until, WorkflowBench } from '../worlds/workflow-bench.ts';

let bench: WorkflowBench;
beforeAll(async () => {
  bench = await WorkflowBench.start();
}, 120_000);
afterAll(() => bench.stop());

const uid = '5c1f6a51-8a64-4b52-9f3c-0d0f6f6f7a01';
const HOUR = 3_600_000;

const given = (more: object = {}, id = uid) => ({
  by: 'ana',
  reason: 'maintenance',
  ...more,
  request: { uid: id, expiresAt: Date.now() + HOUR },
});

const became = (entity: Pick<Entity, 'handle'>, id = uid) =>
  entity.handle.query<GivenRequest | null, [string]>('request', id);

async function atRest(script: Script): Promise<Entity> {
  script.plan('createCluster', CREATION);
  const entity = await bench.follow(script);
  await until(() => script.remaining.length === 0);
  await entity.quiet();
  return entity;
}

describe('a message given as an EtcdRequest', () => {
  it('is carried out once, also when it is delivered again in a later run', async () => {
    const entity = await atRest(new Script());
    expect(await became(entity)).toBeNull();
    expect(await entity.update('pause', given())).toBe('paused: no further step is performed');
    await entity.update('resume', { by: 'bob' });
    await continued(entity);
    // The same again, as a watcher delivers it that was killed before it wrote down the answer.
    expect(await entity.update('pause', given())).toBe('paused: no further step is performed');
    expect((await entity.status()).paused).toBeUndefined();
    expect(await became(entity)).toMatchObject({
      state: 'done',
      message: 'paused: no further step is performed',
    });
  });

  it('is refused with the reason when it makes no sense, or comes too late, and leaves nothing', async () => {
    const entity = await atRest(new Script());
    await expect(entity.update('resume', given())).rejects.toThrow('nothing to resume');
    await expect(entity.update('abort', given())).rejects.toThrow('nothing to abort');
    await expect(entity.update('restart', given({ by: '' }))).rejects.toThrow('"by" must name');
    await expect(
      entity.update('approve', given({ operation: 'replaceMember', ids: ['8e9e05c5'] })),
    ).rejects.toThrow('nothing waits for this approval');
    const late = { by: 'ana', request: { uid, expiresAt: Date.now() - 1_000 } };
    for (const [name, more] of [
      ['pause', {}],
      ['restart', {}],
      ['approve', { operation: 'replaceMember', ids: ['8e9e05c5'] }],
    ] as const)
      await expect(entity.update(name, { ...late, ...more })).rejects.toThrow('the request expired at');
    expect(await became(entity)).toBeNull();
    expect(await entity.status()).not.toMatchObject({ paused: expect.anything() });
  });

  it('is followed until a pass finds it done, whatever is delivered again meanwhile', async () => {
    const script = new Script();
    const entity = await atRest(script);
    script.judge = ({ id }) => ({ id, outcome: 'accepted', ids: ['8e9e05c5'], message: 'accepted' });
    await entity.update('replaceMember', given({ member: 'example-1' }));
    await until(async () => (await became(entity))?.state === 'accepted');
    await continued(entity);
    await entity.update('replaceMember', given({ member: 'example-1' }));
    expect((await entity.status()).requests).toHaveLength(1);
    script.judge = ({ id }) => ({ id, outcome: 'done', message: 'example-1 is replaced' });
    await entity.changed();
    await until(async () => (await became(entity))?.state === 'done');
    expect(await became(entity)).toMatchObject({ message: 'example-1 is replaced' });
    await entity.update('replaceMember', given({ member: 'example-1' }));
    expect((await entity.status()).requests).toBeUndefined();
  });

  it('that a pass refuses, or somebody aborts, says so', async () => {
    const script = new Script();
    const entity = await atRest(script);
    script.judge = ({ id }) => ({ id, outcome: 'refused', message: 'example-9 is no member' });
    await entity.update('moveLeader', given({ to: 'example-9' }));
    await until(async () => (await became(entity))?.state === 'refused');
    expect(await became(entity)).toMatchObject({ message: 'example-9 is no member' });
    script.judge = ({ id }) => ({ id, outcome: 'accepted', ids: ['pod'], message: 'accepted' });
    await entity.update('restart', given({}, 'another'));
    await until(async () => (await became(entity, 'another'))?.state === 'accepted');
    await entity.update('abort', given({}, 'third'));
    expect(await became(entity, 'another')).toMatchObject({ state: 'aborted' });
    expect(await became(entity, 'third')).toMatchObject({ state: 'done', message: 'revoked: restart' });
  });

  it('approves what waits for a person', async () => {
    const script = new Script();
    script.plan('repairCluster', REPAIR);
    script.consent = { operation: 'repairCluster', ids: ['8e9e05c5'] };
    const entity = await bench.follow(script);
    await until(async () => (await entity.plan()).approve !== undefined);
    await entity.update('approve', given({ operation: 'repairCluster', ids: ['8e9e05c5'] }));
    expect(await became(entity)).toMatchObject({ state: 'done' });
    await until(() => script.actors.some(({ approvals }) => approvals?.[0]?.by === 'ana'));
  });
});

describe('a backup given as an EtcdRequest', () => {
  it('is done when the run that it led to has succeeded, and leads to no other', async () => {
    const entity = await BackupEntity.on(bench, { backupPolicy: { backupIntervalInSecond: 3600 } });
    await entity.changed();
    await entity.came('Succeeded');
    const release = entity.world.holdSnapshots();
    const update = () => entity.handle.executeUpdate('backup', { args: [given()] });
    expect(await update()).toBe('a backup is starting');
    await until(async () => (await became(entity))?.state === 'accepted');
    await update();
    release();
    await until(async () => (await became(entity))?.state === 'done');
    await update();
    await entity.quiet();
    expect(entity.world.objects).toHaveLength(2);
  });

  it('that is aborted has failed, with who did it', async () => {
    const entity = await BackupEntity.on(bench, { backupPolicy: { backupIntervalInSecond: 3600 } });
    await entity.changed();
    await entity.came('Succeeded');
    const release = entity.world.holdSnapshots();
    await entity.handle.executeUpdate('backup', { args: [given()] });
    await until(async () => (await became(entity))?.state === 'accepted');
    await entity.handle.executeUpdate('abort', { args: [{ by: 'bob', reason: 'too slow' }] });
    await until(async () => (await became(entity))?.state === 'failed');
    release();
    expect((await became(entity))?.message).toContain('bob');
  });
});

describe('a verification of a stored backup given as an EtcdRequest', () => {
  async function backedUp(): Promise<{ readonly entity: BackupEntity; readonly stop: () => void }> {
    const entity = await BackupEntity.on(bench);
    await entity.changed();
    await entity.came('Succeeded');
    const kubelet = setInterval(() => entity.world.verifier.settle(), 100);
    return { entity, stop: () => clearInterval(kubelet) };
  }

  it('is made once, over runs and repetitions, and its verdict is remembered', async () => {
    const { entity, stop } = await backedUp();
    const update = () => entity.handle.executeUpdate('verify', { args: [given({ level: 'Restore' })] });
    expect(await update()).toContain('the verification is recorded');
    await until(async () => (await became(entity))?.state === 'done');
    await update();
    await entity.quiet();
    await continued(entity);
    await update();
    await entity.quiet();
    stop();
    expect(await became(entity)).toMatchObject({ state: 'done', verdict: 'Verified' });
    expect(entity.world.verifier.asked).toHaveLength(1);
    expect(entity.world.status.history).toMatchObject([{ verified: 'Restore' }]);
  });

  it('is refused with the reason when it makes no sense', async () => {
    const { entity, stop } = await backedUp();
    await expect(
      entity.handle.executeUpdate('verify', { args: [given({ level: 'Checksum' })] }),
    ).rejects.toMatchObject({ cause: { message: '"level" must be Structure or Restore' } });
    await entity.handle.executeUpdate('verify', { args: [given({ location: 's3://backups/other' })] });
    await until(async () => (await became(entity))?.state === 'refused');
    stop();
    expect((await became(entity))?.message).toContain('is not in status.history');
    expect(entity.world.verifier.asked).toEqual([]);
  });

  it('is ended by an abort', async () => {
    const { entity, stop } = await backedUp();
    const release = entity.world.holdVerifications();
    await entity.handle.executeUpdate('verify', { args: [given()] });
    await until(() => entity.world.held > 0);
    expect(await became(entity)).toMatchObject({ state: 'accepted' });
    await entity.handle.executeUpdate('abort', { args: [{ by: 'bob', reason: 'too slow' }] });
    await until(async () => (await became(entity))?.state === 'aborted');
    stop();
    release();
    expect((await became(entity))?.message).toBe('aborted by bob (too slow)');
  });
});
