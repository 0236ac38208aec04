/**
 * The workflows with two changes that break those under way: the entity of clusters has a pass made before its first one, and creation
 * waits before its first step.
 */
import { proxyActivities, sleep } from '@temporalio/workflow';
import type { Activities } from '../../src/activities/index.ts';
import type { Ending } from '../../src/workflows/cluster/state.ts';
import {
  type ClusterInput,
  etcdCluster,
  type OperationInput,
  performOperation,
} from '../../src/workflows/temporal/workflows.ts';

export * from '../../src/workflows/index.ts';
export { default } from '../../src/workflows/index.ts';

async function hurried(input: ClusterInput): Promise<void> {
  const { assess } = proxyActivities<Activities>({ startToCloseTimeout: '10s' });
  await assess(input, { workflowState: {}, workflowId: '' });
  return etcdCluster(input);
}

async function delayed(input: OperationInput): Promise<Ending> {
  await sleep('1s');
  return performOperation(input);
}

export { hurried as etcdCluster, delayed as createCluster };
