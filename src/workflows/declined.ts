/**
 * EtcdBackup and EtcdRestore: this release knows their API and does not carry them out. Their workflows say so on the
 * resource and end; the next change of the resource starts them again.
 */
import { proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import type { ResourceRef } from './messages.ts';

const { decline } = proxyActivities<Activities>({ startToCloseTimeout: '10s', heartbeatTimeout: '5s' });

export async function etcdBackup(ref: ResourceRef): Promise<void> {
  await decline({ namespace: ref.namespace, name: ref.name, uid: ref.uid }, { kind: 'EtcdBackup' });
}

export async function etcdRestore(ref: ResourceRef): Promise<void> {
  await decline({ namespace: ref.namespace, name: ref.name, uid: ref.uid }, { kind: 'EtcdRestore' });
}
