/** Plans and differences of specifications as text. Pure. */
import type { ChangeShown, DiffShown } from '../plan/diff.ts';
import type { PlanShown } from '../plan/plan.ts';
import { field, indented, type Line, toned } from './lines.ts';

/** @param name of the cluster */
export function planLines(name: string, plan: PlanShown): readonly Line[] {
  return [
    [toned(`Plan of ${name}`, 'bold'), `, from ${plan.source}. Nothing was changed.`],
    ...verdict(plan),
    ...plan.steps.map((step, index): Line => [`${String(index + 1).padStart(4)}. `, step]),
    ...(plan.steps.length === 0
      ? []
      : [
          [
            toned(
              'After each step the operator looks and plans again. It plans one operation at a time.',
              'dim',
            ),
          ],
        ]),
    ...list('Remarks', plan.remarks),
    ...notSeenLines(plan.notSeen),
  ];
}

function verdict({
  decision,
  operation = '',
  change = '',
  reason = '',
  message = '',
  consent,
  steps,
}: PlanShown): readonly Line[] {
  if (decision === 'operate')
    return [field('Operation', toned(operation, 'bold'), `${change}, ${count(steps.length)}`)];
  if (decision !== 'blocked') return [field('Operation', toned('none', 'good'), ': it is as specified')];
  const then = steps.length === 0 ? [] : [field('Then', count(steps.length))];
  const approval =
    consent === undefined
      ? []
      : [field('Approval', `${consent.operation} of ${consent.ids.join(', ')}: a person must approve it`)];
  return [field('Waits', toned(reason, 'warn'), `: ${message}`), ...approval, ...then];
}

const count = (steps: number): string => (steps === 1 ? '1 step' : `${steps} steps`);

function list(title: string, texts: readonly string[]): readonly Line[] {
  if (texts.length === 0) return [];
  return [[], [toned(`${title}:`, 'bold')], ...texts.map((text): Line => ['  - ', text])];
}

function notSeenLines(texts: readonly string[]): readonly Line[] {
  return list('Not seen for this plan', texts);
}

export function diffLines(name: string, { source, changes, notSeen }: DiffShown): readonly Line[] {
  if (changes.length === 0) return [[`${name} is specified so already, as ${source}.`]];
  return [
    [toned(`Changes of ${name}`, 'bold'), `, from ${source}. Nothing was changed.`],
    ...changes.flatMap(changeLines),
    ...notSeenLines(notSeen),
  ];
}

function changeLines(change: ChangeShown): readonly Line[] {
  const { field: path, from, to, meaning, needsApproval, reason, membersRestarted } = change;
  const tone = reason !== undefined || needsApproval ? 'bad' : membersRestarted > 0 ? 'warn' : 'good';
  return [
    [],
    [toned(path, 'bold')],
    ...valueLines('-', from),
    ...valueLines('+', to),
    ['    ', toned(meaning, tone)],
  ];
}

function valueLines(sign: string, value: unknown): readonly Line[] {
  if (value === undefined) return [];
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return indented(text, `  ${sign} `);
}
