/** docs/reference/obstacles.md: every reason for which the operator does not continue. */
import { OBSTACLE_GROUPS } from '../../src/api/obstacles/catalogue.ts';
import type { ReasonRows } from '../../src/api/obstacles/rows.ts';
import { heading, paragraph } from './markdown.ts';

const INTRODUCTION = `
An obstacle is why the operator does not do what is planned now. Its reason is in the field \`blocked\` of the query \`plan\` and in the
details of the workflow in the Temporal UI; its message is in the condition Progressing of the EtcdCluster, or Accepted of the EtcdRestore.
The message names the members, objects and settings, and what to do where that is not said here. Reasons are stable.
`;

export function obstaclesReference(): string {
  const groups = Object.entries<ReasonRows>(OBSTACLE_GROUPS).map(([title, rows]) => {
    const each = Object.entries(rows).map(([reason, cells]) => paragraph(`**${reason}**`, ...cells));
    return `## ${title}\n\n${each.join('\n\n')}\n`;
  });
  return [heading('Obstacles', 'src/api/obstacles/catalogue.ts'), INTRODUCTION, ...groups].join('\n');
}
