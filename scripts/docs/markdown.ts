/** What is read from Markdown files of the repository: headings, links, and paths that prose names. Pure. */

const LINK = /\[([^\][]*(?:\[[^\][]*\][^\][]*)*)\]\(([^()\s]+)\)/g;

/** The text of the first heading. */
export function titleOf(markdown: string): string | undefined {
  return headingsOf(markdown)[0];
}

/** The texts of all headings, in order; what stands in code blocks is none. */
function headingsOf(markdown: string): string[] {
  return proseOf(markdown).flatMap(({ text }) => {
    const [, heading] = /^#{1,6}\s+(.*?)\s*#*$/.exec(text) ?? [];
    return heading === undefined ? [] : [heading.replace(/`/g, '')];
  });
}

/** The anchor of a heading, as GitHub makes it, before it numbers those that occur twice. */
export function slugOf(heading: string): string {
  const text = heading
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .toLowerCase()
    .trim();
  return text.replace(/[^\p{L}\p{N}\p{M} _-]/gu, '').replace(/ /g, '-');
}

/** The anchors of a page. */
export function anchorsOf(markdown: string): Set<string> {
  const seen = new Map<string, number>();
  return new Set(
    headingsOf(markdown).map(heading => {
      const slug = slugOf(heading);
      const before = seen.get(slug) ?? 0;
      seen.set(slug, before + 1);
      return before === 0 ? slug : `${slug}-${before}`;
    }),
  );
}

/** A reference to something, and the line that has it. */
export interface Reference {
  readonly to: string;
  readonly line: number;
}

/** Where the links of a page lead, images included. */
export function linksOf(markdown: string): Reference[] {
  return proseOf(markdown).flatMap(({ text, line }) =>
    [...text.replace(/`[^`]*`/g, code => ' '.repeat(code.length)).matchAll(/\]\(([^()\s]+)\)/g)].map(
      ([, to = '']) => ({
        to,
        line,
      }),
    ),
  );
}

/** The same page with links replaced: `undefined` leaves one as it is. */
export function withLinks(
  markdown: string,
  replace: (text: string, to: string) => string | undefined,
): string {
  const prose = new Set(proseOf(markdown).map(({ line }) => line));
  const lines = markdown.split('\n');
  // A text may go over two lines, so that prose is replaced as a whole, between blocks of code.
  const parts: string[][] = [];
  for (const [index, line] of lines.entries()) {
    const isNew = index === 0 || prose.has(index + 1) !== prose.has(index);
    if (isNew) parts.push([]);
    parts.at(-1)?.push(line);
  }
  let at = 0;
  return parts
    .map(part => {
      const isProse = prose.has(at + 1);
      at += part.length;
      const text = part.join('\n');
      return isProse
        ? text.replace(LINK, (whole, words: string, to: string) => replace(words, to) ?? whole)
        : text;
    })
    .join('\n');
}

/** Comments are for those who edit the file. */
export function withoutComments(markdown: string): string {
  return markdown.replace(/^<!--[^]*?-->$/gm, '');
}

/** Code in prose that is the path of a file or folder of the repository, without a line or an anchor. */
export function pathsNamedIn(markdown: string, folders: readonly string[]): Reference[] {
  const isPath = new RegExp(`^(${folders.join('|')})/[\\w./-]+$`);
  return proseOf(markdown).flatMap(({ text, line }) =>
    [...text.matchAll(/`([^`]+)`/g)].flatMap(([, code = '']) => {
      const [to = ''] = code.split(/[#:]/);
      return isPath.test(to) ? [{ to, line }] : [];
    }),
  );
}

/** Lines outside of code blocks and comments, with their numbers from 1. */
function proseOf(markdown: string): { readonly text: string; readonly line: number }[] {
  let fence: string | undefined;
  let isComment = false;
  return markdown.split('\n').flatMap((text, index) => {
    const [, mark] = /^\s*(`{3,}|~{3,})/.exec(text) ?? [];
    if (fence !== undefined) {
      if (mark?.startsWith(fence) === true) fence = undefined;
      return [];
    }
    if (mark !== undefined) {
      fence = mark;
      return [];
    }
    if (text.includes('<!--')) isComment = true;
    const isHidden = isComment;
    if (text.includes('-->')) isComment = false;
    return isHidden ? [] : [{ text, line: index + 1 }];
  });
}
