/** The operator replaced by another generation, and back, in the middle of every operation of an EtcdBackup, and of a restore that makes its cluster. */
import { expect } from 'vitest';
import type { BackupOperation } from '../../src/activities/index.ts';
import { API_VERSION, FINALIZER } from '../../src/api/names.ts';
import type { EtcdBackupSpec } from '../../src/api/schemas/types.ts';
import { BackupEntity } from './backup-bench.ts';
import { type BackupWorld, SECOND_STORE } from './backup-world.ts';
import { Generations, HeldStep } from './generations.ts';
import { mortal } from './mortal-activities.ts';
import { RestoreWorld } from './restore-world.ts';
import type { WorkflowBench } from './workflow-bench.ts';

export interface ReplacedBackup {
  readonly title: string;
  readonly spec?: Partial<EtcdBackupSpec>;
  /** The first backup is there before. */
  readonly after?: 'theFirst';
  readonly begin?: (
    world: BackupWorld,
    say: (update: string, sent: object) => Promise<void>,
  ) => Promise<void> | void;
  readonly step: string;
  readonly isDone: (world: BackupWorld) => boolean;
  /** No pause holds it back. */
  readonly ignoresPause?: true;
}

const HOURLY = { backupPolicy: { backupIntervalInSecond: 3_600 } };
const isLast = (world: BackupWorld, requestedBy: string | undefined) =>
  world.status.lastRun?.outcome === 'Succeeded' && world.status.lastRun.requestedBy === requestedBy;
const isGone = (world: BackupWorld) => world.kube.all('EtcdBackup').length === 0;

export const REPLACED_BACKUPS: Readonly<
  Record<BackupOperation, readonly [ReplacedBackup, ...ReplacedBackup[]]>
> = {
  takeBackup: [
    {
      title: 'a backup on request, before its run is recorded',
      spec: HOURLY,
      after: 'theFirst',
      begin: (_, say) => say('backup', { by: 'ana' }),
      step: 'beginBackup',
      isDone: world => isLast(world, 'ana') && world.objects.length === 2,
    },
    {
      title: 'a backup that is due, while it is written',
      step: 'takeSnapshot',
      isDone: world => isLast(world, undefined) && world.objects.length === 1,
    },
    {
      title: 'a backup on request, while it is written',
      spec: HOURLY,
      after: 'theFirst',
      begin: (_, say) => say('backup', { by: 'ana' }),
      step: 'takeSnapshot',
      isDone: world => isLast(world, 'ana') && world.objects.length === 2,
    },
  ],
  verifyStoredBackup: [
    {
      title: 'a verification of a stored backup on request',
      spec: HOURLY,
      after: 'theFirst',
      begin: (_, say) => say('verify', { level: 'Structure', by: 'ana' }),
      step: 'verifyStoredBackup',
      isDone: world => world.status.verification?.outcome === 'Verified',
    },
  ],
  copyBackups: [
    {
      title: 'a copy to the second store',
      spec: { secondStore: SECOND_STORE },
      step: 'copyBackups',
      isDone: world => world.copies.length === 1 && world.status.history?.[0]?.heldIn === 'Both',
    },
  ],
  pruneBackups: [
    {
      title: 'a deletion of what retention does not keep',
      spec: { backupPolicy: { backupIntervalInSecond: 3_600, maxBackups: 1 } },
      after: 'theFirst',
      begin: (_, say) => say('backup', { by: 'ana' }),
      step: 'pruneBackups',
      isDone: world => world.objects.length === 1 && isLast(world, 'ana'),
    },
  ],
  releaseBackup: [
    {
      title: 'a deletion of the resource, before it is let go',
      begin: async world => {
        const ref = { apiVersion: API_VERSION, kind: 'EtcdBackup', ...world.ref };
        world.kube.mutate(ref, ({ metadata }) => void (metadata.finalizers = [FINALIZER]));
        await world.delete();
      },
      step: 'releaseBackup',
      isDone: isGone,
      ignoresPause: true,
    },
  ],
};

