/** Passes that fail are said on the resource, by the activity of its workflow, and the pass that succeeds takes it back. */
import { describe, expect, it } from 'vitest';
import type { Condition } from '../../src/api/conditions/catalogue.ts';
import { fault } from '../fakes/kubernetes/kube.ts';
import { BackupWorld } from '../worlds/backup-world.ts';
import { OperatorWorld } from '../worlds/operator-world.ts';

const message = 'POST /api/v1/namespaces/default/pods: 403 Forbidden: no rights';

/** A cluster of which nothing is to be done. */
async function living(): Promise<OperatorWorld> {
  const world = new OperatorWorld();
  await world.run();
  await world.run();
  return world;
}

function report(world: OperatorWorld, times = 1): Promise<void> {
  const since = world.now - 70_000;
  return world.act(({ reportPassFailure }) =>
    reportPassFailure(world.ref, { kind: 'EtcdCluster', message, since, times }),
  );
}

const said = (conditions: readonly Condition[] = []) =>
  Object.fromEntries(conditions.map(({ type, status, reason }) => [type, `${status} ${reason}`]));
const told = ({ events }: OperatorWorld) => events.filter(({ reason }) => reason === 'PassFails');

describe('passes of a cluster that fail', () => {
  it('are said by a condition with the error, by Available and Ready, the column Attention and one event', async () => {
    const world = await living();
    await report(world);
    const { conditions = [], attention } = world.cluster.status;
    expect(said(conditions)).toMatchObject({
      PassFailing: 'True PassFails',
      Available: 'Unknown NotLookedAt',
      Ready: 'Unknown PassesFail',
      Healthy: 'True AllMembersHealthy',
    });
    expect(conditions.find(({ type }) => type === 'PassFailing')?.message).toMatch(
      /^Since .*Z no pass of this resource has succeeded: POST .* 403 Forbidden: no rights\. The operator retries/,
    );
    expect(attention).toBe('PassFails');
    expect(told(world)).toMatchObject([{ type: 'Warning', message: expect.stringContaining('403') }]);
    const before = world.kube.calls.length;
    await report(world, 2);
    expect(world.kube.calls.slice(before).map(({ verb }) => verb)).toEqual(['get']);
    expect(told(world)).toHaveLength(1);
  });

  it('are taken back by the next pass that succeeds, with everything that it finds', async () => {
    const world = await living();
    await report(world);
    await world.look();
    expect(said(world.cluster.status.conditions)).toMatchObject({
      PassFailing: 'False PassesSucceed',
      Available: 'True LinearizableRead',
      Ready: 'True AsSpecified',
    });
    expect(world.cluster.status.attention).toBeUndefined();
    const before = world.cluster.metadata.resourceVersion;
    await world.look();
    expect(world.cluster.metadata.resourceVersion).toBe(before);
  });

  it('are said by the event alone where no status can be written, once', async () => {
    const world = await living();
    world.kube.intercept(call => {
      if (call.verb === 'patch') throw fault(403, 'Forbidden');
    });
    await expect(report(world)).rejects.toThrow('Forbidden');
    await expect(report(world, 2)).rejects.toThrow('Forbidden');
    expect(told(world)).toHaveLength(1);
  });

  it('are said of no other resource of the name', async () => {
    const world = await living();
    world.ref = { ...world.ref, uid: 'another' };
    await report(world);
    expect(said(world.cluster.status.conditions)['PassFailing']).toBeUndefined();
    expect(told(world)).toEqual([]);
  });
});

it('passes of a backup that fail have no Available to say so, and are taken back', async () => {
  const world = new BackupWorld();
  await world.act(({ reportPassFailure }) =>
    reportPassFailure(world.ref, { kind: 'EtcdBackup', message, since: world.now, times: 1 }),
  );
  expect(said(world.status.conditions)).toEqual({ PassFailing: 'True PassFails' });
  await world.act(({ assessBackup }) => assessBackup(world.ref, { workflowState: {}, workflowId: 'entity' }));
  expect(said(world.status.conditions)).toMatchObject({ PassFailing: 'False PassesSucceed' });
});
