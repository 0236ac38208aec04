import { readFileSync } from 'node:fs';
import { mkdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { Report } from '../progress.ts';
import { type CommandOptions, runCommand } from './command.ts';
import { contentKey, folderInputs } from './hash.ts';
import type { Recipe } from './recipe.ts';

/** A Go program that a module under `local/toolchain/go/` builds. */
export interface GoProgram {
  /** The artefact's name. */
  name: string;
  title: string;
  seconds: number;
  /** The module's folder below `local/toolchain/go`. */
  module: string;
  /** The package to build, if it is not that of the module: the program of another module, which go.mod names as a tool. */
  package?: string;
  /** The file to build. */
  binary: string;
  /** The names by which the file is called besides its own: each becomes a link to it. */
  links?: readonly string[];
  /** Values for string variables of packages, set when linking. */
  variables?: Readonly<Record<string, string>>;
  /** Build tags. */
  tags?: readonly string[];
  /** Folders from the sources of modules that lie beside the program, by the name that they have there and as tools. */
  folders?: Readonly<Record<string, ModuleFolder>>;
  /** See `Recipe`. */
  onlyForTests?: boolean;
  /** See `Recipe`. */
  onlyByName?: boolean;
  /** Tool name to the file or link (in the artefact's `bin` folder) that it is. */
  tools: Readonly<Record<string, string>>;
}

/** A folder in the sources of a module that go.mod names. */
interface ModuleFolder {
  module: string;
  folder: string;
}

const modulesFolder = join(import.meta.dirname, 'go');

/** Go's name of this machine's processor. */
export function goArchitecture(architecture: string = process.arch): string {
  return architecture === 'x64' ? 'amd64' : architecture;
}

/** A recipe that builds the program as one static binary; its key is the hash of its sources and settings. */
export function goRecipe(program: GoProgram): Recipe {
  const folder = join(modulesFolder, program.module);
  const linkerFlags = linkerSettings(program.variables ?? {});
  const links = program.links ?? [];
  const tags = program.tags ?? [];
  const folders = program.folders ?? {};
  const key = contentKey({
    ...folderInputs(folder, 'source/'),
    settings: JSON.stringify({
      arch: goArchitecture(),
      binary: program.binary,
      linkerFlags,
      links,
      recipe: 1,
      // Absent for most, whose keys stay what they were.
      package: program.package,
      tags: program.tags,
      folders: program.folders,
    }),
  });
  return {
    artefact: { name: program.name, key },
    title: program.title,
    seconds: program.seconds,
    onlyForTests: program.onlyForTests ?? false,
    onlyByName: program.onlyByName ?? false,
    tools: Object.fromEntries([
      ...Object.entries(program.tools).map(([tool, file]) => [tool, join('bin', file)]),
      ...Object.keys(folders).map(name => [name, name]),
    ]),
    build: async (target, log, report) => {
      const bin = join(target, 'bin');
      await mkdir(bin);
      const env = await goEnvironment(folder);
      const main = program.package ?? '.';
      const tagged = tags.length === 0 ? [] : ['-tags', tags.join(',')];
      const packages = await countPackages([...tagged, main], { cwd: folder, env, log }, report);
      const args = ['build', '-v', '-ldflags', linkerFlags, '-o', join(bin, program.binary), ...tagged, main];
      let built = 0;
      await runCommand('go', args, {
        cwd: folder,
        env,
        log,
        onLine: line =>
          report(line.startsWith('go: ') ? line.slice(4) : `${++built} of ${packages} packages`),
      });
      for (const link of links) await symlink(program.binary, join(bin, link));
      for (const [name, source] of Object.entries(folders)) {
        await copyFromModule(source, join(target, name), { cwd: folder, env, log });
      }
    },
  };
}

/** A module's sources may be read only; the copy can be removed. */
async function copyFromModule(
  { module, folder }: ModuleFolder,
  target: string,
  settings: CommandOptions,
): Promise<void> {
  const sources = await runCommand('go', ['list', '-m', '-f', '{{.Dir}}', module], settings);
  await runCommand('cp', ['-r', '--no-preserve=mode', join(sources.trim(), folder), target], settings);
}

function linkerSettings(variables: Readonly<Record<string, string>>): string {
  const settings = Object.entries(variables).map(([variable, value]) => `-X ${variable}=${value}`);
  return ['-s', '-w', ...settings].join(' ');
}

/** Fetches the modules, and counts the packages that the build goes through. */
async function countPackages(
  main: readonly string[],
  settings: CommandOptions,
  report: Report,
): Promise<number> {
  report('fetching modules');
  const onLine = (line: string): void => {
    if (line.startsWith('go: ')) report(line.slice(4));
  };
  const list = await runCommand('go', ['list', '-deps', '-f', '.', ...main], { ...settings, onLine });
  return list.trim().split('\n').length;
}

/**
 * The environment that makes a build the same everywhere: static, without paths of this machine, modules
 * exactly as go.sum has them. The machine's own Go is used when it is new enough for the module; an older
 * one (from 1.21 on) fetches the toolchain that go.mod asks for through the module proxy.
 */
async function goEnvironment(folder: string): Promise<NodeJS.ProcessEnv> {
  const wanted = /^go (\d+\.\d+)/m.exec(readFileSync(join(folder, 'go.mod'), 'utf8'))?.[1] ?? '1.26';
  // Outside of the module, so that an older Go does not try to switch before it has said its version.
  const output = await runCommand('go', ['env', 'GOVERSION'], {
    cwd: '/',
    env: { ...process.env, GOTOOLCHAIN: 'local' },
  }).catch(() => {
    throw new Error(
      `Go is needed to build the local stack and is not on PATH: install Go ${wanted} (or any from 1.21, which fetches ${wanted} itself)`,
    );
  });
  return {
    ...process.env,
    CGO_ENABLED: '0',
    GOFLAGS: '-mod=readonly -trimpath -buildvcs=false',
    GOTOOLCHAIN: toolchainSetting(output.trim(), wanted),
    GOWORK: 'off',
    GOOS: 'linux',
    GOARCH: goArchitecture(),
    GOAMD64: 'v1',
    GOEXPERIMENT: '',
  };
}

/**
 * The value of GOTOOLCHAIN for a machine whose Go is `version` (as `go env GOVERSION` prints it) and a module
 * that wants at least `wanted` (major.minor). Throws when the Go is too old to fetch another.
 */
export function toolchainSetting(version: string, wanted: string): 'local' | 'auto' {
  const own = minorOf(version.replace(/^go/, ''));
  if (own >= minorOf(wanted)) return 'local';
  if (own < 21)
    throw new Error(
      `Go ${wanted} is needed; the Go on PATH is ${version}, too old to fetch it: install Go from 1.21 on`,
    );
  return 'auto';
}

function minorOf(version: string): number {
  const minor = /^1\.(\d+)/.exec(version)?.[1];
  if (minor === undefined) throw new Error(`cannot read the Go version "${version}"`);
  return Number(minor);
}
