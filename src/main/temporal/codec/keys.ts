/** The keys with which payloads are encrypted, as the folder of a mounted Secret holds them now. */
import { createHash, createSecretKey, type KeyObject } from 'node:crypto';
import { readdirSync, readFileSync, realpathSync } from 'node:fs';
import { join } from 'node:path';

/** The file that names the key with which is encrypted; each other file is a key, by its name. */
const ACTIVE_FILE = 'active';
/** What it contains when nothing is to be encrypted, and what is encrypted to be read. */
const NONE = 'none';

/** Bytes of a key of AES-256. */
const KEY_BYTES = 32;
const KEY_HINT = '32 random bytes in base64, such as `openssl rand -base64 32` prints';
/** The link that the kubelet exchanges when a mounted Secret changes. */
const KUBELET_LINK = '..data';
/** What a key of a Secret may be called (IsConfigMapKey of Kubernetes). */
const KEY_ID = /^[-._a-zA-Z0-9]{1,253}$/;

export interface CodecKeys {
  /** The id of the key with which is encrypted; undefined: nothing is. */
  readonly active: string | undefined;
  readonly byId: ReadonlyMap<string, KeyObject>;
  /** Equal for equal contents; reveals nothing of them. */
  readonly digest: string;
}

/** Whether the id of a key has the form of one: what is not is no text for a message. */
export function isKeyId(id: string): boolean {
  return KEY_ID.test(id);
}

/**
 * Reads all of them, in one state of the Secret.
 * @param folder each file is a key: its name is the id, its content 32 bytes in base64; the file `active` contains the id of one,
 *   or `none`
 * @throws an error that names the file and what to do, and nothing of what it holds
 */
export function readCodecKeys(folder: string): CodecKeys {
  const state = presentState(folder);
  // Hidden files are the kubelet's own.
  const names = listed(folder, state).filter(name => !name.startsWith('.') && isKeyId(name));
  const byId = new Map<string, KeyObject>();
  const hash = createHash('sha256');
  for (const name of names.filter(each => each !== ACTIVE_FILE).sort()) {
    const key = parse(join(folder, name), read(folder, state, name));
    byId.set(name, createSecretKey(key));
    hash.update(`${name}:`).update(key);
  }
  const active = activeOf(folder, state, byId);
  return { active, byId, digest: hash.update(active ?? '').digest('hex') };
}

function activeOf(folder: string, state: string, keys: ReadonlyMap<string, KeyObject>): string | undefined {
  const file = join(folder, ACTIVE_FILE);
  const id = read(folder, state, ACTIVE_FILE).toString().trim();
  if (id === NONE) return undefined;
  if (id === '' || !isKeyId(id))
    throw new Error(`${file} contains no key id: write the name of a key file, or ${NONE}`);
  if (keys.has(id)) return id;
  throw new Error(`${file} names the key ${id}, and ${folder} has no such file: add it, or name another key`);
}

/** Files of a mounted Secret are exchanged together: a reader who follows the one link reads one state of it. */
function presentState(folder: string): string {
  try {
    return realpathSync(join(folder, KUBELET_LINK));
  } catch {
    return folder;
  }
}

function listed(folder: string, state: string): string[] {
  try {
    return readdirSync(state);
  } catch (error) {
    throw new Error(`${folder} cannot be read: ${codeOf(error)}; mount the Secret with the keys there`);
  }
}

function read(folder: string, state: string, name: string): Buffer {
  try {
    return readFileSync(join(state, name));
  } catch (error) {
    const hint = name === ACTIVE_FILE ? '; write there the name of the key that encrypts, or none' : '';
    throw new Error(`${join(folder, name)} cannot be read: ${codeOf(error)}${hint}`);
  }
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? 'unknown error';
}

function parse(file: string, content: Buffer): Buffer {
  const text = content.toString('latin1').trim();
  const key = Buffer.from(text, 'base64');
  if (key.toString('base64') !== text) throw new Error(`${file} is not base64: write ${KEY_HINT}`);
  if (key.length === KEY_BYTES) return key;
  throw new Error(`${file} contains ${key.length} bytes: write ${KEY_HINT}`);
}
