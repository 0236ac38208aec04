import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { withLock } from './lock.ts';

/**
 * The folder outside the checkout that holds everything built or fetched: `$ETCD_OPERATOR_CACHE`, else
 * `$XDG_CACHE_HOME/etcd-operator`, else `~/.cache/etcd-operator`.
 */
export function cacheDirectory(): string {
  const own = process.env['ETCD_OPERATOR_CACHE'];
  if (own) return own;
  const shared = process.env['XDG_CACHE_HOME'];
  return join(shared ? shared : join(homedir(), '.cache'), 'etcd-operator');
}

/** A folder of the cache: `name` says what it is for users, `key` is the hash of everything it was made from. */
export interface Artefact {
  name: string;
  key: string;
}

export interface InstallOptions {
  /** The cache folder; default `cacheDirectory()`. */
  cache?: string;
  /** Called when another process builds the same artefact and this one waits for it. */
  onWait?: (message: string) => void;
}

/** How many versions of one artefact stay when a new one is installed. */
const versionsKept = 3;

/** Where an artefact lies once it is whole. That the folder exists means that it is whole. */
export function artefactPath(artefact: Artefact, cache = cacheDirectory()): string {
  return join(cache, 'artefacts', `${artefact.name}-${artefact.key}`);
}

/** The file in an artefact's folder that says when it was made and how many milliseconds that took. */
export function buildRecordFile(folder: string): string {
  return join(folder, '.built.json');
}

/** Whether the artefact is there, whole. */
export function isInstalled(artefact: Artefact, cache = cacheDirectory()): boolean {
  return existsSync(artefactPath(artefact, cache));
}

/**
 * Makes the artefact unless it is there, and returns its folder. `build` fills an empty folder beside the
 * final place, which is renamed there when `build` has returned and the files have reached the disk; so an
 * interruption or a power cut at any moment leaves either the whole artefact or none. Of several processes
 * one builds and the others wait for it. Throws what `build` throws, having removed the partial folder.
 */
export async function install(
  artefact: Artefact,
  build: (folder: string) => Promise<void>,
  options: InstallOptions = {},
): Promise<string> {
  const cache = options.cache ?? cacheDirectory();
  const target = artefactPath(artefact, cache);
  if (existsSync(target)) return target;
  const parent = join(cache, 'artefacts');
  await mkdir(parent, { recursive: true });
  const lock = join(cache, 'locks', `${artefact.name}-${artefact.key}`);
  await withLock(lock, options.onWait, async () => {
    if (existsSync(target)) return;
    await removeStalePartials(parent, artefact);
    const partial = join(parent, partialName(artefact));
    await mkdir(partial);
    try {
      const start = performance.now();
      await build(partial);
      const record = { built: new Date().toISOString(), milliseconds: Math.round(performance.now() - start) };
      await writeFile(buildRecordFile(partial), `${JSON.stringify(record)}\n`);
      await flushToDisk(partial);
      await rename(partial, target);
      await flushToDisk(parent);
    } catch (error) {
      await rm(partial, { recursive: true, force: true });
      throw error;
    }
    await removeOldVersions(parent, artefact);
  });
  return target;
}

function partialName(artefact: Artefact): string {
  return `.partial-${process.pid}-${randomBytes(3).toString('hex')}-${artefact.name}-${artefact.key}`;
}

/** Removes partial folders of this artefact (whose lock is held, so nobody fills them) and of dead processes. */
async function removeStalePartials(parent: string, artefact: Artefact): Promise<void> {
  for (const entry of await readdir(parent)) {
    const match = /^\.partial-(\d+)-[0-9a-f]+-(.*)$/.exec(entry);
    if (match === null) continue;
    const sameArtefact = match[2] === `${artefact.name}-${artefact.key}`;
    if (sameArtefact || !existsSync(`/proc/${match[1]}`)) {
      await rm(join(parent, entry), { recursive: true, force: true });
    }
  }
}

/** Keeps the newest versions of an artefact: every edit of a source makes a new one, and they are large. */
async function removeOldVersions(parent: string, artefact: Artefact): Promise<void> {
  const versions: { path: string; made: number }[] = [];
  for (const entry of await readdir(parent)) {
    const name = entry.slice(0, Math.max(0, entry.lastIndexOf('-')));
    if (name !== artefact.name) continue;
    const path = join(parent, entry);
    const made = (await stat(path)).mtimeMs;
    versions.push({ path, made });
  }
  versions.sort((one, other) => other.made - one.made);
  for (const { path } of versions.slice(versionsKept)) await rm(path, { recursive: true, force: true });
}

/** Writes out the file system that holds `path`, so that a rename after it never outruns the data. */
async function flushToDisk(path: string): Promise<void> {
  const child = spawn('sync', ['--file-system', path], { stdio: 'ignore' });
  await new Promise<void>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', code =>
      code === 0 ? resolve() : reject(new Error(`sync of ${path} ended with ${code}`)),
    );
  });
}
