/**
 * What the replica that watches leaves on the Lease for the next one: up to where everything has been told. It counts only between
 * replicas of one program with one configuration: another one may find something to do where nothing has changed.
 */
import { createHash, randomUUID } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { canonical } from '../../api/values/canonical.ts';
import type { TakenLease } from '../../kube/lease.ts';
import type { Positions } from '../../watcher/queue/told-through.ts';
import type { Config } from '../config/config.ts';

const ANNOTATION = 'etcd.database.coreos.com/told';
const NUMBER = /^\d{1,20}$/;

type Annotations = Readonly<Record<string, string>>;

/** Nothing has been told, which is known: everything is to be told, once. */
export const NOTHING_TOLD: Positions = {};

/** The annotations that say it. */
export function noteOf(program: string, through: Positions): Annotations {
  return { [ANNOTATION]: JSON.stringify({ program, through }) };
}

/** What another replica of this program has left; undefined: nothing that counts. */
function readNote(program: string, { [ANNOTATION]: text = '' }: Annotations): Positions | undefined {
  const note = parsed(text);
  if (note?.program !== program || typeof note.through !== 'object' || note.through === null)
    return undefined;
  const entries = Object.entries(note.through);
  const isWhole = entries.every(([, version]) => typeof version === 'string' && NUMBER.test(version));
  return isWhole ? (note.through as Positions) : undefined;
}

/**
 * Up to where other replicas of this program have told everything; undefined: nobody knows, and a replica of another program may still be
 * at work. Where nobody has held the Lease before, no other one is.
 */
export function toldBefore(program: string, { annotations, transitions }: TakenLease): Positions | undefined {
  if (annotations[ANNOTATION] === undefined && transitions === 0) return NOTHING_TOLD;
  return readNote(program, annotations);
}

function parsed(text: string): { readonly program?: unknown; readonly through?: unknown } | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Equal for replicas that would do the same: the compiled files that run, and the settings apart from those of the one pod. Of sources,
 * which somebody edits between two starts, it is never equal.
 * @param folder where the compiled files lie, beside workflow-bundle.js one folder up; undefined: sources run
 * @throws when a file cannot be read
 */
export async function programOf(config: Config, folder: string | undefined): Promise<string> {
  if (folder === undefined) return randomUUID();
  const { pod: _, ports: __, inCluster: ___, redact: ____, ...settings } = config;
  const hash = createHash('sha256').update(canonical(settings));
  const files = (await readdir(folder)).filter(name => name.endsWith('.js')).toSorted();
  for (const name of [...files, '../workflow-bundle.js'])
    hash.update(name).update(await readFile(join(folder, name)));
  return hash.digest('base64url');
}
