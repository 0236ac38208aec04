/**
 * Builds the documentation as a site into docs/site/dist: `make site`. The generator and its packages are those of docs/site, apart from
 * the packages of the operator, and are installed when they are missing.
 */
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { inSite, pagesOf, pathOf, PICTURES } from './docs/pages.ts';
import { root } from './run.ts';

const site = join(root, 'docs/site');
const pages = pagesOf(root);
rmSync(join(site, 'pages'), { recursive: true, force: true });
for (const page of pages) {
  const target = join(site, 'pages', pathOf(page));
  mkdirSync(dirname(target), { recursive: true });
  writeFileSync(target, inSite(readFileSync(join(root, page), 'utf8'), page, new Set(pages)));
}
for (const picture of PICTURES) copyFileSync(join(root, picture), join(site, 'pages', pathOf(picture)));
if (!existsSync(join(site, 'node_modules/vitepress'))) {
  // npm runs with the Node that runs this.
  const path = `${dirname(process.execPath)}:${process.env['PATH'] ?? ''}`;
  run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], { ...process.env, PATH: path });
}
run(process.execPath, [join(site, 'node_modules/vitepress/bin/vitepress.js'), 'build'], process.env);
console.log(`${pages.length} pages in ${join(site, 'dist')}: serve the folder with any web server`);

function run(program: string, args: readonly string[], env: NodeJS.ProcessEnv): void {
  const { status, error } = spawnSync(program, args, { cwd: site, stdio: 'inherit', env });
  if (error !== undefined) throw error;
  if (status !== 0) process.exit(status ?? 1);
}
