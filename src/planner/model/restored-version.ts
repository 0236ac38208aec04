/** With which version the members of a restored cluster begin. Pure. */
import type { ClusterFacts } from './observation.ts';
import { checkVersion, isOlderMinor } from '../../api/versions/compare.ts';
import type { RestoreSource } from './restore-of-cluster.ts';

/**
 * What the cluster ran: a restore never upgrades. It is the way back from an upgrade, though: when spec.version asks for an older minor, and
 * the backup was made before the cluster left it, the members begin with that (issue M2).
 */
export function restoredVersion(
  { config, status }: Pick<ClusterFacts, 'config' | 'status'>,
  source: Pick<RestoreSource, 'etcdVersion' | 'storageVersion'>,
): string {
  const { version: wanted } = config;
  const ran = status.currentVersion || wanted;
  const isBack = isOlderMinor(wanted, ran) && checkVersion(wanted).supported;
  return isBack && newerThan(wanted, source) === undefined ? wanted : ran;
}

/** What the backup says that it is of, where members of this version cannot read that; undefined when they can. */
export function newerThan(
  version: string,
  { etcdVersion, storageVersion }: Pick<RestoreSource, 'etcdVersion' | 'storageVersion'>,
): string | undefined {
  return [etcdVersion, storageVersion].find(made => isOlderMinor(version, made ?? ''));
}
