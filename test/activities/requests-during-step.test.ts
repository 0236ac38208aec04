/** EtcdRequests that are created while one step of an operation takes hours: a pause, its end and an abort do not wait for the end of the step. */
import { expect, it } from 'vitest';
import { API_VERSION } from '../../src/api/names.ts';
import type { EtcdRequest, EtcdRequestSpec } from '../../src/api/schemas/types.ts';
import type { Operation, WorkflowState } from '../../src/activities/index.ts';
import type { WritableObject } from '../../src/kube/port.ts';
import { created, edit } from '../worlds/living-cluster.ts';
import type { OperatorWorld } from '../worlds/operator-world.ts';

const HOUR_MS = 3_600_000;

function request(world: OperatorWorld, name: string, spec: Partial<EtcdRequestSpec>): void {
  const { namespace, name: cluster } = world.ref;
  world.kube.seed({
    apiVersion: API_VERSION,
    kind: 'EtcdRequest',
    metadata: { name, namespace, creationTimestamp: new Date(world.now).toISOString() },
    spec: { clusterRef: { name: cluster }, by: 'ana', ...spec },
  } as WritableObject);
}

function statusOf(world: OperatorWorld, name: string) {
  const all = world.kube.all('EtcdRequest') as unknown as EtcdRequest[];
  return all.find(({ metadata }) => metadata.name === name)?.status;
}

/** What the workflow of the cluster has done while the step is under way. */
const during = (world: OperatorWorld, operation: Operation, open: WorkflowState = {}) =>
  world.act(({ recordRequests }) =>
    recordRequests(world.ref, { open, underWay: { operation }, workflowId: 'entity' }),
  );

/** A rollout in whose middle a step takes hours. */
async function rolling(): Promise<OperatorWorld> {
  const world = await created();
  await edit(world, { etcd: { logLevel: 'warn' } });
  await world.runUntil('stopMember');
  return world;
}

it('a pause holds from then on, and the pass after the step, hours later, finds it', async () => {
  const world = await rolling();
  request(world, 'pause', { action: 'Pause' });
  expect(await during(world, 'rolloutCluster')).toMatchObject({ ends: true });
  expect(statusOf(world, 'pause')?.phase).toBe('Completed');
  expect(world.cluster.status).toMatchObject({
    userRequests: { pause: { by: 'ana' } },
    operation: { type: 'rolloutCluster' },
  });
  world.now += 3 * HOUR_MS;
  expect((await world.look()).decision).toMatchObject({ kind: 'blocked', reason: 'Paused' });
});

it('a resume ends a pause by an EtcdRequest at once, and one by signal when the workflow has forgotten it', async () => {
  const world = await rolling();
  request(world, 'pause', { action: 'Pause' });
  const paused = { by: 'bob', at: world.now };
  await during(world, 'rolloutCluster', { paused });
  world.now += 1_000;
  request(world, 'resume', { action: 'Resume' });
  expect(await during(world, 'rolloutCluster', { paused })).toEqual({ ends: false, revoked: { paused } });
  expect(statusOf(world, 'resume')?.phase).toBe('Accepted');
  expect(world.cluster.status.userRequests).toBeUndefined();
  expect(world.cluster.status.signals).toBeUndefined();
  await during(world, 'rolloutCluster');
  expect(statusOf(world, 'resume')?.phase).toBe('Completed');
});

it('a resume by message ends a pause by an EtcdRequest in the status, too', async () => {
  const world = await rolling();
  request(world, 'pause', { action: 'Pause' });
  const { holding } = await during(world, 'rolloutCluster');
  const { pause = '' } = holding ?? {};
  expect(await during(world, 'rolloutCluster', { spent: [pause] })).toEqual({ ends: false });
  expect(world.cluster.status.userRequests).toBeUndefined();
  expect((await world.look()).decision.kind).toBe('operate');
});

it('an abort keeps what the specification asks for from going on after the step', async () => {
  const world = await rolling();
  request(world, 'abort', { action: 'Abort' });
  expect(await during(world, 'rolloutCluster')).toMatchObject({ ends: true });
  expect(statusOf(world, 'abort')).toMatchObject({
    phase: 'Completed',
    message: 'rolloutCluster ends at its next step',
  });
  world.now += 3 * HOUR_MS;
  expect((await world.look()).decision).toMatchObject({ kind: 'blocked', reason: 'Aborted' });
});

