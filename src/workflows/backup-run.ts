/**
 * The operations of an EtcdBackup, each in the one slot of its resource. The interpreter has the first step performed, has the
 * resource looked at again, and goes on for as long as that plans the same operation. Unlike those of clusters these steps
 * can be ended in the middle: what a snapshot leaves then is nothing.
 */
import {
  CancellationScope,
  getExternalWorkflowHandle,
  setHandler,
  setCurrentDetails,
} from '@temporalio/workflow';
import type { BackupActor, BackupAssessment, BackupDecision, BackupOperation } from '../activities/index.ts';
import { type BackupEnding, endedSignal, stopSignal } from './backup-messages.ts';
import { assessBackup, performBackup } from './backup-perform.ts';
import type { Request, ResourceRef } from './messages.ts';
import { requestFrom } from './words.ts';

type Operate = Extract<BackupDecision, { kind: 'operate' }>;

export interface BackupRunInput {
  readonly ref: ResourceRef;
  /** The workflow id of the entity that asked. */
  readonly entity: string;
  readonly decision: Operate;
}

/** How it ended, and what the last pass saw, if there was one. */
export type BackupRunResult = BackupEnding & { readonly assessment?: BackupAssessment };

/** A plan whose step the world refuses this often in a row is not getting anywhere. */
const TRIES = 5;

async function interpret(input: BackupRunInput): Promise<BackupRunResult> {
  let stopped: Request | undefined;
  const steps = new CancellationScope();
  // Whoever sends it by hand sends whatever they send; that it was sent must be known, or the loop would never end.
  const stop = (by: unknown) => {
    stopped = requestFrom(by);
    steps.cancel();
  };
  setHandler(stopSignal, stop);
  CancellationScope.current().cancelRequested.catch(() => stop({ by: 'cancellation of the workflow' }));
  return CancellationScope.nonCancellable(async () => {
    const result = await run(input, { steps, stopped: () => stopped });
    const { assessment: _, ...ending } = result;
    // Waited for: the server drops a signal of a workflow that completes with the same task.
    await getExternalWorkflowHandle(input.entity)
      .signal(endedSignal, ending)
      .catch(() => undefined);
    return result;
  });
}

interface Control {
  readonly steps: CancellationScope;
  readonly stopped: () => Request | undefined;
}

async function run(input: BackupRunInput, { steps, stopped }: Control): Promise<BackupRunResult> {
  const { operation } = input.decision;
  let decision = input.decision;
  let refusals = 0;
  for (;;) {
    const about = { operation, ...runOf(decision) };
    const by = stopped();
    if (by !== undefined) return { ...about, outcome: 'stopped', by };
    setCurrentDetails(`**${operation}**\n1. ${decision.summary}`);
    const current = decision;
    const done = await steps.run(() => performBackup(input.ref, current));
    if (done.kind === 'failed') return { ...about, outcome: 'failed', message: done.message };
    if (done.kind === 'stopped') continue;
    refusals = done.kind === 'changed' ? refusals + 1 : 0;
    if (done.kind === 'changed' && refusals >= TRIES)
      return { ...about, outcome: 'failed', message: done.message };
    if (operation === 'pruneBackups' && done.kind === 'done') return { ...about, outcome: 'ended' };
    const assessment = await assessBackup(input.ref, NOBODY, input.entity);
    const next = assessment.decision;
    if (next.kind !== 'operate' || next.operation !== operation || next.step.kind === 'beginBackup') {
      return { ...about, outcome: 'ended', assessment };
    }
    decision = next;
  }
}

/** What people asked for is the entity's to say. */
const NOBODY: BackupActor = {};

function runOf({ step }: Operate): { readonly startedAt?: string } {
  return 'startedAt' in step ? { startedAt: step.startedAt } : {};
}

/** Makes one backup: a snapshot in the store, its manifest, and its verification. */
export async function takeBackup(input: BackupRunInput): Promise<BackupRunResult> {
  return interpret(input);
}

/** Deletes the backups that retention does not keep. */
export async function pruneBackups(input: BackupRunInput): Promise<BackupRunResult> {
  return interpret(input);
}

/** Lets a deleted EtcdBackup go; its objects stay. */
export async function releaseBackup(input: BackupRunInput): Promise<BackupRunResult> {
  return interpret(input);
}

/** The workflow types above, by operation. */
export const BACKUP_WORKFLOWS: Record<BackupOperation, typeof takeBackup> = {
  takeBackup,
  pruneBackups,
  releaseBackup,
};
