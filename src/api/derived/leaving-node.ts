/** Whether a Node is about to be drained, as far as the Node itself says so. Pure. */

/** Of what takes nodes away without cordoning them first: cluster-autoscaler, and Karpenter before and since 1.0. */
const TAINTS = ['ToBeDeletedByClusterAutoscaler', 'karpenter.sh/disruption', 'karpenter.sh/disrupted'];

/** What is read of a Node. */
interface NodeSpec {
  readonly unschedulable?: boolean;
  readonly taints?: readonly { readonly key: string }[];
}

/**
 * Why pods are to leave it, in words; undefined when nothing says so. `kubectl drain` cordons a node before it evicts the first pod. An
 * eviction that a PodDisruptionBudget refuses leaves no other trace.
 */
export function whyLeft(node: object): string | undefined {
  const { spec = {} } = node as { readonly spec?: NodeSpec };
  const { unschedulable, taints = [] } = spec;
  const taint = taints.find(({ key }) => TAINTS.includes(key));
  if (taint !== undefined) return `has the taint ${taint.key}`;
  return unschedulable === true ? 'is cordoned' : undefined;
}
