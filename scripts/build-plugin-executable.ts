/**
 * Makes dist-plugin/linux-<architecture>/kubectl-etcd: the plugin as one program that needs no Node, for amd64 and arm64, and puts beside
 * it what kubectl runs for shell completion. With a folder as its argument, they are written there. Usage: [FOLDER] [--arch amd64]
 */
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { COMPLETION } from './plugin/bundle.ts';
import { writeExecutables } from './plugin/executable.ts';
import { ARCHITECTURES, type Architecture } from './plugin/nodes.ts';
import { root } from './run.ts';

const isArchitecture = (name: string): name is Architecture => Object.hasOwn(ARCHITECTURES, name);
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { arch: { type: 'string', multiple: true, default: Object.keys(ARCHITECTURES) } },
});
const [folder = join(root, 'dist-plugin')] = positionals;
const foreign = values.arch.find(name => !isArchitecture(name));
if (foreign !== undefined) {
  console.error(`--arch must be ${Object.keys(ARCHITECTURES).join(' or ')}, and not ${foreign}`);
  process.exitCode = 2;
} else {
  const folderOf = (name: string): string => join(folder, `linux-${name}`);
  const wanted = values.arch.filter(isArchitecture);
  await writeExecutables(new Map(wanted.map(name => [name, join(folderOf(name), 'kubectl-etcd')])));
  for (const name of wanted) copyFileSync(join(root, 'bin', COMPLETION), join(folderOf(name), COMPLETION));
}
