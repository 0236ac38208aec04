/** What a lease election is given. */
import type { KubeClient, KubeLogger } from './port.ts';

export interface ElectionTiming {
  /** How long a leader that is not heard of keeps the lease. Whole seconds. */
  readonly leaseDurationMs: number;
  /** How long a leader tries to renew before it steps down; must be shorter than the lease. */
  readonly renewDeadlineMs: number;
  /** The wait of a leader between two renewals. */
  readonly renewEveryMs: number;
  /** The wait of a candidate between two looks at the lease, while it cannot watch it. */
  readonly retryPeriodMs: number;
  /** A look without an answer for so long has another one beside it, on another connection. */
  readonly patienceMs: number;
}

/** The values of Kubernetes' own components. */
export const defaultElectionTiming: ElectionTiming = {
  leaseDurationMs: 15_000,
  renewDeadlineMs: 10_000,
  renewEveryMs: 2_000,
  retryPeriodMs: 2_000,
  patienceMs: 1_000,
};

export interface ElectionOptions {
  readonly client: Pick<KubeClient, 'get' | 'create' | 'replace' | 'watch'>;
  readonly namespace: string;
  /** Name of the Lease. */
  readonly name: string;
  /** Differs between candidates and between two lives of one candidate. */
  readonly identity: string;
  /** The signal fires when leading ends, before onStoppedLeading is called. */
  readonly onStartedLeading: (leading: AbortSignal) => void;
  readonly onStoppedLeading: (because: 'lost' | 'stopped') => void;
  readonly timing?: Partial<ElectionTiming> | undefined;
  readonly logger?: KubeLogger | undefined;
  /** Milliseconds that never go back, whatever is done to the wall clock. */
  readonly clock?: (() => number) | undefined;
  readonly now?: (() => Date) | undefined;
}
