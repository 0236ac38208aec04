/**
 * What the resource itself carries: the finalizer, so that its deletion can be followed up, and the stamps that tell who it is when its
 * status is lost. A client that replaces the object with a manifest takes all of it away (Kubernetes, "kubectl replace").
 */
import { operate } from './answers.ts';
import type { Decision } from './decision.ts';
import type { Observation } from './observation.ts';

/** Puts the finalizer back, and the stamps with it; undefined when it is there. */
export function planFinalizer({ cluster }: Observation): Decision | undefined {
  const { hasFinalizer, status } = cluster;
  const { incarnation, storage, clusterID: clusterId } = status;
  if (hasFinalizer || incarnation === undefined || storage === undefined) return undefined;
  return operate('repairCluster', [
    { kind: 'recordIncarnation', incarnation, storage, ...(clusterId !== undefined && { clusterId }) },
  ]);
}
