/** A backup before an upgrade: an EtcdBackup of the cluster is asked for it. */
import { askForBackup, awaitAnswer } from '../resource/asked-backup.ts';
import { readLivingCluster } from '../resource/etcd-cluster.ts';
import { recordClusterEvent } from '../runtime/cluster-events.ts';
import type { WaitOutcome } from '../runtime/poll.ts';
import type { Perform } from './shared/perform.ts';

export const requestBackup: Perform<'requestBackup'> = async (deps, ref, step) => {
  await readLivingCluster(deps.kube, ref);
  if (!(await askForBackup(deps, ref.namespace, step))) return;
  const message = `requested a backup from EtcdBackup ${step.backup} before ${step.because}`;
  recordClusterEvent(deps, ref, { reason: 'BackupRequested', message });
};

export const awaitBackup: Perform<'awaitBackup', WaitOutcome> = async (deps, ref, step) =>
  awaitAnswer(deps, ref.namespace, step);
