import { describe, expect, test } from 'vitest';
import { workflowId } from '../../../src/api/names.ts';
import { refTo } from '../objects.ts';
import { example, PAUSE, RequestWorld, started } from './request-world.ts';

describe('an EtcdRequest', () => {
  test('reaches the workflow as the update that people send, and its answer comes back', async () => {
    const world = await started();
    world.ask('stop');
    await world.pass(2_000, 'stop');
    expect(world.requests.done).toEqual([`${workflowId(example)} pause`]);
    expect(world.requests.sent).toEqual([
      {
        by: 'ana',
        reason: 'maintenance',
        request: { uid: world.request('stop')?.metadata.uid, expiresAt: 600_000 + createdAt(world, 'stop') },
      },
    ]);
    expect(world.status('stop')).toMatchObject({
      phase: 'Completed',
      message: 'paused',
      observedGeneration: 1,
      workflowID: workflowId(example),
      runID: 'run',
    });
    expect(world.reasons('stop')).toEqual({ Accepted: 'Taken', Completed: 'Done' });
    expect(world.events).toContain('stop Done: paused');
    await world.stop();
  });

  test.each([
    ['while the operator was down', 60_000, true],
    ['before it could be delivered', 3_000, false],
  ])(
    'is refused when its cluster was deleted and another one of the name made %s',
    async (_, later, isRestarted) => {
      const world = new RequestWorld();
      await world.watcher.start();
      if (!isRestarted) {
        world.put(example);
        world.requests.stopped = true;
        world.ask('stop');
        await world.pass(2_000, 'stop');
        world.forget(example);
      } else world.ask('stop');
      const creationTimestamp = new Date(createdAt(world, 'stop') + later).toISOString();
      world.put(refTo('EtcdCluster', 'example', 2), { metadata: { creationTimestamp } });
      world.requests.stopped = false;
      await world.pass(12_000, 'stop');
      expect(world.requests.done).toEqual([]);
      expect(world.status('stop')).toMatchObject({ phase: 'Refused' });
      expect(world.status('stop').message).toContain('nothing is done to the one that has the name now');
      await world.stop();
    },
  );

  test('reaches a cluster that is made with it, and a moment later', async () => {
    const world = new RequestWorld();
    await world.watcher.start();
    world.ask('stop');
    const creationTimestamp = new Date(createdAt(world, 'stop') + 5_000).toISOString();
    await world.pass(6_000, 'stop');
    world.put(example, { metadata: { creationTimestamp } });
    await world.pass(2_000, 'stop');
    expect(world.status('stop')).toMatchObject({ phase: 'Completed' });
    await world.stop();
  });

  test('that takes a while is followed to its end, and deleted after its time', async () => {
    const world = await started();
    world.requests.verdict = { state: 'waiting', message: 'no pass has judged it yet' };
    world.ask('replace', { ...PAUSE, action: 'ReplaceMember', member: 'example-1' });
    await world.pass(2_000, 'replace');
    expect(world.reasons('replace')).toEqual({ Accepted: 'NotJudged', Completed: 'NotAccepted' });
    expect(world.status('replace')).toMatchObject({ phase: 'Pending', operation: 'replaceMember' });
    world.requests.ends('accepted', 'example-1 is replaced');
    await world.pass(15_000, 'replace');
    expect(world.reasons('replace')).toEqual({ Accepted: 'Taken', Completed: 'InProgress' });
    world.requests.ends('done', 'example-1 was replaced');
    await world.pass(15_000, 'replace');
    expect(world.status('replace')).toMatchObject({ phase: 'Completed', message: 'example-1 was replaced' });
    await world.pass(3_560_000, 'replace');
    expect(world.request('replace')).toBeDefined();
    await world.pass(60_000, 'replace');
    expect(world.request('replace')).toBeUndefined();
    expect(world.requests.done).toHaveLength(1);
    await world.stop();
  });

  test.each([
    ['refused', 'Refused', { Accepted: 'RequestRefused', Completed: 'NotAccepted' }],
    ['failed', 'Failed', { Accepted: 'Taken', Completed: 'RequestFailed' }],
    ['aborted', 'Aborted', { Accepted: 'Taken', Completed: 'RequestAborted' }],
    ['expired', 'Expired', { Accepted: 'RequestExpired', Completed: 'NotAccepted' }],
  ] as const)(
    'that is %s says so with the reason, on the object and in an event',
    async (state, phase, reasons) => {
      const world = await started();
      world.requests.verdict = { state, message: 'because of this' };
      world.ask('request');
      await world.pass(2_000, 'request');
      expect(world.status('request')).toMatchObject({ phase, message: 'because of this' });
      expect(world.status('request').completedAt).toBeDefined();
      expect(world.reasons('request')).toEqual(reasons);
      expect(world.events.some(event => event.endsWith('because of this'))).toBe(true);
      await world.stop();
    },
  );

  test('of a release with another action is refused by name', async () => {
    const world = await started();
    world.ask('odd', { ...PAUSE, action: 'constructor' as 'Pause' });
    await world.pass(2_000, 'odd');
    expect(world.status('odd')).toMatchObject({ phase: 'Refused' });
    expect(world.status('odd').message).toContain('no action constructor');
    await world.stop();
  });

  test('waits while nothing answers, and says until when', async () => {
    const world = await started();
    world.requests.code = 14;
    world.ask('stop');
    await world.pass(30_000, 'stop');
    expect(world.reasons('stop')).toEqual({ Accepted: 'NotDelivered', Completed: 'NotAccepted' });
    expect(world.status('stop').message).toContain('expires at');
    world.requests.code = undefined;
    await world.pass(12_000, 'stop');
    expect(world.status('stop')).toMatchObject({ phase: 'Completed' });
    await world.stop();
  });

  test('that has expired meanwhile says that nobody knows, and Expired when the workflow answers', async () => {
    const world = await started();
    world.requests.code = 14;
    world.ask('stop');
    await world.pass(630_000, 'stop');
    expect(world.status('stop')).toMatchObject({ phase: 'Pending' });
    expect(world.status('stop').message).toContain('whether it was accepted before is not known');
    world.requests.code = undefined;
    await world.pass(12_000, 'stop');
    expect(world.status('stop')).toMatchObject({ phase: 'Expired' });
    expect(world.requests.done).toEqual([]);
    await world.stop();
  });

  test('that was taken, though its answer was lost until it had expired, says what it came to', async () => {
    const world = await started();
    const uid = 'uid-of-stop';
    world.ask('stop');
    const taken = world.request('stop')?.metadata.uid ?? uid;
    world.requests.remembered.set(taken, { uid: taken, expiresAt: 0, state: 'done', message: 'paused' });
    world.requests.code = 4;
    await world.pass(630_000, 'stop');
    world.requests.code = undefined;
    await world.pass(12_000, 'stop');
    expect(world.status('stop')).toMatchObject({ phase: 'Completed', message: 'paused' });
    await world.stop();
  });

  test('has the workflow started where none runs', async () => {
    const world = await started();
    world.requests.stopped = true;
    world.ask('stop');
    await world.pass(5_000, 'stop');
    expect(world.temporal.workflows.get(workflowId(example))?.running).toBe(true);
    world.requests.stopped = false;
    await world.pass(12_000, 'stop');
    expect(world.status('stop')).toMatchObject({ phase: 'Completed' });
    await world.stop();
  });
});

