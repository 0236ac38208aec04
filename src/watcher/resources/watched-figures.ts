/** The EtcdClusters and EtcdBackups that exist, and their conditions that are reported, for the metrics. */
import { reportedConditions } from '../../api/conditions/reported.ts';
import type { MemberMonitor } from '../members/monitor.ts';
import type { WatchedBackup, WatchedCluster, WatchedConditions } from '../watcher-types.ts';
import type { KnownResources } from './known-resources.ts';

export function watchedClusters(
  known: KnownResources,
  monitor: Pick<MemberMonitor, 'figures'>,
): readonly WatchedCluster[] {
  return known
    .all()
    .flatMap(({ key, ref: { namespace, name }, cluster }) =>
      cluster === undefined ? [] : [{ namespace, name, reported: cluster, asked: monitor.figures(key) }],
    );
}

export function watchedBackups(known: KnownResources): readonly WatchedBackup[] {
  return known
    .all()
    .flatMap(({ ref: { namespace, name }, figures }) =>
      figures === undefined ? [] : [{ namespace, name, figures }],
    );
}

/** Only those that have any. */
export function watchedConditions(known: KnownResources): readonly WatchedConditions[] {
  return known.all().flatMap(({ ref: { kind, namespace, name }, notable, ownConditions }) => {
    const conditions = [...notable, ...reportedConditions(kind, ownConditions)];
    return conditions.length === 0 ? [] : [{ namespace, name, conditions }];
  });
}
