/** The history of operations: one record for each that ended, newest first, at most ten. */
import { describe, expect, it } from 'vitest';
import type { EtcdClusterStatus, OperationStatus } from '../../../src/api/schemas/types.ts';
import type { WorkflowState } from '../../../src/planner/model/workflow-state.ts';
import type { Observation } from '../../../src/planner/model/observation.ts';
import { plan } from '../../../src/planner/plan.ts';
import { observedMembers } from '../../../src/planner/report/members.ts';
import { statusOf } from '../../../src/planner/report/status.ts';
import { situationOf } from '../../../src/planner/situation.ts';
import { aCluster, aPod, aRunningCluster, aRunningStatus, LONG_AGO, NOW } from '../../worlds/builders.ts';

const WORKFLOW = 'etcdcluster/shop/example/0b7e6e34';

function pass(observation: Observation, workflowState: WorkflowState = {}): EtcdClusterStatus {
  const situation = situationOf(observation, workflowState);
  const decision = plan(observation, workflowState);
  const findings = { situation, decision, members: observedMembers(situation) };
  return statusOf(findings, { workflowId: WORKFLOW, now: NOW });
}

const CREATION: OperationStatus = {
  type: 'createCluster',
  why: 'the cluster does not exist yet',
  startedAt: LONG_AGO,
  step: 'wait until example-0 elect a leader',
  workflowID: `${WORKFLOW}/operation`,
  remaining: [],
};
const withStatus = (status: Partial<EtcdClusterStatus>, others: Partial<Observation> = {}): Observation =>
  aRunningCluster({ cluster: aCluster({ status: { ...aRunningStatus(), ...status } }), ...others });
const entry = (n: number) => ({ type: 'repairCluster', outcome: 'Succeeded', runID: `run-${n}` }) as const;
const TEN = Array.from({ length: 10 }, (_, n) => entry(n));

describe('the history of operations', () => {
  it('records one that ended: what, why, when, how, and its workflow', () => {
    const ran = { operation: 'createCluster', runId: 'r-1' };
    expect(pass(withStatus({ operation: CREATION }), { ran }).history).toEqual([
      {
        type: 'createCluster',
        why: 'the cluster does not exist yet',
        outcome: 'Succeeded',
        startedAt: LONG_AGO,
        completedAt: NOW,
        workflowID: `${WORKFLOW}/operation`,
        runID: 'r-1',
      },
    ]);
  });

  it('is written with the end of the operation, and stays as it is in every other pass', () => {
    expect(pass(withStatus({}))).not.toHaveProperty('history');
    const status = pass(withStatus({ operation: CREATION }));
    expect(status).not.toHaveProperty('operation');
    const again = pass(withStatus(status), { ran: { operation: 'createCluster', runId: 'r-1' } });
    expect(again).toEqual(status);
  });

  it('keeps ten, the newest first', () => {
    const { history } = pass(withStatus({ operation: CREATION, history: TEN }));
    expect(history?.map(({ type, runID }) => runID ?? type)).toEqual([
      'createCluster',
      ...TEN.slice(0, 9).map(({ runID }) => runID),
    ]);
  });

  it.each([
    ['of another operation', { operation: 'scaleCluster', runId: 'r-1' }],
    ['that stands in another record', { operation: 'createCluster', runId: 'run-3' }],
  ])('does not name a run %s', (_, ran) => {
    const { history } = pass(withStatus({ operation: CREATION, history: TEN.slice(0, 5) }), { ran });
    expect(history).toHaveLength(6);
    expect(history?.[0]).toMatchObject({ type: 'createCluster' });
    expect(history?.[0]).not.toHaveProperty('runID');
  });

  it('records the one that gave way when another one begins in the same pass', () => {
    const scaling = { type: 'scaleCluster', from: '3', to: '5' };
    const status = { ...aRunningStatus(), operation: scaling };
    const deleting = aCluster({ spec: { size: 5 }, status, deleting: true });
    const { operation, history } = pass(aRunningCluster({ cluster: deleting }));
    expect(operation?.type).toBe('deleteCluster');
    expect(history).toMatchObject([{ type: 'scaleCluster', outcome: 'Superseded', from: '3', to: '5' }]);
  });

  it('records one that has failed, with the reason, when another one takes its place', () => {
    const failed = { operation: 'scaleCluster', message: 'pods is forbidden', retryAt: 0 };
    const operation = { type: 'scaleCluster', from: '3', to: '5', startedAt: LONG_AGO };
    const status = { ...aRunningStatus(), operation };
    const deleting = aCluster({ spec: { size: 5 }, status, deleting: true });
    const { history } = pass(aRunningCluster({ cluster: deleting }), { failed });
    expect(history).toMatchObject([
      {
        type: 'scaleCluster',
        outcome: 'Failed',
        message: 'pods is forbidden',
        from: '3',
        to: '5',
        startedAt: LONG_AGO,
        completedAt: NOW,
      },
    ]);
  });

  it('records one that a person aborted, with who that was', () => {
    const aborted = { operation: 'scaleCluster', generation: 1, by: 'bob', reason: 'too large' };
    const operation = { type: 'scaleCluster', from: '3', to: '5', goal: '5', startedAt: LONG_AGO };
    const { history } = pass(withStatus({ operation }), { aborted });
    expect(history).toMatchObject([
      { type: 'scaleCluster', outcome: 'Aborted', message: 'aborted by bob (too large)', from: '3', to: '5' },
    ]);
  });

  it('shortens a message that is longer than its field', () => {
    const aborted = { operation: 'scaleCluster', generation: 1, by: 'x'.repeat(5_000) };
    const status = { operation: { type: 'scaleCluster' } };
    const { history } = pass(withStatus(status), { aborted });
    expect(history?.[0]).toMatchObject({ outcome: 'Aborted' });
    expect(history?.[0]?.message).toHaveLength(1_024);
  });
});

