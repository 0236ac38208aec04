/** What the status of an EtcdBackup comes to in numbers. Pure. */
import type { KubeObject } from '../../kube/port.ts';
import { parseTimestamp } from '../../api/values/time.ts';
import { at, listAt, textAt } from '../model/json.ts';

export interface BackupFigures {
  /** Seconds since the epoch; undefined before the first. */
  readonly lastSuccess: number | undefined;
  /** Seconds since the epoch: by when the backup that is awaited should be finished; undefined without a schedule. */
  readonly dueBy: number | undefined;
  /** Bytes of the newest object. */
  readonly size: number | undefined;
  /** Objects that are kept. */
  readonly kept: number;
}

/** The figures of an EtcdBackup; undefined of any other object. */
export function backupFigures(object: KubeObject): BackupFigures | undefined {
  if (object.kind !== 'EtcdBackup') return undefined;
  const success = parseTimestamp(textAt(object, 'status', 'lastSuccessDate'));
  const due = parseTimestamp(textAt(object, 'status', 'schedule', 'dueBy'));
  const history = listAt(object, 'status', 'history');
  const size = at(history[0], 'size');
  return {
    lastSuccess: success === undefined ? undefined : success / 1000,
    dueBy: due === undefined ? undefined : due / 1000,
    size: typeof size === 'number' ? size : undefined,
    kept: history.length,
  };
}
