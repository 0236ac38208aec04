/** The workflows with one change that breaks those under way: creation waits before its first step. */
import { sleep } from '@temporalio/workflow';
import {
  createCluster,
  type OperationInput,
  type OperationResult,
} from '../../src/workflows/cluster/operations.ts';

export * from '../../src/workflows/index.ts';

async function delayed(input: OperationInput): Promise<OperationResult> {
  await sleep('1s');
  return createCluster(input);
}

export { delayed as createCluster };
