import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** What goes into a content key: names with their content or settings. Order does not matter. */
export type KeyInputs = Readonly<Record<string, string | Uint8Array>>;

/**
 * A content key of 16 hexadecimal digits over named inputs. Names and values are length-prefixed, so no two
 * different sets of inputs give the same bytes to hash.
 */
export function contentKey(inputs: KeyInputs): string {
  const hash = createHash('sha256');
  for (const name of Object.keys(inputs).sort()) {
    const value = inputs[name] ?? '';
    for (const part of [name, value]) {
      const bytes = typeof part === 'string' ? Buffer.from(part) : part;
      hash.update(`${bytes.length}:`).update(bytes);
    }
  }
  return hash.digest('hex').slice(0, 16);
}

/** Every regular file under `folder` as a key input, named by its path in the folder, with `prefix` before it. */
export function folderInputs(folder: string, prefix = ''): Record<string, Uint8Array> {
  const inputs: Record<string, Uint8Array> = {};
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    inputs[`${prefix}${path.slice(folder.length + 1)}`] = readFileSync(path);
  }
  return inputs;
}
