/** Markdown for the Temporal UI: what is, what comes next, and why. */
import type { Assessment, Decision } from '../../activities/index.ts';
import { decisionDetails, plain } from '../messages/markdown.ts';
import { type ClusterState, waitingRequests } from './state.ts';

/** As code, like the cells: the UI's tables have no space between their columns. */
const HEAD =
  '| `Name` | `Id` | `Role` | `Health` | `etcd` | `Node` |\n| :--- | :--- | :--- | :--- | :--- | :--- |';

/** These say once more what others say, for tools that know no kind. */
const SUMMED_UP: readonly string[] = ['Ready', 'Reconciling', 'Stalled'];

type Asked = Pick<ClusterState, 'requests' | 'refused'>;

/** The entity's details: members, conditions, plan, and what users requested. */
export function clusterDetails(assessment: Assessment, asked?: Asked): string {
  const { decision, summary } = assessment;
  if (summary === undefined) return 'The resource is gone.';
  const rows = summary.members.map(
    ({ name, id, role, health, version, node }) =>
      `| ${[name, id, role, health, version, node].map(cell).join(' | ')} |`,
  );
  const shown = summary.conditions.filter(({ type }) => !SUMMED_UP.includes(type));
  const conditions = shown.map(
    ({ type, status, reason, message }) => `- **${type}** = ${status} (${reason}): ${plain(message)}`,
  );
  return [
    `**${summary.phase}**, ${summary.membersReady} of ${summary.size} members ready, etcd ${summary.version}${attentionOf(summary)}`,
    [HEAD, ...rows].join('\n'),
    conditions.join('\n'),
    planDetails(decision),
    ...(asked === undefined ? [] : askedDetails(waitingRequests({ ...asked, assessment }), asked)),
  ].join('\n\n');
}

function attentionOf({ attention }: { readonly attention?: string }): string {
  return attention === undefined ? '' : `. Needs attention: **${attention}**`;
}

function askedDetails(waiting: ReturnType<typeof waitingRequests>, { refused }: Pick<Asked, 'refused'>) {
  const lines = waiting.map(request => {
    const { kind, target, by } = request;
    const reason = 'reason' in request && request.reason !== undefined ? ` (${plain(request.reason)})` : '';
    return `- **${kind}** ${cell(target)}, asked for by ${plain(by)}${reason}`;
  });
  return [
    ...(lines.length === 0 ? [] : [lines.join('\n')]),
    ...(refused === undefined ? [] : [`Refused: ${plain(refused)}`]),
  ];
}

/** An operation's details: its remaining plan. */
export function planDetails(decision: Decision): string {
  return decisionDetails(decision, 'plan' in decision ? decision.plan.map(({ summary }) => summary) : []);
}

/** The UI's tables have no space between their columns, and what is set as code has some of its own. */
function cell(text: string): string {
  const shown = text.replace(/\s+/g, ' ').trim().replaceAll('|', '\\|').replaceAll('`', '');
  return shown === '' ? '–' : `\`${shown}\``;
}