describe('a verification of a stored backup', () => {
  const spec = {
    action: 'VerifyBackup',
    clusterRef: { name: 'example' },
    backupRef: { name: 'nightly' },
    location: 's3://backups/a',
    verify: 'Restore',
    by: 'ana',
  } as const;

  test.each([
    ['done', 'Verified', 'Completed', { Completed: 'Done', Verified: 'BackupVerified' }],
    ['done', 'PartlyVerified', 'Completed', { Completed: 'Done', Verified: 'BackupPartlyVerified' }],
    ['failed', 'NotVerified', 'Failed', { Completed: 'RequestFailed', Verified: 'BackupNotVerified' }],
    ['failed', undefined, 'Failed', { Completed: 'RequestFailed', Verified: 'NoVerdict' }],
    ['aborted', undefined, 'Aborted', { Completed: 'RequestAborted', Verified: 'NoVerdict' }],
  ] as const)('that ends as %s with the verdict %s', async (state, verdict, phase, reasons) => {
    const world = await started();
    const nightly = refTo('EtcdBackup', 'nightly');
    world.put(nightly);
    world.requests.verdict = { state: 'waiting', message: 'it has not begun' };
    world.ask('audit', spec);
    await world.pass(2_000, 'audit');
    expect(world.requests.done).toEqual([`${workflowId(nightly)} verify`]);
    expect(world.requests.sent).toMatchObject([
      { by: 'ana', location: 's3://backups/a', level: 'Restore', cluster: 'example' },
    ]);
    expect(world.reasons('audit')).toMatchObject({ Verified: 'NotVerifiedYet' });
    world.requests.ends('accepted', 'it has begun');
    await world.pass(15_000, 'audit');
    expect(world.reasons('audit')).toMatchObject({ Accepted: 'Taken', Verified: 'VerificationRunning' });
    world.requests.ends(state, 'this was found', verdict);
    await world.pass(15_000, 'audit');
    expect(world.status('audit')).toMatchObject({
      phase,
      message: 'this was found',
      operation: 'verifyStoredBackup',
    });
    expect(world.reasons('audit')).toEqual({ Accepted: 'Taken', ...reasons });
    await world.stop();
  });

  test('of an EtcdBackup that does not exist is refused, whatever cluster it names', async () => {
    const world = await started();
    world.ask('audit', spec);
    await world.pass(12_000, 'audit');
    expect(world.reasons('audit')).toEqual({
      Accepted: 'NoSuchResource',
      Completed: 'NotAccepted',
      Verified: 'NoVerdict',
    });
    expect(world.status('audit').message).toBe('there is no EtcdBackup nightly in namespace default');
    await world.stop();
  });
});

