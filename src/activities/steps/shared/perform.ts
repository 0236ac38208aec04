import type { StepKind, StepOf } from '../../../planner/model/step-catalogue.ts';
import type { ClusterRef } from '../../runtime/cluster-reference.ts';
import type { Dependencies } from '../../runtime/dependencies.ts';

/**
 * Performs one kind of step on the EtcdCluster `ref`: looks, acts once, looks again, and can run twice. Fails with PreconditionChanged
 * when what the step names has changed; the planner then looks again.
 */
export type Perform<Kind extends StepKind, Outcome = void> = (
  deps: Dependencies,
  ref: ClusterRef,
  step: StepOf<Kind>,
) => Promise<Outcome>;
