/** Restores a backup into a cluster. */
import { clusterNameOf } from '../commands/cluster-name.ts';
import type { Call } from '../commands/command.ts';
import type { ExitCode } from '../exit-codes.ts';
import { need } from '../not-found.ts';
import { age } from '../views/times.ts';
import { sendRestore, waitSeconds } from './sending.ts';
import { chosenBackup, effectOf, restoreOf } from './specification.ts';

/** Runs the command. @throws Failure, KubeError */
export async function restore(call: Call): Promise<ExitCode> {
  const { session, flags, io } = call;
  waitSeconds(call);
  const cluster = await need(session, 'EtcdCluster', clusterNameOf(call));
  const chosen = chosenBackup(flags, await session.list('EtcdBackup'), cluster);
  const saveFirst = flags.has('save-first') || flags.has('before-upgrade');
  const since = age(chosen.entry.time, io.now());
  return sendRestore(call, cluster, {
    effect: effectOf(cluster, chosen, { age: since, saveFirst }),
    purpose: 'overwrite its data',
    specOf: of => restoreOf(cluster, chosen, { ...of, saveFirst }).spec,
  });
}