it('an abort of a restore holds for that restore alone', async () => {
  const world = await rolling();
  request(world, 'abort', { action: 'Abort' });
  const underWay = { operation: 'restoreCluster', subject: 'a-uid' } as const;
  await world.act(({ recordRequests }) =>
    recordRequests(world.ref, { open: {}, underWay, workflowId: 'entity' }),
  );
  expect(world.cluster.status.userRequests?.abort).toMatchObject(underWay);
  expect(statusOf(world, 'abort')?.ids).toEqual(['restoreCluster', 'a-uid']);
});

it('an abort takes back the request that the operation carries out', async () => {
  const world = await created();
  world.now += 60_000;
  request(world, 'all', { action: 'Defragment' });
  await world.look();
  expect(statusOf(world, 'all')?.phase).toBe('Accepted');
  world.now += 1_000;
  request(world, 'abort', { action: 'Abort' });
  expect(await during(world, 'defragmentMembers')).toMatchObject({ ends: true });
  expect(statusOf(world, 'all')?.phase).toBe('Aborted');
  expect(statusOf(world, 'abort')?.phase).toBe('Completed');
  expect((await world.run()).decision.kind).toBe('idle');
  expect(world.events.map(({ reason }) => reason)).not.toContain('MemberDefragmented');
});

it('an abort by message takes back the EtcdRequest that the operation carries out, before the step has ended', async () => {
  const world = await created();
  world.now += 60_000;
  request(world, 'all', { action: 'Defragment' });
  const { holding } = await world.look();
  const spent = [holding?.requests?.[0]?.id ?? ''];
  expect(await during(world, 'defragmentMembers', { spent })).toMatchObject({ ends: true });
  expect(statusOf(world, 'all')?.phase).toBe('Aborted');
  expect((await world.run()).decision.kind).toBe('idle');
  expect(world.events.map(({ reason }) => reason)).not.toContain('MemberDefragmented');
});

it('an abort takes back a request by signal, which the workflow forgets', async () => {
  const world = await created();
  const asked = { id: 1, kind: 'restart', target: '', by: 'bob', ids: ['a-uid'] } as const;
  request(world, 'abort', { action: 'Abort' });
  const answer = await during(world, 'rolloutCluster', { requests: [asked] });
  expect(answer).toMatchObject({ ends: true, verdicts: [{ id: 1, outcome: 'refused' }] });
  expect(world.cluster.status.signals).toBeUndefined();
});

it('whatever else is asked for says what it waits for, is judged by the pass after the step, and expires if that comes too late', async () => {
  const world = await rolling();
  request(world, 'early', { action: 'MoveLeader', member: 'example-1', expiresAfterSeconds: 86_400 });
  request(world, 'late', { action: 'Restart' });
  expect(await during(world, 'rolloutCluster')).toEqual({ ends: false });
  expect(statusOf(world, 'early')).toMatchObject({
    phase: 'Pending',
    message: 'rolloutCluster is under way: the pass after its present step judges the request',
  });
  world.now += 3 * HOUR_MS;
  await world.look();
  expect(statusOf(world, 'late')?.phase).toBe('Expired');
  expect(['Accepted', 'Completed']).toContain(statusOf(world, 'early')?.phase);
});

it('a pause is carried out once when the operator is killed at any call over it', async () => {
  const probe = await rolling();
  request(probe, 'pause', { action: 'Pause' });
  const before = probe.calls;
  await during(probe, 'rolloutCluster');
  const calls = probe.calls - before;
  expect(calls).toBeGreaterThan(3);
  for (let at = 1; at <= calls; at += 1) {
    const world = await rolling();
    request(world, 'pause', { action: 'Pause' });
    world.kill({ at: world.calls + at, arrives: () => at % 2 === 0 });
    await during(world, 'rolloutCluster').catch(() => world.reboot());
    expect(await during(world, 'rolloutCluster')).toMatchObject({ ends: true });
    expect(statusOf(world, 'pause')?.phase).toBe('Completed');
    const reasons = world.events
      .filter(({ message }) => message.startsWith('paused'))
      .map(each => each.reason);
    expect(new Set(reasons).size).toBe(reasons.length);
  }
});

it('what a pass has judged meanwhile stays, and nothing else of the status is written', async () => {
  const world = await rolling();
  request(world, 'pause', { action: 'Pause' });
  let isFirst = true;
  const { status } = world.cluster;
  world.kube.intercept(({ verb, kind }) => {
    if (verb !== 'list' || kind !== 'EtcdRequest' || !isFirst) return;
    isFirst = false;
    world.kube.mutate(world.resource, object => {
      Object.assign(object['status'] as object, { size: 4_711 });
    });
  });
  await during(world, 'rolloutCluster');
  const { userRequests, ...others } = world.cluster.status;
  expect(others).toEqual({ ...status, size: 4_711 });
  expect(userRequests?.pause?.by).toBe('ana');
});
