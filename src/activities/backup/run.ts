/** A run of an EtcdBackup, as the code that carries it out passes it on. */
import type { BackupRef } from '../resource/etcd-backup.ts';
import type { Dependencies } from '../runtime/dependencies.ts';
import type { HeartbeatDetails } from '../runtime/heartbeat.ts';
import type { BackupFolder } from './catalogue.ts';

/** A run under way, with its store opened. */
export interface Run {
  readonly deps: Dependencies;
  readonly ref: BackupRef;
  readonly startedAt: string;
  readonly folder: BackupFolder;
  readonly bounds: { readonly signal: AbortSignal; readonly deadlineMs: number };
  readonly heartbeatDetails: HeartbeatDetails;
}
