/** Checks what the Markdown files of the repository refer to. Addresses elsewhere are listed, and never asked. */
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join, posix } from 'node:path';
import { anchorsOf, linksOf, pathsNamedIn, type Reference } from './markdown.ts';

/** Folders of the repository whose files are named in prose. */
const FOLDERS = ['src', 'test', 'scripts', 'local', 'deploy', 'docs', 'charts', 'bundle', 'bin'];

/** What a page refers to and what is not there, a line each. */
export function faultsOfPage(
  root: string,
  file: string,
  text = readFileSync(join(root, file), 'utf8'),
): string[] {
  const links = linksOf(text).flatMap(reference => faultOfLink({ root, file, text }, reference));
  const named = pathsNamedIn(text, FOLDERS).flatMap(({ to, line }) =>
    existsSync(join(root, to)) ? [] : [`${file}:${line}: ${to}: no such file`],
  );
  return [...links, ...named];
}

interface Page {
  readonly root: string;
  readonly file: string;
  readonly text: string;
}

function faultOfLink({ root, file, text }: Page, { to, line }: Reference): string[] {
  if (isElsewhere(to)) return [];
  const [path = '', anchor] = to.split('#');
  const target = path === '' ? file : posix.join(posix.dirname(file), path);
  if (!existsSync(join(root, target))) return [`${file}:${line}: ${to}: no such file`];
  if (anchor === undefined) return [];
  const isPage = target.endsWith('.md') && statSync(join(root, target)).isFile();
  const page = target === file ? text : isPage ? readFileSync(join(root, target), 'utf8') : '';
  return anchorsOf(page).has(anchor) ? [] : [`${file}:${line}: ${to}: the page has no such heading`];
}

/** Addresses elsewhere, each with the file that names it first. */
export function externalLinks(
  root: string,
  files: readonly string[],
): { readonly to: string; readonly file: string }[] {
  const first = new Map<string, string>();
  for (const file of files) {
    for (const { to } of linksOf(readFileSync(join(root, file), 'utf8'))) {
      if (isElsewhere(to) && !first.has(to)) first.set(to, file);
    }
  }
  return [...first].map(([to, file]) => ({ to, file }));
}

function isElsewhere(to: string): boolean {
  return /^[a-z]+:/i.test(to);
}
