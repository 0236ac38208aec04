/** The operator replaced by another generation, and back, in the middle of an operation of a cluster that lives in memory. */
import { expect } from 'vitest';
import type { Operation } from '../../src/api/operations.ts';
import { recordsOf } from './cluster-on-temporal.ts';
import { APPROVAL, expectApproval, Generations, HeldStep } from './generations.ts';
import { mortal } from './mortal-activities.ts';
import { before, hasOnlyVoters, processes, type ReplacedOperation, SPEC } from './replaced-operations.ts';
import { REVISION, RestoreWorld } from './restore-world.ts';
import type { WorkflowBench } from './workflow-bench.ts';

/** More than the log of a cluster that begins anew: what was acknowledged before. */
const ACKNOWLEDGED = 4_711;

/** The cluster in the middle of this operation: its step is held. */
export async function begun(bench: WorkflowBench, operation: Operation, row: ReplacedOperation) {
  const entity = bench.entity();
  const world = new RestoreWorld({ name: entity.name, spec: row.spec ?? SPEC });
  world.kube.mutate(world.resource, object => void (object.metadata.uid = entity.ref.uid));
  world.ref = entity.ref;
  if (row.creates !== true) {
    await world.drive();
    await row.before?.(world);
  }
  world.now = Date.now();
  world.seedBackup();
  const [etcd] = world.etcd.clusters;
  if (etcd !== undefined) etcd.revision = ACKNOWLEDGED;
  const had = before(world);
  const held = new HeldStep(row.step, row.nth);
  await bench.serve(entity, held.in(mortal(world, () => {})));
  const { taskQueue } = entity;
  const of = { kind: 'EtcdCluster', ...entity.ref } as const;
  const operator = new Generations(bench, {
    kube: world.kube,
    taskQueue,
    of,
    beside: () => (world.restoreOf === undefined ? [] : [{ kind: 'EtcdRestore', ...world.restoreOf }]),
    now: () => world.now,
    advance: () => world.advance(),
  });
  await operator.changed();
  await row.begin(world, (signal, sent) => operator.handle.signal(signal, sent));
  const status = () => (world.names('EtcdCluster').length === 0 ? undefined : world.cluster.status);
  const seen = () => ({
    decision: status()?.operation,
    conditions: status()?.conditions?.map(c => `${c.type}=${c.status} ${c.message}`),
  });
  await operator.until(`${row.step} is never begun`, () => held.isReached, seen);
  if (row.isOfRestore !== true) expect(await operator.running()).toEqual(['etcdCluster', operation]);
  return { entity, world, had, held, operator, status, seen };
}

/** Replaces the operator, and goes back, in the middle of this. */
export async function replaceOperator(
  bench: WorkflowBench,
  operation: Operation,
  row: ReplacedOperation,
): Promise<void> {
  const { entity, world, had, held, operator, status, seen } = await begun(bench, operation, row);
  await operator.handle.signal('approve', APPROVAL);
  await operator.handle.signal('pause', { by: 'ana', reason: 'to look' });
  operator.request('pause', { action: 'Pause', reason: 'to look, too' });
  await operator.until(
    'the pause is not mirrored',
    () => status()?.signals?.pause !== undefined && status()?.signals?.approvals !== undefined,
    seen,
  );
  for (const round of [1, 2]) {
    const terminated = await operator.replace();
    if (round === 1) {
      expect(terminated).toBeGreaterThanOrEqual(2);
      held.end(row.dies === true ? 'dies' : 'goesOn');
    }
    await operator.until(
      'the pause is not taken over',
      async () =>
        status()?.controlPaused === true &&
        status()?.userRequests?.pause?.by === 'bob' &&
        (await entity.status()).cluster !== undefined &&
        // What the operator took away is given back first.
        (await entity.status()).operation === undefined,
      seen,
    );
    const answer = await entity.status();
    expect(answer.paused).toMatchObject({ by: 'ana', reason: 'to look' });
    expectApproval(answer);
    expect(operator.phase('pause')).toBe('Completed');
  }
  expect(row.isDone(world, had), 'whether it is done while it is paused').toBe(row.closes === true);
  await operator.handle.signal('resume', { by: 'ana' });
  await operator.until(
    'it does not end as it should',
    async () => {
      if (!row.isDone(world, had) || status()?.operation !== undefined) return false;
      expectWorld(world, { ...row, operation }, had);
      return true;
    },
    seen,
  );
  await operator.until(
    'the pause still stands in the status',
    () => status()?.signals?.pause === undefined && status()?.userRequests?.pause === undefined,
    seen,
  );
  if (status() !== undefined) expectApproval(await entity.status());
}

/** It is as the specification asks for, and nothing was lost. */
function expectWorld(
  world: RestoreWorld,
  row: ReplacedOperation & { operation: Operation },
  had: ReturnType<typeof before>,
): void {
  const { size = 3 } = row;
  if (world.names('EtcdCluster').length === 0) return expect(world.names('Pod')).toEqual([]);
  const outcome = row.rollsBackTo === undefined ? 'Succeeded' : 'RolledBack';
  expect(recordsOf(world)).toContainEqual(expect.objectContaining({ type: row.operation, outcome }));
  if (row.handsOver === true) return;
  const { status, spec } = world.cluster;
  const etcd = world.etcd.clusters.at(-1);
  if (row.creates !== true) expect(status.clusterID === had.clusterID).toBe(row.isOther !== true);
  if (row.isOther !== true) expect(world.etcd.clusters).toHaveLength(1);
  if (row.creates !== true)
    expect(etcd?.revision).toBeGreaterThanOrEqual(row.isOther === true ? REVISION : ACKNOWLEDGED);
  expect(world.names('Pod')).toHaveLength(size);
  if (size === 0) return;
  expect(hasOnlyVoters(world, size)).toBe(true);
  expect(processes(world).map(({ version }) => version)).toEqual(
    Array(size).fill(row.rollsBackTo ?? spec.version),
  );
  expect(status).toMatchObject({ ready: `${size}/${size}`, phase: 'Running' });
  expect(world.kube.all('PodDisruptionBudget')[0]?.['spec']).toMatchObject({
    minAvailable: size - 1,
  });
  expect(world.kubelet.starts.flatMap(({ failure }) => failure ?? [])).toEqual([]);
}
