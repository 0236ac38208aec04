/** What is shown, before it is written: lines of texts with a tone each. Pure. */

export type Tone = 'good' | 'warn' | 'bad' | 'dim' | 'bold';
export type Span = string | { readonly text: string; readonly tone: Tone };
export type Line = readonly Span[];

/** SGR parameters (ECMA-48). */
const CODES: Readonly<Record<Tone, number>> = { good: 32, warn: 33, bad: 31, dim: 2, bold: 1 };

/** The text with a tone. */
export const toned = (text: string, tone: Tone): Span => ({ text, tone });

const textOf = (span: Span): string => (typeof span === 'string' ? span : span.text);

/** Lines as text, each with its line break; with colors, or as they are. */
export function paint(lines: readonly Line[], isColored: boolean): string {
  const span = (part: Span): string =>
    typeof part === 'string' || !isColored || part.text === ''
      ? textOf(part)
      : `\u001b[${CODES[part.tone]}m${part.text}\u001b[0m`;
  return lines.map(line => `${line.map(span).join('').trimEnd()}\n`).join('');
}

/** Columns, two spaces apart; the last one is not padded. Line breaks in a cell become spaces. */
export function table(header: readonly string[], rows: readonly (readonly Span[])[]): readonly Line[] {
  const flat = (span: Span): Span => {
    const text = textOf(span).replace(/\s*\n\s*/g, ' ');
    return typeof span === 'string' ? text : { ...span, text };
  };
  const all = [header.map(title => toned(title, 'bold')), ...rows.map(row => row.map(flat))];
  const widths = header.map((_, column) => Math.max(...all.map(row => textOf(row[column] ?? '').length)));
  return all.map(row =>
    row.flatMap((span, column) => [
      span,
      column === row.length - 1 ? '' : ' '.repeat((widths[column] ?? 0) - textOf(span).length + 2),
    ]),
  );
}

/** `Label:     value`, with values below each other. */
export function field(label: string, ...value: readonly Span[]): Line {
  return [toned(`${label}:`.padEnd(12), 'dim'), ...value];
}

/** As {@link field}, or nothing for what is absent or empty. */
export function fieldOf<T>(label: string, value: T | undefined, spans: (value: T) => Span): readonly Line[] {
  return value === undefined || value === '' ? [] : [field(label, spans(value))];
}

/** A text for what is there; nothing for what is absent or empty. */
export function textIf<T>(value: T | undefined, text: (value: T) => string): string {
  return value === undefined || value === '' ? '' : text(value);
}

/** A text of several lines, each behind `indent`. */
export function indented(text: string, indent: string): readonly Line[] {
  return text.split('\n').map(line => [indent, line]);
}
