/**
 * EtcdRestore: this release knows its API and does not carry it out. Its workflow says so on the resource and ends; the
 * next change of the resource starts it again. Releases before did the same with EtcdBackup.
 */
import { proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import type { ResourceRef } from './messages.ts';

const { decline } = proxyActivities<Activities>({ startToCloseTimeout: '10s', heartbeatTimeout: '5s' });

/** What the workflow of an EtcdBackup did before backups were carried out; for the replay of such histories. */
export async function declineBackup(ref: ResourceRef): Promise<void> {
  await decline({ namespace: ref.namespace, name: ref.name, uid: ref.uid }, { kind: 'EtcdBackup' });
}

/** Says in status that restores are not carried out, and ends. */
export async function etcdRestore(ref: ResourceRef): Promise<void> {
  await decline({ namespace: ref.namespace, name: ref.name, uid: ref.uid }, { kind: 'EtcdRestore' });
}
