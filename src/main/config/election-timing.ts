/** How the replica that watches is elected: the times. */
import type { ElectionTiming } from '../../kube/lease-election.ts';

/**
 * One renewal each five and a half seconds is all that an idle operator asks of the API server for its election, however many replicas it has:
 * the others watch the lease (docs/decisions/0028-calls-to-the-api-server.md). After a kill -9 another replica leads 5.5 to
 * 11.2 s later. A renewal that is not answered has another beside it each second: five have to hang before the leader lets go, and one
 * that comes back after 4.5 s still counts.
 */
export const electionTiming: ElectionTiming = {
  leaseDurationMs: 11_000,
  renewDeadlineMs: 10_000,
  renewEveryMs: 5_500,
  retryPeriodMs: 2_000,
  patienceMs: 1_000,
};
