/** docs/reference/events.md: every event on the custom resources. */
import { EVENTS } from '../../src/api/events.ts';
import { code, heading, markdownTable } from './markdown.ts';

const INTRODUCTION = `
The operator records these events on its resources; \`kubectl describe\` shows them. Reasons are stable: alerts may be written on them.
A reason always has the same type. The message names the members, objects and causes.

A change of a [condition](conditions.md) is an event too, with the reason and the message of the condition.
`;

export function eventsReference(): string {
  const sections = Object.entries(EVENTS).map(([kind, reasons]) => {
    const rows = Object.entries(reasons).map(([reason, [type, when]]) => [code(reason), type, when]);
    return `## ${kind}\n\n${markdownTable(['reason', 'type', 'when'], rows)}\n`;
  });
  return [heading('Events', 'src/api/events.ts'), INTRODUCTION, ...sections].join('\n');
}
