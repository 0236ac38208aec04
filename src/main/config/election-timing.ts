/** How the replica that watches is elected: the times. */
import type { ElectionTiming } from '../../kube/lease-election.ts';

/**
 * A lease shorter than that of Kubernetes' own components: two watchers at once only cost double signals, none costs
 * reaction time. After a kill -9 another replica watches 10 to 12.4 s later: it counts from its own last look. A leader
 * renews every two seconds, and when that is not answered once more each second: seven renewals have to hang before it
 * lets go, and one that comes back after 5 s still counts.
 */
export const electionTiming: ElectionTiming = {
  leaseDurationMs: 10_000,
  renewDeadlineMs: 9_000,
  retryPeriodMs: 2_000,
  patienceMs: 1_000,
};
