/** The site of the documentation. Its pages are laid out by scripts/build-site.ts. Nothing is fetched from elsewhere when it is read. */
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitepress';
import { slugOf } from '../../../scripts/docs/markdown.ts';
import { sidebar } from '../../../scripts/docs/pages.ts';

export default defineConfig({
  title: 'etcd-operator',
  description: 'An etcd operator for Kubernetes in which every operation is a durable Temporal workflow',
  lang: 'en',
  srcDir: 'pages',
  outDir: 'dist',
  cacheDir: 'node_modules/.cache',
  themeConfig: {
    search: { provider: 'local', options: { detailedView: true } },
    nav: [
      { text: 'Quick start', link: '/quick-start/laptop' },
      { text: 'How-to', link: '/operations/install' },
      { text: 'Reference', link: '/reference/api' },
      { text: 'Runbooks', link: '/operations/alerts' },
    ],
    sidebar: sidebar(fileURLToPath(new URL('../../..', import.meta.url))),
    outline: { level: [2, 3] },
    docFooter: { prev: false, next: false },
  },
  // What looks like a tag in prose, such as <name>, is text.
  markdown: { anchor: { slugify: slugOf }, html: false },
  // The index of the search is one file.
  vite: { build: { chunkSizeWarningLimit: 5_000 } },
});
