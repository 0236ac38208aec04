/** Markdown for the Temporal UI: what is, what comes next, and why. */
import type { Actor, Assessment, Decision } from '../../activities/index.ts';
import { plain } from '../messages/markdown.ts';

const HEAD = '| Name | Id | Role | Health | etcd | Node |\n| :--- | :--- | :--- | :--- | :--- | :--- |';

/** What people asked for that is not done, and the last thing that was refused. */
export interface Asked {
  readonly requests: NonNullable<Actor['requests']>;
  readonly refused: string | undefined;
}

/** The entity's details: members, conditions, plan, and what people asked for. */
export function clusterDetails({ decision, summary }: Assessment, asked?: Asked): string {
  if (summary === undefined) return 'The resource is gone.';
  const rows = summary.members.map(
    ({ name, id, role, health, version, node }) =>
      `| ${[name, id, role, health, version, node].map(cell).join(' | ')} |`,
  );
  const conditions = summary.conditions.map(
    ({ type, status, reason, message }) => `- **${type}** = ${status} (${reason}): ${plain(message)}`,
  );
  return [
    `**${summary.phase}**, ${summary.membersReady} of ${summary.size} members ready, etcd ${summary.version}`,
    [HEAD, ...rows].join('\n'),
    conditions.join('\n'),
    planDetails(decision),
    ...(asked === undefined ? [] : askedDetails(asked)),
  ].join('\n\n');
}

function askedDetails({ requests, refused }: Asked): string[] {
  const lines = requests.map(
    ({ kind, target, by, reason }) =>
      `- **${kind}** ${cell(target)}, asked for by ${plain(by)}${reason === undefined ? '' : ` (${plain(reason)})`}`,
  );
  return [
    ...(lines.length === 0 ? [] : [lines.join('\n')]),
    ...(refused === undefined ? [] : [`Refused: ${plain(refused)}`]),
  ];
}

/** An operation's details: its remaining plan. */
export function operationDetails(decision: Decision): string {
  return planDetails(decision);
}

function planDetails(decision: Decision): string {
  switch (decision.kind) {
    case 'gone':
      return 'The resource is gone.';
    case 'idle':
      return 'Nothing to do.';
    case 'blocked':
      return [`**Blocked: ${decision.reason}.** ${plain(decision.message)}`, ...steps(decision.plan)].join(
        '\n',
      );
    case 'operate':
      return [`**${decision.operation}**`, ...steps(decision.plan)].join('\n');
  }
}

function steps(plan: readonly { readonly summary: string }[]): string[] {
  return plan.map(({ summary }, index) => `${index + 1}. ${plain(summary)}`);
}

/** The UI's tables have no space between their columns, and what is set as code has some of its own. */
function cell(text: string): string {
  const shown = text.replace(/\s+/g, ' ').trim().replaceAll('|', '\\|').replaceAll('`', '');
  return shown === '' ? '–' : `\`${shown}\``;
}
