/** docs/reference/conditions.md: every condition, one paragraph for each of its reasons. */
import { CONDITIONS } from '../../src/api/conditions/catalogue.ts';
import { heading, paragraph } from './markdown.ts';

const INTRODUCTION = `
Conditions are in \`status.conditions\` of a resource. Types and reasons are stable: alerts may be written on them. A reason
always has the same status, and \`Unknown\` is a status of its own: the operator could not find out. The message
of a condition names the members, fields or Secrets that it is about.

What ends by itself is reported only while it lasts: without Recovering, Scaling, Upgrading, UpgradeBlocked, Paused or QuorumAtRisk nothing of the kind goes on.
`;

export function conditionsReference(): string {
  const types = Map.groupBy(CONDITIONS, ({ type }) => type);
  const sections = [...types].map(([type, rows]) => `## ${type}\n\n${rows.map(rowText).join('\n\n')}\n`);
  const contents = [...types.keys()].map(type => `[${type}](#${type.toLowerCase()})`).join(' · ');
  return [
    heading('Conditions', 'src/api/conditions/catalogue.ts'),
    INTRODUCTION,
    `${contents}\n`,
    ...sections,
  ].join('\n');
}

function rowText({ reason, status, meaning, whatToDo }: (typeof CONDITIONS)[number]): string {
  return paragraph(`**${reason}** (\`${status}\`)`, meaning, whatToDo);
}
