/** Markdown for the Temporal UI: what is, what comes next, and why. */
import type { Assessment, Decision } from '../activities/index.ts';

const HEAD = '| Name | Id | Role | Health | etcd | Node |\n| :--- | :--- | :--- | :--- | :--- | :--- |';

/** The entity's details: members, conditions, plan. */
export function clusterDetails({ decision, summary }: Assessment): string {
  if (summary === undefined) return 'The resource is gone.';
  const rows = summary.members.map(
    ({ name, id, role, health, version, node }) =>
      `| ${[name, id, role, health, version, node].map(cell).join(' | ')} |`,
  );
  const conditions = summary.conditions.map(
    ({ type, status, reason, message }) => `- **${type}** = ${status} (${reason}): ${oneLine(message)}`,
  );
  return [
    `**${summary.phase}**, ${summary.membersReady} of ${summary.size} members ready, etcd ${summary.version}`,
    [HEAD, ...rows].join('\n'),
    conditions.join('\n'),
    planDetails(decision),
  ].join('\n\n');
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
      return [`**Blocked: ${decision.reason}.** ${oneLine(decision.message)}`, ...steps(decision.plan)].join(
        '\n',
      );
    case 'operate':
      return [`**${decision.operation}**`, ...steps(decision.plan)].join('\n');
  }
}

function steps(plan: readonly { readonly summary: string }[]): string[] {
  return plan.map(({ summary }, index) => `${index + 1}. ${oneLine(summary)}`);
}

/** The UI's tables have no space between their columns, and what is set as code has some of its own. */
function cell(text: string): string {
  const shown = oneLine(text).replaceAll('|', '\\|').replaceAll('`', '');
  return shown === '' ? '–' : `\`${shown}\``;
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}
