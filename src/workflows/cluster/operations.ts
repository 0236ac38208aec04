/**
 * The operations of clusters. One workflow type for each, so that each is found by its name; one interpreter for all
 * (engine/operation-reducer.ts).
 */
import { getExternalWorkflowHandle, log, setCurrentDetails, setHandler } from '@temporalio/workflow';
import type { Assessment, Decision, Operation } from '../../activities/index.ts';
import type { Outcome } from '../engine/operation.ts';
import { OperationDriver } from '../temporal/operation-driver.ts';
import {
  type Control,
  controlSignal,
  type Ending,
  type Progress,
  progressSignal,
} from '../messages/cluster.ts';
import { type ResourceRef } from '../messages/resource.ts';
import { isControl } from '../messages/shapes.ts';
import { operationDetails } from './details.ts';
import { type ClusterOperation, operationRules } from './operation-rules.ts';
import { assess, perform } from './perform.ts';

export interface OperationInput {
  readonly ref: ResourceRef;
  /** The workflow id of the entity that asked. */
  readonly entity: string;
  readonly decision: Extract<Decision, { kind: 'operate' }>;
  readonly control: Control;
}

/** How it ended, and what the last pass saw, if there was one. */
export type OperationResult = Ending & { readonly assessment?: Assessment };

async function interpret({ ref, entity, decision, control }: OperationInput): Promise<OperationResult> {
  const { operation } = decision;
  const tell = teller(entity);
  const endOf = (outcome: Outcome): Ending => ({ operation, ...outcome });
  const driver = new OperationDriver<ClusterOperation>(
    operationRules,
    { decision, control },
    {
      look: actor => assess(ref, actor, entity),
      perform: now => {
        setCurrentDetails(operationDetails(now));
        return perform(ref, now, operationRules.summary(now));
      },
      report: (assessment, used) => tell({ assessment, ...(used.length > 0 && { used }) }),
      // Waited for: the server drops a signal of a workflow that completes with the same task.
      finish: ({ assessment, used }, outcome) =>
        tellEntity(entity, {
          ...(assessment && { assessment }),
          ending: endOf(outcome),
          ...(used.length > 0 && { used }),
        }),
    },
  );
  setHandler(controlSignal, sent => {
    if (isControl(sent)) driver.hear(sent);
    else log.warn('a signal was rejected: only entities may send it', { signal: 'control' });
  });
  const { assessment, outcome } = await driver.run();
  return { ...endOf(outcome), ...(assessment && { assessment }) };
}

/** Tells the entity of progress, unless it was told the very same: a step that waits is looked at many times. */
function teller(entity: string): (progress: Progress) => void {
  let told = '';
  return progress => {
    const now = JSON.stringify(progress);
    if (now !== told) void tellEntity(entity, progress);
    told = now;
  };
}

/** Never rejects: the entity may be gone, and nothing here depends on it. */
function tellEntity(entity: string, progress: Progress): Promise<void> {
  return getExternalWorkflowHandle(entity)
    .signal(progressSignal, progress)
    .catch(() => undefined);
}

/** Creates a cluster, from its recorded incarnation to an open client Service. */
export async function createCluster(input: OperationInput): Promise<OperationResult> {
  return interpret(input);
}

/** Puts a backup in the place of a cluster's data: from the fencing of the old members to the opened client Service. */
export async function restoreCluster(input: OperationInput): Promise<OperationResult> {
  return interpret(input);
}

/** Puts back what went missing: Services, the budget, pods of members whose volumes are there. */
export async function repairCluster(input: OperationInput): Promise<OperationResult> {
  return interpret(input);
}

/** Adds or removes members, one at a time, until there are as many as asked for. */
export async function scaleCluster(input: OperationInput): Promise<OperationResult> {
  return interpret(input);
}

/** Removes a member whose data is proved lost and brings a new one up in its place. */
export async function replaceMember(input: OperationInput): Promise<OperationResult> {
  return interpret(input);
}

/** Brings a changed specification to the members: larger claims, and new pods on their volumes one at a time. */
export async function rolloutCluster(input: OperationInput): Promise<OperationResult> {
  return interpret(input);
}

/** Hands leadership to the member that somebody asked for. */
export async function moveLeader(input: OperationInput): Promise<OperationResult> {
  return interpret(input);
}

/** Brings another version of etcd to the members, one at a time, through every minor on the way. */
export async function upgradeCluster(input: OperationInput): Promise<OperationResult> {
  return interpret(input);
}

/** Stops every member; claims, Services and identity stay. */
export async function hibernateCluster(input: OperationInput): Promise<OperationResult> {
  return interpret(input);
}

/** Starts the members of a hibernated cluster on their volumes. */
export async function wakeCluster(input: OperationInput): Promise<OperationResult> {
  return interpret(input);
}

/** Takes a cluster down: pods, then claims as `storage.retain` says, then the finalizer. */
export async function deleteCluster(input: OperationInput): Promise<OperationResult> {
  return interpret(input);
}

/** The workflow types above, by operation. */
export const OPERATION_WORKFLOWS: Record<Operation, typeof createCluster> = {
  createCluster,
  restoreCluster,
  repairCluster,
  scaleCluster,
  replaceMember,
  rolloutCluster,
  moveLeader,
  upgradeCluster,
  hibernateCluster,
  wakeCluster,
  deleteCluster,
};
