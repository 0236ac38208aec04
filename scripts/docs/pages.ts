/** Which files are pages of the site, where each is found, and in what order the sidebar lists them. */
import { readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { titleOf, withLinks, withoutComments } from './markdown.ts';

/** The sidebar. A folder stands for those of its pages that no other line names. */
const GROUPS: readonly {
  readonly text: string;
  readonly pages: readonly string[];
  readonly collapsed?: boolean;
}[] = [
  {
    text: 'Quick start',
    pages: ['docs/quick-start/laptop.md', 'docs/quick-start/kubernetes.md', 'docs/quick-start/air-gapped.md'],
  },
  {
    text: 'Concepts',
    pages: ['docs/concepts.md', 'docs/glossary.md', 'docs/security.md', 'docs/comparison.md'],
  },
  {
    text: 'How-to',
    pages: [
      'docs/operations/install.md',
      'docs/operations/connect.md',
      'docs/operations/migrate-from-coreos.md',
      'docs/operations/upgrade.md',
      'docs/operations/change-settings.md',
      'docs/operations/storage.md',
      'docs/operations/tls.md',
      'docs/operations/backup.md',
      'docs/operations/restore.md',
      'docs/operations',
    ],
  },
  {
    text: 'Runbooks',
    pages: ['docs/operations/troubleshooting.md', 'docs/operations/alerts.md', 'docs/operations/disaster.md'],
  },
  { text: 'Reference', pages: ['docs/reference', 'charts/etcd-operator/README.md'] },
  {
    text: 'Development',
    pages: ['CONTRIBUTING.md', 'CODE_OF_CONDUCT.md', 'SECURITY.md', 'CHANGELOG.md', 'docs/development'],
    collapsed: true,
  },
  { text: 'Decisions', pages: ['docs/decisions/README.md', 'docs/decisions'], collapsed: true },
];

/** Those that a folder does not list again. */
const NAMED = new Set(GROUPS.flatMap(({ pages }) => pages));

/** Where a file of the repository stands in the site. */
export function pathOf(file: string): string {
  if (file === 'charts/etcd-operator/README.md') return 'reference/helm-values.md';
  // Beside docs/security.md: names of pages may not differ in case alone.
  if (file === 'SECURITY.md') return 'report-a-vulnerability.md';
  return file.replace(/^docs\//, '').replace(/(^|\/)README\.md$/, '$1index.md');
}

/** Every page: those that the sidebar lists, and where it begins. */
export function pagesOf(root: string): string[] {
  return ['docs/index.md', ...GROUPS.flatMap(({ pages }) => pages.flatMap(page => filesOf(root, page)))];
}

/** Pictures that pages show: they stand in the site as they are. */
export const PICTURES: readonly string[] = ['docs/architecture.svg'];

/** The sidebar, with the first heading of each page as its text. */
export function sidebar(root: string) {
  return GROUPS.map(({ text, pages, collapsed = false }) => ({
    text,
    collapsed,
    items: pages
      .flatMap(page => filesOf(root, page))
      .map(file => ({
        text: withoutGroup(titleOf(readFileSync(join(root, file), 'utf8')) ?? file, text),
        link: `/${pathOf(file).replace(/(index)?\.md$/, '')}`,
      })),
  }));
}

/** `Quick start: a laptop` stands below `Quick start`. */
function withoutGroup(title: string, group: string): string {
  if (!title.startsWith(`${group}: `)) return title;
  const rest = title.slice(group.length + 2);
  return `${rest.charAt(0).toUpperCase()}${rest.slice(1)}`;
}

function filesOf(root: string, page: string): string[] {
  if (page.endsWith('.md')) return [page];
  const names = readdirSync(join(root, page)).filter(name => name.endsWith('.md'));
  return names
    .sort()
    .map(name => `${page}/${name}`)
    .filter(file => !NAMED.has(file));
}

/** A page as it stands in the site: links lead to pages and pictures of it, and one to another file is its text alone. */
export function inSite(markdown: string, file: string, pages: ReadonlySet<string>): string {
  const from = posix.dirname(pathOf(file));
  return withLinks(withoutComments(markdown), (text, to) => {
    if (/^([a-z]+:|#)/i.test(to)) return undefined;
    const [path = '', anchor] = to.split('#');
    const target = posix.join(posix.dirname(file), path).replace(/\/$/, '');
    const page = [target, `${target}/README.md`].find(each => pages.has(each) || PICTURES.includes(each));
    if (page === undefined) return text;
    return `[${text}](${posix.relative(from, pathOf(page))}${anchor === undefined ? '' : `#${anchor}`})`;
  });
}
