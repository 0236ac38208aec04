/** What becomes of the EtcdRequests of an EtcdBackup. */
import { describe, expect, it } from 'vitest';
import { backupWithDefaults } from '../../../src/api/defaults/etcd-backup.ts';
import type {
  EtcdBackup,
  EtcdBackupStatus,
  EtcdRequest,
  EtcdRequestSpec,
  EtcdRequestStatus,
} from '../../../src/api/schemas/types.ts';
import type { BackupWorkflowState } from '../../../src/planner/backup/observation.ts';
import { planBackup } from '../../../src/planner/backup/plan.ts';
import { settleBackupRequests } from '../../../src/planner/requests/backup.ts';

const NOW = Date.parse('2026-11-21T10:00:00Z');
const WORKFLOW = 'etcdbackup/shop/nightly/0b7e6e34';
const RUN = '2026-11-21T09:59:00Z';
const LATER = '2026-11-21T09:59:30Z';
const ENTRY = { time: '2026-11-20T10:00:00Z', location: 's3://backups/etcd/one' };

function request(
  spec: Pick<EtcdRequestSpec, 'action'> & Partial<EtcdRequestSpec>,
  ids?: readonly string[],
): EtcdRequest {
  const status: EtcdRequestStatus = {
    phase: 'Accepted',
    workflowID: WORKFLOW,
    message: 'as before',
    ...(ids && { ids }),
  };
  return {
    apiVersion: 'etcd.database.coreos.com/v1beta2',
    kind: 'EtcdRequest',
    metadata: {
      namespace: 'shop',
      name: spec.action,
      uid: spec.action,
      creationTimestamp: '2026-11-21T09:59:59Z',
    },
    spec: { backupRef: { name: 'nightly' }, by: 'ana', ...spec },
    ...(ids && { status }),
  };
}

function settle(
  requests: readonly EtcdRequest[],
  {
    status = {},
    workflowState = {},
    deleting = false,
  }: { status?: EtcdBackupStatus; workflowState?: BackupWorkflowState; deleting?: boolean } = {},
) {
  const spec: EtcdBackup['spec'] = {
    clusterRef: { name: 'example' },
    storageType: 'S3',
    s3: { path: 'backups/etcd/one' },
  };
  const metadata = { namespace: 'shop', name: 'nightly', uid: '0b7e6e34' };
  const object = { metadata, spec, status } as EtcdBackup;
  const facts = { ...metadata, generation: 1, deleting, hasFinalizer: false, createdAt: 0, object };
  const backup = { ...facts, config: backupWithDefaults(spec), status };
  const observation = { now: NOW, backup, requests, cluster: 'there' } as const;
  const target = {
    kind: 'EtcdBackup',
    namespace: 'shop',
    name: 'nightly',
    workflowId: WORKFLOW,
    createdAt: 0,
  } as const;
  const settled = settleBackupRequests(observation, workflowState, target);
  const outcomes = settled.changes.map(({ accepted, outcome }) => [accepted?.state, outcome?.state]);
  return { ...settled, outcomes, decision: planBackup(observation, settled.workflowState) };
}

const HELD = { userRequests: { pause: { request: 'Pause', by: 'bob', at: RUN } } };
const RUNNING = { progress: { startedAt: RUN } };
const AT_ONCE = ['accepted', 'done'];
const REFUSED = [undefined, 'refused'];
const WAITS = [undefined, 'waiting'];

