/** What one EtcdBackup has in its store: objects with a manifest that names it. Names alone prove nothing. */
import { createHash } from 'node:crypto';
import type { BackupCompression } from '../../api/defaults/etcd-backup.ts';
import { type BackupManifest, parseManifest } from '../../api/derived/backup-manifest.ts';
import {
  isOfRun,
  locationOf,
  manifestKey,
  nextManifestKey,
  objectKeyOf,
  periodicPrefix,
  placeOf,
  serverOf,
  type StorePlace,
} from '../../api/derived/backup-names.ts';
import type { EtcdBackup } from '../../api/schemas/types.ts';
import { TrailerCheck } from '../../etcd/verified-snapshot.ts';
import { type CallOptions, type Store, type StoredObject, StoreError } from '../../store/port.ts';
import { decompressed } from './codec.ts';

/** A manifest is a few hundred bytes; what is larger is something else. */
const LARGEST_MANIFEST = 64 * 1024;

/** An opened store and where in it a backup lies. */
export interface BackupFolder {
  readonly store: Store;
  readonly place: StorePlace;
  readonly backup: EtcdBackup;
  readonly isPeriodic: boolean;
}

/** Throws `invalid` when the specification names no place. */
export function folderOf(store: Store, backup: EtcdBackup, isPeriodic: boolean): BackupFolder {
  const place = placeOf(backup.spec);
  if (place === undefined) throw new StoreError('invalid', 'the specification contains no path in a store');
  return { store, place, backup, isPeriodic };
}

/** A key of the folder, as status names it. */
export function locationOn({ place, backup }: BackupFolder, key: string): string {
  return locationOf(backup.spec, { ...place, key });
}

/**
 * The manifest beside an object; undefined when there is none that can be understood. While one is replaced by another, or when that was
 * interrupted, the other alone may be there.
 */
export async function readManifest(
  store: Store,
  objectKey: string,
  options: CallOptions,
): Promise<BackupManifest | undefined> {
  const manifest = await readManifestAt(store, manifestKey(objectKey), options);
  if (manifest !== undefined) return manifest;
  return readManifestAt(store, nextManifestKey(objectKey), options);
}

/** As {@link readManifest}, of exactly this key. */
export async function readManifestAt(
  store: Store,
  key: string,
  options: CallOptions,
): Promise<BackupManifest | undefined> {
  try {
    const { size, body } = await store.get(key, options);
    if (size > LARGEST_MANIFEST) return undefined;
    const chunks: Uint8Array[] = [];
    for await (const chunk of body) chunks.push(chunk);
    return parseManifest(Buffer.concat(chunks).toString('utf8'));
  } catch (error) {
    if (error instanceof StoreError && error.code === 'not-found') return undefined;
    throw error;
  }
}

/** Writes the manifest beside its object, and answers what is there: an earlier attempt of the same run may have been first. */
export async function writeManifest(
  store: Store,
  objectKey: string,
  written: { readonly manifest: BackupManifest; readonly options: CallOptions; readonly at?: string },
): Promise<BackupManifest> {
  const { manifest, options, at = manifestKey(objectKey) } = written;
  try {
    await store.put(at, bytesOf(`${JSON.stringify(manifest, null, 2)}\n`), options);
    return manifest;
  } catch (error) {
    if (!isExists(error)) throw error;
    const there = await readManifestAt(store, at, options);
    if (there?.backup.uid !== manifest.backup.uid || there.startedAt !== manifest.startedAt) throw error;
    return there;
  }
}

/** Deletes an object. False: the store lets nobody delete it yet. */
export async function deleteUnlessLocked(store: Store, key: string, options: CallOptions): Promise<boolean> {
  try {
    await store.delete(key, options);
    return true;
  } catch (error) {
    if (error instanceof StoreError && error.code === 'locked') return false;
    throw error;
  }
}

/** Whether a call was refused because there is an object of that key. */
export function isExists(error: unknown): boolean {
  return error instanceof StoreError && error.code === 'exists';
}

async function* bytesOf(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}

/** Whether a manifest says that this very resource wrote the object. */
function isOurs(manifest: BackupManifest | undefined, { metadata }: EtcdBackup): boolean {
  return manifest?.backup.uid === metadata.uid;
}

/** What an earlier attempt of the run has left: `whole` has its manifest, `bare` has none yet, and is of that cluster. */
export type Found =
  | { readonly kind: 'whole'; readonly key: string; readonly manifest: BackupManifest }
  | { readonly kind: 'bare'; readonly key: string; readonly clusterId: string }
  | { readonly kind: 'nothing' };

/** Looks for what an earlier attempt of the run that began then has written. Throws `exists` for somebody else's object. */
export async function findWritten(
  folder: BackupFolder,
  startedAt: string,
  options: CallOptions,
): Promise<Found> {
  const { store, place } = folder;
  const objects = folder.isPeriodic
    ? await objectsOfRun(folder, startedAt, options)
    : [await store.head(place.key, options)].filter(object => object !== undefined);
  for (const object of objects) {
    const manifest = await readManifest(store, object.key, options);
    // Neither name nor time says whose it is: another resource may write to the same path.
    const found =
      manifest === undefined
        ? await described(folder, { object, startedAt }, options)
        : writtenAs(folder, { key: object.key, manifest, startedAt });
    if (found !== undefined) return found;
  }
  const [other] = objects;
  if (other === undefined || folder.isPeriodic) return { kind: 'nothing' };
  throw new StoreError(
    'exists',
    `${locationOn(folder, other.key)} already exists (modified at ${other.modifiedAt}) and is not overwritten: choose another path, or move the object`,
  );
}

