/** The plan of a specification that need not be applied: the operator's own planner, on what the API server shows. Nothing is written. */
import type { EtcdCluster } from '../../api/schemas/types.ts';
import { clusterFacts, observe } from '../../activities/observe/observe.ts';
import type { KubeObject } from '../../kube/port.ts';
import type { Decision } from '../../planner/model/decision.ts';
import type { WorkflowState } from '../../planner/model/workflow-state.ts';
import { OPERATIONS } from '../../planner/operations/index.ts';
import { decide, plan } from '../../planner/plan.ts';
import { situationOf } from '../../planner/situation.ts';
import { changeOf } from '../views/changes.ts';
import type { ReadOnlyKube } from './looking-kube.ts';
import { recordedEtcd } from './recorded-etcd.ts';
import { recordedTls } from './recorded-tls.ts';

/** What a plan is made from, beside the specification. */
export interface Planning {
  readonly kube: ReadOnlyKube;
  readonly workflowState: WorkflowState;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

export interface Planned {
  readonly decision: Decision;
  /** What the operation changes as a whole, such as `from 3 to 5`; the steps may lead only a part of the way. */
  readonly change: string;
}

/** What the operator would do next if the cluster were specified like this. */
export async function plannedFor(
  cluster: KubeObject,
  { kube, workflowState, now }: Planning,
): Promise<Planned> {
  const shown = cluster as unknown as EtcdCluster;
  const { namespace, name, uid } = shown.metadata;
  const seen = await observe(
    {
      kube: kube.showing(cluster),
      etcd: recordedEtcd(clusterFacts(shown)),
      now: () => now,
      clockAheadMs: () => 0,
      observeTls: async (_, asked) => {
        const facts = recordedTls(asked);
        return facts && { facts, access: { tls: undefined } };
      },
    },
    { namespace, name, uid },
  );
  if (seen === undefined) return { decision: plan(undefined, workflowState), change: '' };
  const situation = situationOf(seen.observation, workflowState);
  const decision = decide(situation);
  const change = decision.kind === 'operate' ? OPERATIONS[decision.operation].change?.(situation) : undefined;
  return { decision, change: change === undefined ? '' : changeOf(change) };
}
