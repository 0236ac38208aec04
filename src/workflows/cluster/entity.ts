/**
 * The entity of one EtcdCluster: lives as long as the resource. It waits until something changed or it is time to
 * look, has a pass made, and when the pass plans an operation, runs that as a child in the one slot there is. How it goes
 * from one to the next is the engine's (engine/machine.ts).
 */
import type { Operation } from '../../activities/index.ts';
import { continueAsNew, setCurrentDetails, workflowInfo } from '@temporalio/workflow';
import { EntityDriver, never, type Ports } from '../temporal/entity-driver.ts';
import { type Carried, type Entity, newEntity } from '../engine/entity.ts';
import { inSlot, resultOf, startInSlot } from '../temporal/slot.ts';
import { type Control, controlSignal } from '../messages/cluster.ts';
import { type ResourceRef } from '../messages/resource.ts';
import { publish } from '../messages/search-attributes.ts';
import { clusterDetails } from './details.ts';
import { handleMessages } from './handlers.ts';
import { OPERATION_WORKFLOWS, type OperationResult } from './operations.ts';
import { NOBODY } from './people.ts';
import { assess } from './perform.ts';
import { type ClusterKind, clusterRules } from './rules.ts';

export interface EntityInput extends ResourceRef {
  /** What survives into the next run, and the search attributes as they were last written; see publish. */
  readonly carried?: Carried<ClusterKind> & { readonly published: string };
}

/** Ends when the resource is gone, and everybody who asked for something was answered. */
export async function etcdCluster({ namespace, name, uid, carried }: EntityInput): Promise<void> {
  const ref = { namespace, name, uid };
  let { published, ...state } = carried ?? { people: NOBODY, published: '' };
  const driver = new EntityDriver(clusterRules, newEntity<ClusterKind>(state), {
    ...portsOf(ref),
    show: entity => {
      show(entity);
      if (entity.assessment !== undefined) published = publish(entity.assessment, published);
    },
  });
  handleMessages(driver);
  show(driver.entity);
  const next = await driver.run();
  if (next !== undefined)
    await continueAsNew<typeof etcdCluster>({ ...ref, carried: { ...next, published } });
}

function show({ assessment, people }: Entity<ClusterKind>): void {
  if (assessment !== undefined) setCurrentDetails(clusterDetails(assessment, people));
}

function portsOf(ref: ResourceRef): Omit<Ports<ClusterKind>, 'show'> {
  const entity = workflowInfo().workflowId;
  return {
    look: actor => assess(ref, actor, entity),
    perform: never,
    tell: control => inSlot().signal(controlSignal, control),
    start: async (decision, control) => {
      const { operation } = decision;
      const child = await startInSlot(OPERATION_WORKFLOWS[operation], {
        args: [{ ref, entity, decision, control: control ?? NOTHING }],
        summary: `${operation} ${ref.namespace}/${ref.name}`,
      });
      return child && { result: resultOf(child, operation).then(result => endedOf(operation, result)) };
    },
  };
}

const NOTHING: Control = { paused: undefined, abort: undefined };

/** One that has no result has failed. */
function endedOf(operation: Operation, result: OperationResult | string) {
  if (typeof result === 'string')
    return { kind: 'ended', ending: { operation, outcome: 'failed', message: result } } as const;
  const { assessment, ...ending } = result;
  return { kind: 'ended', ending, assessment } as const;
}
