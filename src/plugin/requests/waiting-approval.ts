/** Which approval a cluster waits for, as its status says. Pure. */
import type { EtcdCluster } from '../../api/schemas/types.ts';
import { conditionOf } from '../../api/conditions/advice.ts';

export interface WaitingApproval {
  readonly operation: string;
  readonly ids: readonly string[];
  /** What would be done, as the operator words it, without how to send the approval. */
  readonly what: string;
}

/** What the cluster waits for an approval of; undefined when it waits for none. */
export function waitingApproval({ status = {} }: Pick<EtcdCluster, 'status'>): WaitingApproval | undefined {
  const { awaitedApproval } = status;
  if (awaitedApproval === undefined) return undefined;
  const { message = '' } = conditionOf(status, 'Progressing') ?? {};
  // What follows says to users without this plugin what to send (src/planner/checks/consent.ts).
  const [what = message] = message.split('; to approve it, ');
  return { ...awaitedApproval, what };
}

/** The words of the command that approves of exactly this. */
export function approveWords(cluster: string, { operation, ids }: Omit<WaitingApproval, 'what'>): string[] {
  return ['approve', cluster, '--operation', operation, ...ids.flatMap(id => ['--id', id])];
}
