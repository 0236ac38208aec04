/** A cluster's entity and its operations in memory: the rules that run in Temporal, and what they tell each other. */
import { type ClusterOperation, operationRules } from '../../src/workflows/cluster/operation-rules.ts';
import { type ClusterKind, clusterRules } from '../../src/workflows/cluster/rules.ts';
import type { Protocol } from './workflows-in-memory.ts';

export const clusterProtocol: Protocol<ClusterKind, ClusterOperation> = {
  entity: clusterRules,
  operation: operationRules,
  first: decision => decision,
  control: control => control ?? { paused: undefined, abort: undefined },
  ending: ({ operation }, outcome) => ({ operation, ...outcome }),
  assessment: assessment => assessment,
  used: ids => ({ kind: 'used', ids }),
};
