/** An explanation as text. Pure. */
import type { Explanation, Reason } from './explain.ts';
import { indented, type Line, table, toned } from './lines.ts';
import { age } from './times.ts';

export function explanationLines(explanation: Explanation, now: number): readonly Line[] {
  const { summary, waitsFor, openRequests } = explanation;
  const requests = openRequests.map(({ name, action, by, phase, message }) => [
    name,
    action,
    by,
    phase,
    message,
  ]);
  return [
    [toned(summary, 'bold')],
    ...waitsFor.flatMap(reason => reasonLines(reason, now)),
    ...(requests.length === 0
      ? []
      : [
          [],
          [toned('Open requests', 'bold')],
          ...table(['NAME', 'ACTION', 'BY', 'PHASE', 'MESSAGE'], requests),
        ]),
  ];
}

function reasonLines({ reason, message, since, toGoOn, commands }: Reason, now: number): readonly Line[] {
  const ago = since === undefined ? '' : ` (for ${age(since, now)})`;
  return [
    [],
    [toned(reason, 'warn'), toned(ago, 'dim')],
    ...indented(message, '  '),
    ['  ', toned('To go on: ', 'dim'), toGoOn],
    ...commands.flatMap(({ purpose, line }): Line[] => [
      ['    ', toned(`# ${purpose}`, 'dim')],
      ['    ', line],
    ]),
  ];
}
