/** Claims that nobody uses as text: a table, and what can be done with them. Pure. */
import type { Leftover, LeftGroup } from './leftovers.ts';
import { type Line, table, toned } from './lines.ts';
import { age } from './times.ts';

export function leftoverLines(groups: readonly LeftGroup[], now: number): readonly Line[] {
  const rows = groups
    .flatMap(({ claims }) => claims)
    .map(left => [
      left.namespace,
      left.claim,
      left.cluster,
      left.incarnation,
      left.memberID ?? '-',
      left.size,
      age(left.since, now) || '-',
      causeOf(left),
    ]);
  const header = ['NAMESPACE', 'CLAIM', 'CLUSTER', 'INCARNATION', 'MEMBER-ID', 'SIZE', 'SINCE', 'LEFT-BY'];
  return [...table(header, rows), ...groups.flatMap(groupLines)];
}

function causeOf({ leftBy, restore, keptUntil, cluster, pod }: Leftover): string {
  const runs = pod === undefined ? '' : `; pod ${pod} runs on it`;
  switch (leftBy) {
    case 'Deletion':
      return `the deletion of EtcdCluster ${cluster}${runs}`;
    case 'Restore':
      return `EtcdRestore ${restore ?? ''}${runs}`;
    case 'Removal':
      return `the removal of the member${keptUntil === undefined ? '' : `; deleted at ${keptUntil}`}${runs}`;
  }
}

function groupLines({ namespace, claims, notes, commands }: LeftGroup): readonly Line[] {
  const names = claims.map(({ claim }) => claim).join(', ');
  return [
    [],
    [toned(`${names} in namespace ${namespace}`, 'bold')],
    ...notes.map((note): Line => ['  ', toned(note, 'warn')]),
    ...commands.flatMap(({ purpose, line }): Line[] => [
      ['  ', toned(`# ${purpose}`, 'dim')],
      ['  ', line],
    ]),
  ];
}
