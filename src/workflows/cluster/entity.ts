/**
 * The entity of one EtcdCluster: lives as long as the resource. It waits until something changed or it is time to
 * look, has a pass made, and when the pass plans an operation, runs that as a child in the one slot there is. How it goes
 * from one to the next is the engine's (engine/machine.ts).
 */
import type { ResourceId } from '../../api/names.ts';
import type { Operation } from '../../activities/index.ts';
import { continueAsNew, setCurrentDetails, workflowInfo } from '@temporalio/workflow';
import { EntityDriver, never, type Ports } from '../temporal/entity-driver.ts';
import { type Carried, type Entity, newEntity } from '../engine/entity.ts';
import { assess } from '../temporal/activities.ts';
import { inSlot, startInSlot } from '../temporal/slot.ts';
import { type Control, controlSignal } from '../messages/cluster.ts';
import { priorityOfOperation } from '../../api/values/priority.ts';
import { publish } from '../messages/search-attributes.ts';
import { isAssessment } from '../messages/shapes.ts';
import { clusterDetails } from './details.ts';
import { handleMessages } from './handlers.ts';
import type { OperationResult, performOperation } from './operations.ts';
import { NOTHING_ASKED } from './people.ts';
import { type ClusterKind, clusterRules } from './rules.ts';

export interface EntityInput extends ResourceId {
  /** What survives into the next run, and the search attributes as they were last written; see publish. */
  readonly carried?: Carried<ClusterKind> & { readonly published: string };
}

/** Ends when the resource is gone, and everybody who asked for something was answered. */
export async function etcdCluster({ namespace, name, uid, carried }: EntityInput): Promise<void> {
  const ref = { namespace, name, uid };
  let { published, ...state } = carried ?? { people: NOTHING_ASKED, published: '' };
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

function portsOf(ref: ResourceId): Omit<Ports<ClusterKind>, 'show'> {
  const entity = workflowInfo().workflowId;
  return {
    look: actor => assess('assess', { ref, entity, actor }, isAssessment),
    perform: never,
    signal: control => inSlot().signal(controlSignal, control),
    start: async (decision, control) => {
      const { operation } = decision;
      const input = { ref, entity, decision, control: control ?? NO_CONTROL };
      const child = await startInSlot<typeof performOperation>(operation, ref, {
        args: [input],
        priority: priorityOfOperation(decision),
      });
      return (
        child && { result: child.result.then(result => endedOf({ operation, runId: child.runId }, result)) }
      );
    },
  };
}

const NO_CONTROL: Control = { paused: undefined, abort: undefined };

/** One that has no result has failed. */
function endedOf(
  of: { readonly operation: Operation; readonly runId: string },
  result: OperationResult | string,
) {
  if (typeof result === 'string')
    return { kind: 'ended', ending: { ...of, outcome: 'failed', message: result } } as const;
  const { assessment, ...ending } = result;
  return { kind: 'ended', ending, assessment } as const;
}
