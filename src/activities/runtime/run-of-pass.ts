import { Context } from '@temporalio/activity';

/** The run of this workflow that makes the pass; undefined: its operation makes it. */
export function runOfPass(workflowId: string): string | undefined {
  const { workflowExecution } = Context.current().info;
  return workflowExecution?.workflowId === workflowId ? workflowExecution.runId : undefined;
}
