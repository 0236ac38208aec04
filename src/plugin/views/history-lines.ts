/** What was done to a cluster, as text. Pure. */
import type { EtcdCluster } from '../../api/schemas/types.ts';
import { changeOf } from './changes.ts';
import { field, fieldOf, type Line, textIf, toned } from './lines.ts';
import { age, between } from './times.ts';

type Entry = NonNullable<NonNullable<EtcdCluster['status']>['history']>[number];

/** The operations of `status.history`, newest first. */
export function historyLines({ metadata, status = {} }: EtcdCluster, now: number): readonly Line[] {
  const { history = [], operation } = status;
  const running: readonly Line[] =
    operation === undefined
      ? []
      : [[toned('now', 'bold'), `  ${operation.type} is running for ${age(operation.startedAt, now)}`], []];
  if (history.length === 0)
    return [...running, [`The status of ${metadata.name} has no record of an operation that has ended.`]];
  return [
    ...running,
    ...history.flatMap((entry, index) => [...(index === 0 ? [] : [[]]), ...entryLines(entry, now)]),
  ];
}

function entryLines(entry: Entry, now: number): readonly Line[] {
  const { type, outcome, completedAt, startedAt } = entry;
  const took = textIf(between(startedAt, completedAt), time => `, took ${time}`);
  const run = textIf(entry.runID, id => `, run ${id}`);
  return [
    [
      toned(completedAt ?? '-', 'bold'),
      `  ${type} `,
      toned(outcome, outcome === 'Succeeded' ? 'good' : 'warn'),
      `${changeOf(entry)}${took}, ${age(completedAt, now)} ago`,
    ],
    ...fieldOf('  why', entry.why, why => why),
    field('  asked by', entry.requestedBy ?? 'nobody: the operator, or a change of the specification'),
    ...fieldOf('  approved', entry.approvedBy, by => `by ${by}`),
    ...fieldOf('  message', entry.message, message => message),
    ...fieldOf('  workflow', entry.workflowID, id => `${id}${run}`),
  ];
}
