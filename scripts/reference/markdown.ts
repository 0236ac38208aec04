/** Small pieces of Markdown. */

/** Said at the top of every generated file. */
export function heading(title: string, source: string): string {
  return `# ${title}\n\n<!-- Generated from ${source} by \`npm run generate\`. Do not edit. -->\n`;
}

/** A table; cells may hold anything. */
export function markdownTable(columns: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.map(cell).join(' | ')} |`;
  return [line(columns), `|${columns.map(() => '---').join('|')}|`, ...rows.map(line)].join('\n');
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|').replace(/\s*\n\s*/g, ' ');
}

export function code(text: string): string {
  return text === '' ? '' : `\`${text}\``;
}

/** What a reason means, and what to do. */
export function paragraph(title: string, meaning: string, whatToDo?: string): string {
  return `${title}: ${meaning}${whatToDo === undefined ? '' : ` *What to do:* ${whatToDo}`}`;
}