export async function replaceDuringBackup(
  bench: WorkflowBench,
  operation: BackupOperation,
  { title, spec = {}, after, begin, step, isDone, ignoresPause }: ReplacedBackup,
): Promise<void> {
  const isOfEachRun = step === 'beginBackup' || step === 'takeSnapshot';
  const held = new HeldStep(step, after === 'theFirst' && isOfEachRun ? 2 : 1);
  const entity = await BackupEntity.mortalOn(
    bench,
    spec,
    () => {},
    activities => held.in(activities),
  );
  const { world, taskQueue, handle } = entity;
  const of = { kind: 'EtcdBackup', ...world.ref } as const;
  const scene = {
    kube: world.kube,
    taskQueue,
    of,
    now: () => Date.now(),
    advance: () => world.verifier.settle(),
  };
  const operator = new Generations(bench, scene);
  const status = () => (isGone(world) ? undefined : world.status);
  if (after === undefined) await begin?.(world, async () => {});
  await operator.changed();
  if (after === 'theFirst') {
    await operator.until(
      'there is no first backup',
      () => world.status.lastRun?.outcome === 'Succeeded',
      status,
    );
    await begin?.(world, async (update, sent) => void (await handle.executeUpdate(update, { args: [sent] })));
  }
  await operator.until(`${step} is never begun`, () => held.isReached, status);
  // What is copied is begun beside a run that ends just then.
  await operator.until(
    `${operation} does not run alone`,
    async () => JSON.stringify(await operator.running()) === JSON.stringify(['etcdBackup', operation]),
    status,
  );

  await handle.signal('pause', { by: 'ana', reason: 'to look' });
  operator.request('pause', { action: 'Pause', reason: 'to look, too' });
  const isPaused = () =>
    ignoresPause === true ||
    (status()?.signals?.pause?.by === 'ana' && status()?.userRequests?.pause?.by === 'bob');
  await operator.until('the pause is not mirrored', isPaused, status);
  for (const round of [1, 2]) {
    const terminated = await operator.replace();
    if (round === 1) {
      expect(terminated).toBeGreaterThanOrEqual(2);
      held.end('dies');
    }
    if (ignoresPause === true) break;
    await operator.until(
      'the pause is not taken over',
      async () => {
        const { paused } = await handle.query<{ paused?: object }>('status');
        expect(paused).toMatchObject({ by: 'ana', reason: 'to look' });
        return isPaused();
      },
      status,
    );
    expect(operator.phase('pause')).toBe('Completed');
    expect(isDone(world), `${title} is not done while it is paused`).toBe(false);
  }
  if (ignoresPause !== true) await handle.signal('resume', { by: 'ana' });
  await operator.until('it does not end as it should', () => isDone(world), status);
  await operator.until(
    'something is still open',
    () => isGone(world) || (world.status.signals === undefined && world.status.userRequests === undefined),
    status,
  );
}

/** The cluster that a restore makes is made once, though the operator is replaced before and after. */
export async function replaceDuringRestore(bench: WorkflowBench): Promise<void> {
  const { name, taskQueue } = bench.entity();
  const world = new RestoreWorld({ name });
  await world.drive();
  await world.deleteCluster();
  await world.drive();
  world.now = Date.now();
  world.seedBackup();
  world.request({ clusterTemplate: { size: 3, version: '3.6.16' } });
  const held = new HeldStep('createRestored');
  await bench.serve({ taskQueue }, held.in(mortal(world, () => {})));
  const of = { kind: 'EtcdRestore' as const, ...(world.restoreOf ?? world.ref) };
  const made = () => world.kube.peek(world.resource);
  const operator = new Generations(bench, {
    kube: world.kube,
    taskQueue,
    of,
    beside() {
      const object = made();
      if (object === undefined) return [];
      if (world.ref.uid !== object.metadata.uid) world.follow();
      return [{ kind: 'EtcdCluster', ...world.ref }];
    },
    now: () => world.now,
    advance: () => world.advance(),
  });
  await operator.changed();
  await operator.until(
    'createRestored is never begun',
    () => held.isReached,
    () => world.restore,
  );
  expect(await operator.replace()).toBeGreaterThanOrEqual(1);
  held.end('goesOn');
  await operator.until(
    'the cluster is not made',
    () => made() !== undefined,
    () => world.restore,
  );
  expect(await operator.replace()).toBeGreaterThanOrEqual(1);
  await operator.until(
    'the restore does not end',
    () => world.restore.succeeded === true,
    () => world.restore,
  );
  expect(world.names('EtcdCluster')).toEqual([name]);
  expect(world.cluster.status.members?.ready).toHaveLength(3);
  expect(world.names('Pod')).toEqual(world.cluster.status.members?.ready);
}
