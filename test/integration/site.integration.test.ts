/** `make site` on a fresh checkout: its packages are installed, the pages are built, and the search knows what is in them. */
import { execFile } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, expect, test } from 'vitest';
import { pagesOf, pathOf } from '../../scripts/docs/pages.ts';
import { root } from '../../scripts/run.ts';

const run = promisify(execFile);
const dist = join(root, 'docs/site/dist');
let printed = '';

beforeAll(async () => {
  const { stdout } = await run(process.execPath, [join(root, 'scripts/build-site.ts')], { cwd: root });
  printed = stdout;
}, 300_000);

test('each page of docs is a page of the site, with its heading', () => {
  const pages = pagesOf(root);
  expect(printed).toContain(`${pages.length} pages in `);
  const headingOf = (page: string): string => {
    const html = readFileSync(join(dist, pathOf(page).replace(/\.md$/, '.html')), 'utf8');
    return /<h1 [^]*?<\/h1>/.exec(html)?.[0] ?? '';
  };
  expect(pages.filter(page => !headingOf(page).includes(titleIn(page)))).toEqual([]);
});

/** The first words of the heading of a page, up to what Markdown or HTML write in another way. */
function titleIn(page: string): string {
  const title = /^# (.+)$/m.exec(readFileSync(join(root, page), 'utf8'))?.[1];
  return /^[\w .,:-]*/.exec(title ?? 'the page has no heading')?.[0] ?? '';
}

test('nothing of a page is loaded from another host', () => {
  const loads = globSync('**/*.html', { cwd: dist }).flatMap(file =>
    [
      ...readFileSync(join(dist, file), 'utf8').matchAll(
        /<(?:script|link|img)\b[^>]*\b(?:src|href)="(https?:)?\/\/[^"]*"/g,
      ),
    ].map(([tag]) => `${file}: ${tag}`),
  );
  expect(loads).toEqual([]);
});

/** The part of MiniSearch, the generator's library for searching, that is used here. */
interface Search {
  readonly loadJSON: (
    json: string,
    options: { readonly fields: readonly string[] },
  ) => { search: (words: string) => readonly { readonly id: string }[] };
}

test.each([
  ['CREDENTIAL_HOSTS_ALLOWED', 'reference/configuration'],
  ['hibernation', 'operations/hibernate'],
  ['verify-again', 'operations/kubectl-etcd'],
])('a search for %s finds %s', async (words, page) => {
  const files = globSync('assets/**/*localSearchIndex*.js', { cwd: dist });
  expect(files).toHaveLength(1);
  const { default: json } = (await import(join(dist, files[0] ?? ''))) as { readonly default: string };
  const { default: MiniSearch } = (await import(
    join(root, 'docs/site/node_modules/minisearch/dist/es/index.js')
  )) as { readonly default: Search };
  const index = MiniSearch.loadJSON(json, { fields: ['title', 'titles', 'text'] });
  const found = index.search(words).map(({ id }) => id);
  expect(found.slice(0, 10)).toContainEqual(expect.stringContaining(`/${page}.html`));
});
