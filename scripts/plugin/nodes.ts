/** The programs of Node that the plugin's executables are made of: those of npm, of the version that runs this. */
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { spawnSync } from 'node:child_process';

/** As Go and krew call them, to what Node calls them. */
export const ARCHITECTURES = { amd64: 'x64', arm64: 'arm64' } as const;
export type Architecture = keyof typeof ARCHITECTURES;

const CACHE =
  process.env['ETCD_OPERATOR_CACHE'] ??
  join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'etcd-operator');

/**
 * The folder of the package with Node for Linux of an architecture, which need not be that of this machine. It is fetched with npm the
 * first time, into the folder in which local/node keeps its own.
 */
export function nodePackage(architecture: Architecture): string {
  const { node: version } = process.versions;
  const name = `node-linux-${ARCHITECTURES[architecture]}`;
  const homes = [join(CACHE, 'node', version), join(CACHE, 'node', `${version}-${architecture}`)];
  const folders = homes.map(home => join(home, 'node_modules', name));
  const found = folders.find(folder => existsSync(join(folder, 'bin/node')));
  return found ?? fetched(`${name}@${version}`, homes[1] ?? '', join('node_modules', name));
}

function fetched(what: string, home: string, inside: string): string {
  mkdirSync(dirname(home), { recursive: true });
  // Installed beside its final place and moved there whole: an interrupted install never looks finished.
  const partial = mkdtempSync(join(dirname(home), '.partial-'));
  try {
    // By force, because it is made for another machine.
    const flags = [
      '--no-save',
      '--ignore-scripts',
      '--no-package-lock',
      '--no-audit',
      '--no-fund',
      '--force',
    ];
    const { status, stderr } = spawnSync('npm', ['install', '--prefix', partial, ...flags, what], {
      cwd: partial,
      encoding: 'utf8',
    });
    if (status !== 0 || !existsSync(join(partial, inside, 'bin/node')))
      throw new Error(`npm could not fetch ${what}: ${stderr ?? 'there is no npm on PATH'}`);
    rmSync(home, { recursive: true, force: true });
    renameSync(partial, home);
  } finally {
    rmSync(partial, { recursive: true, force: true });
  }
  return join(home, inside);
}
