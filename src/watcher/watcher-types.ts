/** What a watcher is to whoever runs it. */
import type { ResourceRef } from '../api/names.ts';
import type { BackupFigures } from './resources/backup-figures.ts';
import type { QueueStats } from './queue/delivery.ts';

export interface WatcherStats extends QueueStats {
  /** Custom resources that exist. */
  readonly resources: number;
  /** Resources with a workflow that cannot go on; undefined until asked, or where Temporal cannot tell. */
  readonly stuck: number | undefined;
}

export type WatchedBackup = Pick<ResourceRef, 'namespace' | 'name'> & {
  readonly figures: BackupFigures;
};

export interface Watcher {
  /** Begins to watch; resolves at once. Once only: after a lost election a new watcher is made. */
  start(): Promise<void>;
  /**
   * Leadership is lost, perhaps for a moment: nobody is told or asked any more, nothing is written, and everything is
   * still followed. After `resume` those are told that changed meanwhile, and no others.
   */
  pause(): void;
  /** Goes on after `pause`. */
  resume(): void;
  /** Final: no signal and no write begins after this call. Resolves when those under way have ended. */
  stop(): Promise<void>;
  /** Whether everything has been listed once. */
  synced(): boolean;
  stats(): WatcherStats;
  /** The EtcdBackups that exist, for whoever counts; none while it does not run. */
  backups(): readonly WatchedBackup[];
}
