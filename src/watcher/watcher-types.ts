/** What a watcher offers to its process, and what it needs. */
import type { ReportedCondition } from '../api/conditions/reported.ts';
import type { ResourceRef } from '../api/names.ts';
import type { KubeClient } from '../kube/port.ts';
import type { RecordEvent } from './conditions/workflow-check.ts';
import type { Clock, ReflectorFactory, WatcherLogger, WatcherMetrics } from './model/ports.ts';
import type { WatcherOptions } from './options.ts';
import type { MemberHealth, SurveyFigures, Surveyor } from './members/monitor.ts';
import type { BackupFigures } from './resources/backup-figures.ts';
import type { ReportedCluster } from './resources/reported-cluster.ts';
import type { TemporalPort } from './temporal/client.ts';
import type { RequestFigures } from './resources/requests.ts';

export interface WatcherStats {
  /** Resources that wait to be signalled. */
  readonly waiting: number;
  /** Custom resources that exist. */
  readonly resources: number;
  /** Named namespaces that do not exist, or in which the operator has no rights. */
  readonly unwatchedNamespaces: number;
  /** Undefined while it does not run. */
  readonly requests: RequestFigures | undefined;
}

export type WatchedBackup = Pick<ResourceRef, 'namespace' | 'name'> & {
  readonly figures: BackupFigures;
};

/** The conditions of one resource of any kind that somebody should know about; one at least. */
export type WatchedConditions = Pick<ResourceRef, 'namespace' | 'name'> & {
  readonly conditions: readonly ReportedCondition[];
};

/** What the status of an EtcdCluster says, and what its members said when they were last asked; absent before that. */
export type WatchedCluster = Pick<ResourceRef, 'namespace' | 'name'> & {
  readonly reported: ReportedCluster;
  readonly asked: SurveyFigures | undefined;
};

export interface Watcher {
  /** Begins to watch; resolves at once. Once only: after a lost election a new watcher is made. */
  start(): Promise<void>;
  /**
   * Leadership is lost, perhaps for a moment: no workflow is signalled and no member asked any more, nothing is written, and everything is
   * still followed. After `resume` those resources are reconciled that changed meanwhile, and no others.
   */
  pause(): void;
  /** Goes on after `pause`. */
  resume(): void;
  /** Final: no signal and no write begins after this call. Resolves when those under way have ended. */
  stop(): Promise<void>;
  /** Whether everything has been listed once, but for namespaces that cannot be listed. */
  synced(): boolean;
  stats(): WatcherStats;
  /** The EtcdClusters that exist, for the metrics; none while it does not run. */
  clusters(): readonly WatchedCluster[];
  /** The EtcdBackups that exist, for the metrics; none while it does not run. */
  backups(): readonly WatchedBackup[];
  /** The resources with conditions that need attention, for the metrics; none while it does not run. */
  conditions(): readonly WatchedConditions[];
}

export interface WatcherDeps {
  /** Must write as `WATCHER_FIELD_MANAGER`; used for the watcher's conditions, and to look at nodes. */
  readonly kube: Pick<KubeClient, 'get' | 'patch'>;
  readonly reflector: ReflectorFactory;
  readonly temporal: TemporalPort;
  /** Asks members how they are; made once. */
  readonly health: () => MemberHealth;
  /** Asks all members of a cluster what a pass would ask them. */
  readonly surveyor: Surveyor;
  readonly options: WatcherOptions;
  /** Records an event; never throws and never waits. */
  readonly recordEvent: RecordEvent;
  readonly logger: WatcherLogger;
  readonly metrics?: WatcherMetrics;
  readonly clock?: Clock;
}