describe('a pause', () => {
  it('holds without its object until a Resume, and not for the passes of an operation', () => {
    expect(settle([request({ action: 'Pause' })])).toMatchObject({
      outcomes: [AT_ONCE],
      pause: { request: 'Pause', by: 'ana' },
      decision: { kind: 'blocked', reason: 'Paused' },
    });
    expect(settle([], { status: HELD }).workflowState.paused).toEqual({ by: 'bob' });
    expect(settle([request({ action: 'Resume' })], { status: HELD })).toMatchObject({
      outcomes: [AT_ONCE],
      pause: undefined,
    });
    const ofOperation = settle([], { status: HELD, workflowState: { isOperation: true } });
    expect(ofOperation.workflowState.paused).toBeUndefined();
    expect(ofOperation.pause).toEqual(HELD.userRequests.pause);
  });

  it('that a message has ended does not hold', () => {
    expect(settle([], { status: HELD, workflowState: { spent: ['Pause'] } }).pause).toBeUndefined();
  });

  it('by a message is ended by a Resume when the workflow has forgotten it', () => {
    const paused = { by: 'bob', at: 7 };
    expect(settle([request({ action: 'Resume' })], { workflowState: { paused } })).toMatchObject({
      outcomes: [['accepted', undefined]],
      revoked: { paused },
    });
    expect(settle([request({ action: 'Resume' }, ['pause 7'])]).outcomes).toEqual([AT_ONCE]);
    expect(settle([request({ action: 'Resume' })]).outcomes).toEqual([REFUSED]);
  });
});

it('a Resync has the workflow forget what has failed and what was pruned', () => {
  const workflowState: BackupWorkflowState = {
    failed: { operation: 'pruneBackups', message: 'no', retryAt: NOW + 1_000 },
    prunedAfter: RUN,
  };
  expect(settle([request({ action: 'Resync' })], { workflowState })).toMatchObject({
    outcomes: [['accepted', undefined]],
    revoked: workflowState,
    workflowState: {},
  });
  expect(settle([request({ action: 'Resync' })]).outcomes).toEqual([AT_ONCE]);
});

it('a Resync ends nothing that came after it was accepted', () => {
  const resync = request({ action: 'Resync' }, [`pruned after ${RUN}`]);
  expect(settle([resync], { workflowState: { prunedAfter: RUN } }).revoked).toEqual({ prunedAfter: RUN });
  expect(settle([resync], { workflowState: { prunedAfter: LATER } })).toMatchObject({
    outcomes: [AT_ONCE],
    workflowState: { prunedAfter: LATER },
  });
});

it('an action for clusters is refused', () => {
  expect(settle([request({ action: 'Restart' })]).outcomes).toEqual([REFUSED]);
});

describe('BackupNow', () => {
  const backup = (ids?: readonly string[]) => [request({ action: 'BackupNow' }, ids)];

  it('waits until the first step of a run accepts it', () => {
    const { outcomes, decision } = settle(backup());
    expect(outcomes).toEqual([WAITS]);
    expect(decision).toMatchObject({
      step: { kind: 'beginBackup', requestedBy: 'ana', requests: ['BackupNow'] },
    });
    expect(settle(backup(), { status: RUNNING }).outcomes).toEqual([WAITS]);
    expect(settle(backup(), { deleting: true }).outcomes).toEqual([REFUSED]);
  });

  it('is begun again when its run was never recorded', () => {
    expect(settle(backup([RUN])).decision).toMatchObject({ step: { kind: 'beginBackup' } });
  });

  it.each<[string, EtcdBackupStatus, BackupWorkflowState, string | undefined]>([
    ['is under way', RUNNING, {}, undefined],
    ['has succeeded', { lastRun: { startedAt: RUN, outcome: 'Succeeded' } }, {}, 'done'],
    ['has failed', { lastRun: { startedAt: RUN, outcome: 'Failed', message: 'no' } }, {}, 'failed'],
    ['is in the history', { history: [{ ...ENTRY, time: RUN }] }, {}, 'done'],
    [
      'could not be recorded',
      {},
      { failed: { operation: 'takeBackup', startedAt: RUN, message: 'no', retryAt: NOW } },
      'failed',
    ],
    ['has left no trace', { lastRun: { startedAt: LATER, outcome: 'Succeeded' } }, {}, 'failed'],
  ])('ends as its run: that %s', (_, status, workflowState, state) => {
    expect(settle(backup([RUN]), { status, workflowState }).outcomes).toEqual([[undefined, state]]);
  });
});

