/** Small pieces of Markdown. */

/** Said at the top of every generated file. */
export function heading(title: string, source: string): string {
  return `# ${title}\n\n<!-- Generated from ${source} by \`npm run generate\`. Do not edit. -->\n`;
}

/** A table; cells may hold anything. What looks like a tag is escaped outside of code: readers would be shown nothing in its place. */
export function markdownTable(columns: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.map(cell).join(' | ')} |`;
  return [line(columns), `|${columns.map(() => '---').join('|')}|`, ...rows.map(line)].join('\n');
}

function cell(text: string): string {
  const isCode = (index: number): boolean => index % 2 === 1;
  const parts = text.split('`').map((part, index) => (isCode(index) ? part : part.replaceAll('<', '\\<')));
  return parts
    .join('`')
    .replaceAll('|', '\\|')
    .replace(/\s*\n\s*/g, ' ');
}

export function code(text: string): string {
  return text === '' ? '' : `\`${text}\``;
}

/** What a reason means, and what to do. */
export function paragraph(title: string, meaning: string, whatToDo?: string): string {
  return `${title}: ${meaning}${whatToDo === undefined ? '' : ` *What to do:* ${whatToDo}`}`;
}
