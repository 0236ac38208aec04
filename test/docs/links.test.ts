/** The documentation: links lead somewhere, files that are named exist, and every page is in the site. */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { describe, expect, it } from 'vitest';
import { externalLinks, faultsOfPage } from '../../scripts/docs/links.ts';
import { anchorsOf, linksOf, pathsNamedIn, slugOf, withLinks } from '../../scripts/docs/markdown.ts';
import { inSite, pagesOf, pathOf, PICTURES, sidebar } from '../../scripts/docs/pages.ts';
import { root } from '../../scripts/run.ts';

const FILES = globSync(['*.md', 'docs/*.md', 'docs/!(site)/**/*.md', 'charts/*/*.md'], { cwd: root }).sort();
const read = (file: string): string => readFileSync(posix.join(root, file), 'utf8');

describe('every page', () => {
  it.each(FILES)('%s: its links, anchors and the files that it names are there', file => {
    expect(faultsOfPage(root, file)).toEqual([]);
  });

  it('of docs is in the site, once', () => {
    const pages = pagesOf(root);
    expect([...pages].sort()).toEqual([...new Set(pages)].sort());
    expect(FILES.filter(file => file !== 'README.md').filter(file => !pages.includes(file))).toEqual([]);
    expect(new Set(pages.map(pathOf)).size).toBe(pages.length);
  });

  it('is in the sidebar by its title', () => {
    const items = sidebar(root).flatMap(group => group.items);
    expect(items).toHaveLength(pagesOf(root).length - 1);
    expect(items).toContainEqual({ text: 'Concepts', link: '/concepts' });
    expect(items).toContainEqual({ text: 'A laptop', link: '/quick-start/laptop' });
    expect(items.filter(({ text }) => text.endsWith('.md'))).toEqual([]);
  });

  it('links elsewhere by https', () => {
    const links = externalLinks(root, FILES);
    expect(links.length).toBeGreaterThan(20);
    expect(links.filter(({ to }) => !to.startsWith('https://'))).toEqual([]);
  });
});

describe('in the site', () => {
  const pages = new Set(pagesOf(root));

  it('links lead to pages, and what is not a page is its name alone', () => {
    const page = [
      'See [the chart](../../charts/etcd-operator/README.md#values), [drills](../development/drills.md),',
      '[a sample](../../deploy/samples/storage.yaml), [decisions](../decisions) and [etcd](https://etcd.io).',
    ].join('\n');
    expect(inSite(page, 'docs/operations/storage.md', pages)).toBe(
      [
        'See [the chart](../reference/helm-values.md#values), [drills](../development/drills.md),',
        'a sample, [decisions](../decisions/index.md) and [etcd](https://etcd.io).',
      ].join('\n'),
    );
  });

  it.each([...pages])('%s: no link leaves the site', file => {
    const found = new Set([...pages, ...PICTURES].map(pathOf));
    const from = posix.dirname(pathOf(file));
    const targets = linksOf(inSite(read(file), file, pages))
      .filter(({ to }) => !/^([a-z]+:|#)/i.test(to))
      .map(({ to }) => posix.join(from, to.split('#')[0] ?? ''));
    expect(targets.filter(target => !found.has(target))).toEqual([]);
  });
});

describe('Markdown', () => {
  it('has anchors as GitHub makes them', () => {
    expect(slugOf('What is `status.history`?')).toBe('what-is-statushistory');
    expect([...anchorsOf('# A b\n\n## C\n\n```\n# no\n```\n\n## C')]).toEqual(['a-b', 'c', 'c-1']);
  });

  it('has links in prose alone', () => {
    const page = '[a](b.md)\n\n```\n[c](d.md)\n```\n\n`[e](f.md)` [g](h.md#i)';
    expect(linksOf(page)).toEqual([
      { to: 'b.md', line: 1 },
      { to: 'h.md#i', line: 7 },
    ]);
    expect(withLinks(page, (text, to) => `${text}=${to}`)).toContain('[c](d.md)');
  });

  it('names files', () => {
    expect(pathsNamedIn('`src/a.ts` `src/*.ts` `src/b.ts:12` `other/c`', ['src'])).toEqual([
      { to: 'src/a.ts', line: 1 },
      { to: 'src/b.ts', line: 1 },
    ]);
  });

  it('lists what is wrong', () => {
    expect(existsSync(posix.join(root, 'docs/concepts.md'))).toBe(true);
    const page = '[a](concepts.md#nowhere) [b](gone.md) `src/gone.ts`';
    expect(faultsOfPage(root, 'docs/index.md', page)).toEqual([
      'docs/index.md:1: concepts.md#nowhere: the page has no such heading',
      'docs/index.md:1: gone.md: no such file',
      'docs/index.md:1: src/gone.ts: no such file',
    ]);
  });
});
