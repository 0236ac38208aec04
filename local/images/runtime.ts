import { realpathSync, statSync } from 'node:fs';
import { runCommand } from '../toolchain/command.ts';
import { copyEntry } from './archive.ts';
import { baseEntries, certificateEntries, parentFolders } from './base.ts';
import type { TarEntry } from './tar.ts';

/**
 * The absolute paths of the shared libraries, loader included, that the given programs and libraries need on
 * this machine, as ldd(1) finds them. Sorted, each once. Throws when one is missing.
 */
export async function sharedLibraries(files: readonly string[]): Promise<string[]> {
  const outputs = await Promise.all(files.map(file => runCommand('ldd', [file])));
  const libraries = new Set<string>();
  for (const [index, output] of outputs.entries()) {
    for (const path of parseLdd(output, files[index] ?? '')) libraries.add(path);
  }
  return [...libraries].sort();
}

/** Reads what ldd printed about `file`: `name => /path (address)`, or `/path (address)` for the loader. */
export function parseLdd(output: string, file: string): string[] {
  const missing = /^\s*(\S+) => not found/m.exec(output)?.[1];
  if (missing !== undefined)
    throw new Error(`${file} needs the library ${missing}, which this machine does not have`);
  return [...output.matchAll(/^\s*(?:\S+ => )?(\/\S+) \(0x[0-9a-f]+\)$/gm)].map(match => match[1] ?? '');
}

/** Key inputs of the layer with Node: a system update that changes a library changes them. */
export function runtimeInputs(libraries: readonly string[]): Record<string, string> {
  const inputs: Record<string, string> = { node: process.version };
  for (const path of [process.execPath, ...libraries]) {
    const { size, mtimeMs } = statSync(path);
    inputs[path] = `${size} ${mtimeMs}`;
  }
  return inputs;
}

/** Node, the libraries that it and the Temporal SDK's native part need, accounts and CA certificates. */
export async function runtimeEntries(libraries: readonly string[]): Promise<TarEntry[]> {
  const base = baseEntries();
  const present = new Set(base.map(entry => entry.path));
  const places = libraries.map(path => path.slice(1));
  const entries = [
    ...base,
    ...(await certificateEntries()),
    ...parentFolders(places).filter(folder => !present.has(folder.path)),
    await copyEntry(realpathSync(process.execPath), 'usr/local/bin/node', 0o755),
  ];
  for (const path of libraries) entries.push(await copyEntry(realpathSync(path), path.slice(1), 0o755));
  return entries;
}