describe('the cause of an operation', () => {
  const scaled = (size: number, operation?: OperationStatus) =>
    aRunningCluster({
      cluster: aCluster({ spec: { size }, status: { ...aRunningStatus(), ...(operation && { operation }) } }),
    });

  it('of a change of the size says from how many members to how many', () => {
    expect(pass(scaled(5)).operation).toMatchObject({
      type: 'scaleCluster',
      why: expect.stringMatching(/^spec\.size and the number of members differ; first step: /),
      from: '3',
      to: '5',
    });
  });

  it('keeps from where it began, and follows the specification to where it leads', () => {
    const begun = { type: 'scaleCluster', why: 'as it was', from: '1', to: '5', startedAt: LONG_AGO };
    expect(pass(scaled(7, begun)).operation).toMatchObject({ why: 'as it was', from: '1', to: '7' });
  });

  it('is not made up of one that an earlier release began', () => {
    const { operation } = pass(scaled(5, { type: 'scaleCluster', startedAt: LONG_AGO }));
    expect(operation).toMatchObject({ type: 'scaleCluster', startedAt: LONG_AGO });
    for (const field of ['why', 'from', 'to']) expect(operation).not.toHaveProperty(field);
  });

  it('of an upgrade says from which version to which', () => {
    const cluster = aCluster({ spec: { version: '3.6.17' }, status: aRunningStatus() });
    expect(pass(aRunningCluster({ cluster })).operation).toMatchObject({
      type: 'upgradeCluster',
      from: '3.6.16',
      to: '3.6.17',
    });
  });

  it('names who requested it and with what reason, also when the request is done and gone', () => {
    const observation = aRunningCluster();
    const uid = observation.pods[1]?.uid ?? '';
    const request = {
      id: 1,
      kind: 'restart',
      target: 'example-1',
      by: 'ana',
      reason: 'new kernel',
      ids: [uid],
    } as const;
    const { operation } = pass(observation, { requests: [request] });
    expect(operation).toMatchObject({
      type: 'rolloutCluster',
      requestedBy: 'ana',
      why: expect.stringMatching(/^a person requested it: new kernel; first step: /),
    });
    const { history } = pass(withStatus({ operation: operation! }));
    expect(history).toMatchObject([{ type: 'rolloutCluster', requestedBy: 'ana' }]);
  });

  it('of what no person requested names no one', () => {
    const { operation } = pass(aRunningCluster({ pods: [aPod()] }));
    expect(operation).toMatchObject({
      type: 'repairCluster',
      why: expect.stringMatching(/^a pod or another object/),
    });
    expect(operation).not.toHaveProperty('requestedBy');
  });
});
