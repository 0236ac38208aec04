/**
 * Releases before this one knew the API of EtcdBackup and EtcdRestore and did not carry it out: the workflow said so on the
 * resource and ended. Kept for the replay of such histories.
 */
import { proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import type { ResourceRef } from './messages.ts';

const { decline } = proxyActivities<Activities>({ startToCloseTimeout: '10s', heartbeatTimeout: '5s' });

/** What the workflow of an EtcdBackup did before backups were carried out; for the replay of such histories. */
export async function declineBackup(ref: ResourceRef): Promise<void> {
  await decline({ namespace: ref.namespace, name: ref.name, uid: ref.uid }, { kind: 'EtcdBackup' });
}

/** As {@link declineBackup}, of an EtcdRestore. */
export async function declineRestore(ref: ResourceRef): Promise<void> {
  await decline({ namespace: ref.namespace, name: ref.name, uid: ref.uid }, { kind: 'EtcdRestore' });
}
