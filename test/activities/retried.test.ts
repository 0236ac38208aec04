/** An activity that fails again says why in its resource: a condition, an event, and the phase of a backup. */
import { ApplicationFailure } from '@temporalio/activity';
import { describe, expect, it } from 'vitest';
import { reportingRetries } from '../../src/activities/resource/retried.ts';
import { createActivities } from '../../src/activities/index.ts';
import { ActivityEnvironment } from '../worlds/activity-environment.ts';
import { BackupWorld } from '../worlds/backup-world.ts';

/** An activity of an EtcdBackup whose run is under way, and how each try of it ends: with this error, or well. */
async function backupThat(): Promise<{
  readonly world: BackupWorld;
  readonly attempt: (number: number, error?: Error) => Promise<unknown>;
}> {
  const world = new BackupWorld();
  const activities = createActivities(world.deps);
  const env = new ActivityEnvironment();
  const { decision } = await env.run(() =>
    activities.assessBackup(world.ref, { workflowState: {}, workflowId: 'entity' }),
  );
  if (decision.kind !== 'operate' || decision.step.kind !== 'beginBackup') throw new Error('nothing begun');
  const { step } = decision;
  await env.run(() => activities.beginBackup(world.ref, step));
  const attempt = (number: number, error?: Error) => {
    const { takeSnapshot } = reportingRetries(world.deps, 'EtcdBackup', {
      takeSnapshot: async (_ref: unknown) => {
        if (error !== undefined) throw error;
      },
    });
    return new ActivityEnvironment({ attempt: number }).run(() => takeSnapshot(world.ref));
  };
  return { world, attempt };
}

const retrying = ({ status }: BackupWorld) => status.conditions?.find(({ type }) => type === 'Retrying');
const reported = ({ events }: BackupWorld) => events.filter(({ reason }) => reason === 'ActivityFails');

describe('an activity that fails', () => {
  it('once is tried again without a word', async () => {
    const { world, attempt } = await backupThat();
    await expect(attempt(1, new Error('no Secret'))).rejects.toThrow('no Secret');
    expect(retrying(world)).toBeUndefined();
    expect(world.status.phase).toBe('Running');
  });

  it('twice says so in a condition, the phase, what the run waits for, and one event', async () => {
    const { world, attempt } = await backupThat();
    await expect(attempt(2, new Error('no Secret'))).rejects.toThrow('no Secret');
    const message = 'takeSnapshot fails and is tried again: no Secret';
    expect(retrying(world)).toMatchObject({ status: 'True', reason: 'ActivityFails', message });
    expect(world.status).toMatchObject({ phase: 'Retrying', progress: { message } });
    expect(reported(world)).toEqual([{ type: 'Warning', reason: 'ActivityFails', message }]);
  });

  it('for the same reason again writes nothing, and for another one reports that', async () => {
    const { world, attempt } = await backupThat();
    await attempt(2, new Error('port 5001 refused')).catch(() => undefined);
    await attempt(3, new Error('port 5002 refused')).catch(() => undefined);
    expect(reported(world)).toHaveLength(1);
    await attempt(4, new Error('no Secret')).catch(() => undefined);
    expect(reported(world).map(({ message }) => message)).toEqual([
      'takeSnapshot fails and is tried again: port 5001 refused',
      'takeSnapshot fails and is tried again: no Secret',
    ]);
  });

  it('and then succeeds takes back what it said', async () => {
    const { world, attempt } = await backupThat();
    await attempt(2, new Error('no Secret')).catch(() => undefined);
    await attempt(3);
    expect(retrying(world)).toBeUndefined();
    expect(world.status.phase).toBe('Running');
    expect(world.status.progress).not.toHaveProperty('message');
  });

  it('for the last time, or waits for its turn, is not called tried again', async () => {
    const { world, attempt } = await backupThat();
    await attempt(2, ApplicationFailure.nonRetryable('gone', 'PreconditionChanged')).catch(() => undefined);
    await attempt(2, ApplicationFailure.retryable('a turn', 'WaitsForTurn')).catch(() => undefined);
    expect(retrying(world)).toBeUndefined();
  });

  it('fails with its own error where the API server cannot be reached', async () => {
    const { world, attempt } = await backupThat();
    world.kube.intercept(({ verb }) => {
      if (verb === 'replace') throw new Error('no answer');
    });
    await expect(attempt(2, new Error('no Secret'))).rejects.toThrow('no Secret');
  });

  it('is forgotten by the next pass', async () => {
    const { world, attempt } = await backupThat();
    await attempt(2, new Error('no Secret')).catch(() => undefined);
    const activities = createActivities(world.deps);
    await new ActivityEnvironment().run(() =>
      activities.assessBackup(world.ref, { workflowState: {}, workflowId: 'entity' }),
    );
    expect(retrying(world)).toBeUndefined();
    expect(world.status.phase).toBe('Running');
  });
});

it('activities of all kinds report their failures', async () => {
  const world = new BackupWorld();
  world.kube.intercept(({ verb }) => {
    if (verb === 'list') throw new Error('the store of lists is away');
  });
  const activities = createActivities(world.deps);
  const [cluster] = world.kube.all('EtcdCluster');
  const { namespace = '', name = '', uid = '' } = cluster?.metadata ?? {};
  const pass = () => activities.assess({ namespace, name, uid }, { workflowState: {}, workflowId: 'entity' });
  await new ActivityEnvironment({ attempt: 2 }).run(pass).catch(() => undefined);
  expect(reported(world).map(({ message }) => message)).toEqual([
    'assess fails and is tried again: the store of lists is away',
  ]);
});