describe('VerifyBackup', () => {
  const status = { history: [ENTRY] };
  const verify = (ids?: readonly string[]) => request({ action: 'VerifyBackup', verify: 'Restore' }, ids);
  const begun = {
    ...status,
    verification: { request: 'VerifyBackup', ...ENTRY, level: 'Restore', startedAt: RUN },
  } as const;

  it('waits for its turn, or is refused', () => {
    const { outcomes, decision } = settle([verify()], { status });
    expect(outcomes).toEqual([WAITS]);
    expect(decision).toMatchObject({
      step: { kind: 'verifyStoredBackup', request: 'VerifyBackup', level: 'Restore' },
    });
    expect(settle([verify()]).outcomes).toEqual([REFUSED]);
  });

  it.each([
    ['Verified', 'done'],
    ['PartlyVerified', 'done'],
    ['NotVerified', 'failed'],
  ] as const)('ends with its verdict: %s', (outcome, state) => {
    const verification = { ...begun.verification, completedAt: LATER, outcome };
    const { changes } = settle([verify([])], { status: { ...status, verification } });
    expect(changes).toMatchObject([{ outcome: { state, verdict: outcome } }]);
  });

  it('ends without one when its operation has failed or was aborted', () => {
    const failed = {
      operation: 'verifyStoredBackup',
      startedAt: 'VerifyBackup',
      message: 'no',
      retryAt: NOW,
    } as const;
    expect(settle([verify([])], { status: begun, workflowState: { failed } }).outcomes).toEqual([
      [undefined, 'failed'],
    ]);
    const aborted = { startedAt: 'VerifyBackup', by: 'bob' };
    expect(settle([verify([])], { status: begun, workflowState: { aborted } }).outcomes).toEqual([
      [undefined, 'aborted'],
    ]);
  });

  it('that was asked for by a message goes first', () => {
    const asked = { uid: 'by message', level: 'Structure' } as const;
    expect(settle([verify()], { status, workflowState: { verify: asked } }).workflowState.verify).toEqual(
      asked,
    );
  });
});

describe('Abort', () => {
  const abort = (ids?: readonly string[]) => request({ action: 'Abort', reason: 'too slow' }, ids);

  it('ends the run that is under way, and is done when that has ended', () => {
    const first = settle([abort()], { status: RUNNING });
    expect(first).toMatchObject({
      outcomes: [['accepted', undefined]],
      workflowState: { aborted: { by: 'ana', startedAt: RUN } },
      stop: { by: 'ana', reason: 'too slow' },
    });
    expect(first.changes[0]?.accepted).toEqual({
      state: 'accepted',
      message: 'takeBackup is aborted',
      ids: [RUN],
    });
    const then = settle([abort([RUN])], { status: { lastRun: { startedAt: RUN, outcome: 'Aborted' } } });
    expect([then.outcomes, then.stop]).toEqual([[AT_ONCE], undefined]);
  });

  it('leaves other requests, and a verification that waits for its turn, as they are', () => {
    const { metadata, ...other } = request({ action: 'Restart' });
    const verify = { uid: 'verification', by: 'bob' };
    const { outcomes, workflowState } = settle(
      [{ ...other, metadata: { ...metadata, name: 'A' } }, abort()],
      {
        status: RUNNING,
        workflowState: { verify },
      },
    );
    expect([outcomes, workflowState.verify]).toEqual([[REFUSED, ['accepted', undefined]], verify]);
  });

  it('ends no later run than the one that it was accepted for', () => {
    const { outcomes, stop } = settle([abort([RUN])], { status: { progress: { startedAt: LATER } } });
    expect([outcomes, stop]).toEqual([[AT_ONCE], undefined]);
  });

  it('ends a verification, by whomever it was asked for', () => {
    const verification = { request: 'VerifyBackup', ...ENTRY, level: 'Restore', startedAt: RUN } as const;
    const status = { history: [ENTRY], verification };
    const asked = request({ action: 'VerifyBackup' }, []);
    expect(settle([asked, abort()], { status })).toMatchObject({
      outcomes: [
        [undefined, 'aborted'],
        ['accepted', undefined],
      ],
      stop: { by: 'ana' },
    });
    const askedByMessage = { ...status, verification: { ...verification, request: 'by message' } };
    expect(
      settle([abort()], { status: askedByMessage, workflowState: { verifying: 'by message' } }).stop,
    ).toMatchObject({
      by: 'ana',
    });
    expect(settle([abort()], { status: askedByMessage }).outcomes).toEqual([REFUSED]);
  });
});