describe('what a request is about', () => {
  test('does not exist: it is refused, once there was time to see it', async () => {
    const world = await started();
    world.ask('stop', { ...PAUSE, clusterRef: { name: 'exmaple' } });
    await world.pass(8_000, 'stop');
    expect(world.status('stop')).toEqual({});
    await world.pass(5_000, 'stop');
    expect(world.reasons('stop')).toEqual({ Accepted: 'NoSuchResource', Completed: 'NotAccepted' });
    expect(world.status('stop').message).toBe('there is no EtcdCluster exmaple in namespace default');
    await world.stop();
  });

  test('is created after it: it is delivered', async () => {
    const world = await started();
    const later = refTo('EtcdBackup', 'nightly');
    world.ask('now', { action: 'BackupNow', backupRef: { name: 'nightly' }, by: 'ana' });
    await world.pass(4_000, 'now');
    world.put(later);
    await world.pass(3_000, 'now');
    expect(world.requests.done).toEqual([`${workflowId(later)} backup`]);
    await world.stop();
  });

  test.each(['deleted', 'deleted and created again'])(
    'was %s while it was in progress: it ends',
    async how => {
      const world = await started();
      world.requests.verdict = { state: 'accepted', message: 'restarting' };
      world.ask('restart', { ...PAUSE, action: 'Restart' });
      await world.pass(2_000, 'restart');
      const stored = world.stored(example);
      if (stored === undefined) throw new Error('nothing is stored');
      world.reflectors.remove(stored);
      if (how !== 'deleted') world.put(refTo('EtcdCluster', 'example', 2));
      await world.pass(12_000, 'restart');
      expect(world.status('restart')).toMatchObject({ phase: 'Failed' });
      expect(world.reasons('restart')).toEqual({ Accepted: 'Taken', Completed: 'ResourceGone' });
      await world.stop();
    },
  );
});

test('a request that the workflow has lost is not repeated', async () => {
  const world = await started();
  world.requests.verdict = { state: 'accepted', message: 'restarting' };
  world.ask('restart', { ...PAUSE, action: 'Restart' });
  await world.pass(2_000, 'restart');
  world.requests.remembered.clear();
  await world.pass(12_000, 'restart');
  expect(world.reasons('restart')).toEqual({ Accepted: 'Taken', Completed: 'RequestLost' });
  expect(world.requests.done).toHaveLength(1);
  await world.stop();
});

test('requests of a cluster arrive in their order, whatever becomes of the first', async () => {
  const world = await started();
  world.requests.code = 14;
  world.ask('a-first', { ...PAUSE, action: 'Restart' });
  await world.pass(2_000, 'a-first');
  world.ask('b-second');
  world.ask('c-third', { ...PAUSE, action: 'Resume' });
  await world.pass(20_000, 'a-first', 'b-second', 'c-third');
  world.requests.code = undefined;
  await world.pass(30_000, 'a-first', 'b-second', 'c-third');
  expect(world.requests.done.map(each => each.split(' ')[1])).toEqual(['restart', 'pause', 'resume']);
  await world.stop();
});

test('nothing else waits for requests where their kind is not installed', async () => {
  const world = new RequestWorld();
  world.reflectors.unlisted = 'EtcdRequest';
  await world.watcher.start();
  expect(world.watcher.synced()).toBe(true);
  world.put(example);
  await world.pass(2_000);
  expect(world.temporal.signals(example)).toHaveLength(1);
  await world.stop();
});

test('a replica that lost its lease delivers nothing', async () => {
  const world = await started();
  world.watcher.pause();
  world.ask('stop');
  await world.pass(5_000, 'stop');
  expect(world.requests.done).toEqual([]);
  world.watcher.resume();
  await world.pass(3_000, 'stop');
  expect(world.requests.done).toHaveLength(1);
  await world.stop();
});

function createdAt(world: RequestWorld, name: string): number {
  return Date.parse(world.request(name)?.metadata.creationTimestamp ?? '');
}
