/** The incarnations of a cluster as text: a table, how each is gone back to, and what that gives up. Pure. */
import { kubectlLine, pluginLine, type Where } from './command-lines.ts';
import type { ShownIncarnation } from './incarnations.ts';
import { type Line, table, toned } from './lines.ts';
import { age } from './times.ts';

const HEADER = ['INCARNATION', 'STATE', 'CLUSTER-ID', 'REVISION', 'BEGUN', 'LEFT', 'CLAIMS', 'SIZE', 'ETCD'];

export function incarnationLines(
  cluster: string,
  all: readonly ShownIncarnation[],
  { where, now }: { readonly where: Where; readonly now: number },
): readonly Line[] {
  const kept = all.filter(({ runs }) => !runs);
  const rows = all.map(each => [
    each.token,
    each.runs ? toned('runs', 'good') : 'kept',
    each.clusterID ?? '-',
    each.revision === undefined ? '-' : String(each.revision),
    each.since ?? '-',
    each.leftAt ?? '-',
    `${each.claims.length}/${each.members.length === 0 ? '?' : each.members.length}`,
    sizesOf(each),
    each.versions.join(', ') || '-',
  ]);
  if (kept.length === 0)
    return [
      ...table(HEADER, rows),
      [],
      [`Nothing is kept of what ${cluster} was before: no restore has put anything aside.`],
    ];
  return [
    ...table(HEADER, rows),
    [],
    [
      'Kept ones have no end: their claims are kept until a person deletes them, also when the cluster is deleted.',
    ],
    ...kept.flatMap(each => waysOf(cluster, each, { where, now })),
  ];
}

function sizesOf({ claims }: ShownIncarnation): string {
  const sizes = [...Map.groupBy(claims, ({ size }) => size).entries()];
  return sizes.map(([size, each]) => `${each.length} x ${size}`).join(', ') || '-';
}

function waysOf(
  cluster: string,
  { token, claims, fault, leftAt }: ShownIncarnation,
  { where, now }: { readonly where: Where; readonly now: number },
): readonly Line[] {
  const left = age(leftAt, now);
  const names = claims.map(({ name }) => name);
  const back: readonly Line[] =
    fault === undefined
      ? [
          ['  ', toned('# go back to it, and give up what the cluster holds now', 'dim')],
          ['  ', pluginLine(where, 'go-back', cluster, token)],
        ]
      : [['  ', toned(`it cannot be gone back to: ${fault}`, 'warn')]];
  const erase: readonly Line[] =
    names.length === 0
      ? []
      : [
          ['  ', toned('# delete its data for good', 'dim')],
          ['  ', kubectlLine(where, 'delete', 'pvc', ...names)],
        ];
  return [[], [toned(`${token}${left === '' ? '' : `, left ${left} ago`}`, 'bold')], ...back, ...erase];
}
