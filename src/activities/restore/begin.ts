/** What an EtcdRestore's own workflow does: it examines the backup, and makes a cluster to restore into. */
import { Context } from '@temporalio/activity';
import { ANNOTATION_RESTORED_BY, API_VERSION } from '../../api/names.ts';
import type { EtcdRestore } from '../../api/schemas/types.ts';
import { EtcdError } from '../../etcd/port.ts';
import { isAlreadyExists } from '../../kube/errors.ts';
import type { RestoreStepOf } from '../../planner/restore/steps.ts';
import type { Dependencies } from '../runtime/dependencies.ts';
import { preconditionChanged } from '../runtime/failures.ts';
import { examine, openObject } from '../backup/examined-object.ts';
import { readRestore, recordFailure, recordRestore, type RestoreRef } from '../resource/etcd-restore.ts';

/** Reads the backup from end to end and records what it is. What is no good backup ends the restore, and nothing was touched. */
export async function examineBackup(
  deps: Dependencies,
  ref: RestoreRef,
  { generation }: RestoreStepOf<'examineBackup'>,
): Promise<void> {
  const restore = await readRestore(deps.kube, ref);
  if (restore === undefined || restore.metadata.generation !== generation)
    throw preconditionChanged('the specification has changed');
  const opened = await openObject(deps, restore);
  try {
    const sha256 = restore.spec.sha256 ?? heldSum(restore);
    const source = await examine(opened, { signal: Context.current().cancellationSignal, sha256 });
    await recordRestore(deps, ref, ({ status = {} }) => ({ ...status, source, generation }));
  } catch (error) {
    if (!(error instanceof EtcdError) || error.code !== 'corrupt') throw error;
    const message = `${opened.object.location} is refused: ${error.message}`;
    await recordFailure(deps, ref, { message, generation });
  } finally {
    await opened.store.close();
  }
}

/** Of what spec.backupRef meant when it was first looked at. */
function heldSum({ spec, status = {} }: EtcdRestore): string | undefined {
  return spec.backupRef === undefined ? undefined : status.chosen?.sha256;
}

/** Makes the EtcdCluster of the template; the annotation keeps it from being made empty. */
export async function createRestored(deps: Dependencies, ref: RestoreRef): Promise<void> {
  const restore = await readRestore(deps.kube, ref);
  const spec = restore?.spec.clusterTemplate;
  if (restore === undefined || spec === undefined)
    throw preconditionChanged('there is no spec.clusterTemplate');
  const { namespace } = ref;
  const { name } = restore.spec.etcdCluster;
  const annotations = { [ANNOTATION_RESTORED_BY]: ref.name };
  try {
    await deps.kube.create({
      apiVersion: API_VERSION,
      kind: 'EtcdCluster',
      metadata: { namespace, name, annotations },
      spec,
    });
  } catch (error) {
    // The next pass says whose it is.
    if (!isAlreadyExists(error)) throw error;
  }
}
