/** Says how far a run is, while it continues: in heartbeats by the caller, here in the resource's status. */
import type { HeartbeatDetails } from '../runtime/heartbeat.ts';
import type { Dependencies } from '../runtime/dependencies.ts';
import { messageOf } from '../../api/values/message-of.ts';
import { withLateness } from '../../planner/backup/lateness.ts';
import { type BackupRef, observed, recordRun } from '../resource/etcd-backup.ts';

/** How often status is written: users look at it, nothing depends on it. */
const EVERY_MS = 3_000;

interface Of {
  readonly deps: Dependencies;
  readonly ref: BackupRef;
  readonly startedAt: string;
}

/** Does the work, and notes what `watch` says of it every few seconds. A note that cannot be written is left out. */
export async function withProgress<Result>(
  of: Of,
  watch: () => HeartbeatDetails,
  work: () => Promise<Result>,
): Promise<Result> {
  let noting: Promise<void> = Promise.resolve();
  let busy = false;
  const note = async () => {
    busy = true;
    await noteProgress(of, watch());
    busy = false;
  };
  const beat = setInterval(watch, 1_000);
  const timer = setInterval(() => {
    if (!busy) noting = note();
  }, EVERY_MS);
  try {
    return await work();
  } finally {
    clearInterval(beat);
    clearInterval(timer);
    // What is recorded next must not be overtaken by it.
    await noting;
  }
}

async function noteProgress({ deps, ref, startedAt }: Of, { bytes, total }: HeartbeatDetails): Promise<void> {
  try {
    await recordRun(deps, { ref, startedAt }, (status, backup) =>
      withLateness(observed(deps, backup), {
        ...status,
        progress: {
          ...status.progress,
          ...(bytes !== undefined && { bytes }),
          ...(total !== undefined && { total }),
        },
      }),
    );
  } catch (error) {
    deps.logger.info('progress not written', { error: messageOf(error) });
  }
}
