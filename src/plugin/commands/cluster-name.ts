import { usageFailure } from '../failure.ts';
import { targetNamed } from '../requests/actions.ts';
import type { Call } from './command.ts';

/** The name of the cluster that the first word names. @throws Failure for a backup */
export function clusterNameOf({ words: [word = ''] }: Pick<Call, 'words'>): string {
  const { kind, name } = targetNamed('pause', word);
  if (kind === 'EtcdCluster') return name;
  throw usageFailure(`${word} is a backup, and this is for clusters`, `See: kubectl etcd backups ${name}`);
}
