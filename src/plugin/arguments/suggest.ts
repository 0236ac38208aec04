/** The edit distance of two words: insertions, deletions, replacements, and exchanges of neighbours, each 1. Pure. */
function distance(a: string, b: string): number {
  const rows: number[][] = [Array.from({ length: b.length + 1 }, (_, column) => column)];
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1;
      const least = Math.min(
        cell(rows, i - 1, j) + 1,
        (row[j - 1] ?? 0) + 1,
        cell(rows, i - 1, j - 1) + same,
      );
      const isExchanged = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      row.push(isExchanged ? Math.min(least, cell(rows, i - 2, j - 2) + 1) : least);
    }
    rows.push(row);
  }
  return cell(rows, a.length, b.length);
}

const cell = (rows: readonly (readonly number[])[], row: number, column: number): number =>
  rows[row]?.[column] ?? 0;

/** The word of `known` that was probably meant by `typed`; undefined when none is near: a third of its letters may be wrong. */
function nearest(typed: string, known: readonly string[]): string | undefined {
  const ranked = known
    .map(word => ({ word, far: word.startsWith(typed) && typed.length > 1 ? 0 : distance(typed, word) }))
    .filter(({ word, far }) => far <= Math.max(1, Math.floor(word.length / 3)))
    .toSorted((a, b) => a.far - b.far);
  return ranked[0]?.word;
}

/** A line of advice for {@link nearest}, or none. `prefix` stands before the word, such as `--`. */
export function didYouMean(typed: string, known: readonly string[], prefix = ''): readonly string[] {
  const word = nearest(typed, known);
  return word === undefined ? [] : [`Did you mean ${prefix}${word}?`];
}