interface Manifested {
  readonly key: string;
  readonly manifest: BackupManifest;
  readonly startedAt: string;
}

/** An object with a manifest of ours: of this run, or the single backup that the status names, whose server has got another name. */
function writtenAs(
  { backup, isPeriodic }: BackupFolder,
  { key, manifest, startedAt }: Manifested,
): Found | undefined {
  if (!isOurs(manifest, backup)) return undefined;
  if (manifest.startedAt === startedAt) return { kind: 'whole', key, manifest };
  const { location, sha256, verified = '' } = manifest.entry;
  const known = backup.status?.history?.find(entry => entry.location === location);
  if (isPeriodic || verified === '' || sha256 === undefined || known?.sha256 !== sha256) return undefined;
  const entry = { ...manifest.entry, ...serverOf(backup.spec) };
  return { kind: 'whole', key, manifest: { ...manifest, entry } };
}

/** An object without a manifest that bears the mark of the run. */
async function described(
  { store, backup, isPeriodic }: BackupFolder,
  { object, startedAt }: { readonly object: StoredObject; readonly startedAt: string },
  options: CallOptions,
): Promise<Found | undefined> {
  // A listing does not say who wrote it.
  const { writer = '' } = (isPeriodic ? await store.head(object.key, options) : object) ?? {};
  const mark = writerOf(backup, startedAt, '');
  if (!writer.startsWith(mark)) return undefined;
  return { kind: 'bare', key: object.key, clusterId: writer.slice(mark.length) };
}

async function objectsOfRun(
  { store, place }: BackupFolder,
  startedAt: string,
  options: CallOptions,
): Promise<readonly StoredObject[]> {
  const found: StoredObject[] = [];
  for await (const object of store.list(periodicPrefix(place.key), options)) {
    if (isOfRun(object.key, place.key, startedAt)) found.push(object);
  }
  return found;
}

/**
 * What a run's object is known by before its manifest is there: the run of this very resource, and no other, and at its end the id
 * of the cluster that it is of. That may be another one by the time that somebody else describes it.
 */
export function writerOf({ metadata }: EtcdBackup, startedAt: string, clusterId: string): string {
  const run = createHash('sha256').update(`${metadata.uid} ${startedAt}`).digest('hex').slice(0, 32);
  return `${run}-${clusterId}`;
}

/** What the bytes of an object prove. */
export interface ObjectProof {
  /** Bytes of the object, and of the snapshot in it. */
  readonly size: number;
  readonly snapshotSize: number;
  /** Of the object, and of the database in it. */
  readonly sha256: string;
  readonly databaseSha256: string;
}

/** Reads an object from end to end and checks it. Throws `EtcdError` `corrupt` when it is no whole snapshot. */
export async function proveObject(
  store: Store,
  key: string,
  { compression, ...options }: CallOptions & { readonly compression: BackupCompression },
): Promise<ObjectProof> {
  // What is only hashed is not kept; a decompressor keeps what it has not come to.
  const transient = compression === 'none' ? true : undefined;
  const { size, body } = await store.get(key, { ...options, transient });
  const check = new TrailerCheck();
  if (compression === 'none') {
    for await (const chunk of body) check.take(chunk);
    const { sha256, wholeSha256, size: snapshotSize } = check.end();
    return { size, snapshotSize, sha256: wholeSha256, databaseSha256: sha256 };
  }
  const whole = createHash('sha256');
  async function* hashed(): AsyncGenerator<Uint8Array> {
    for await (const chunk of body) {
      whole.update(chunk);
      yield chunk;
    }
  }
  for await (const chunk of decompressed(hashed(), compression)) check.take(chunk);
  const { sha256, size: snapshotSize } = check.end();
  return { size, snapshotSize, sha256: whole.digest('hex'), databaseSha256: sha256 };
}

/**
 * What the manifests say of all objects that this resource wrote, and manifests of its whose object is gone. A copy that somebody made of
 * an object and its manifest describes the original: it is nobody's.
 */
export async function listOurs(
  folder: BackupFolder,
  options: CallOptions,
): Promise<{ readonly entries: readonly BackupManifest['entry'][]; readonly orphans: readonly string[] }> {
  const { store, place, backup } = folder;
  const keys = new Set<string>();
  const prefix = folder.isPeriodic ? periodicPrefix(place.key) : place.key;
  for await (const { key } of store.list(prefix, options)) keys.add(key);
  const entries: BackupManifest['entry'][] = [];
  const orphans: string[] = [];
  for (const key of keys) {
    const objectKey = objectKeyOf(key);
    // One that is to replace another counts while the other is not there.
    if (objectKey === undefined || (key !== manifestKey(objectKey) && keys.has(manifestKey(objectKey))))
      continue;
    // One that is to replace another is complete, and stays beside it where the store lets nobody delete that.
    const next = nextManifestKey(objectKey);
    const newest = keys.has(next) ? await readManifestAt(store, next, options) : undefined;
    const manifest = newest ?? (await readManifest(store, objectKey, options));
    if (manifest === undefined || !isOurs(manifest, backup)) continue;
    if (manifest.entry.location !== locationOn(folder, objectKey)) continue;
    // A listing may have been read before the object was there: its manifest is all that says whose it is.
    const isThere = keys.has(objectKey) || (await store.head(objectKey, options)) !== undefined;
    if (isThere) entries.push(manifest.entry);
    else orphans.push(key);
  }
  return { entries, orphans };
}

/** The key of a location on this folder; undefined when it lies elsewhere. */
export function keyOn(folder: BackupFolder, location: string): string | undefined {
  const prefix = locationOf(folder.backup.spec, { ...folder.place, key: '' });
  return location.startsWith(prefix) ? location.slice(prefix.length) : undefined;
}
