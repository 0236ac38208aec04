/** The object that a restore is about: opened, examined from end to end, and read again with its checksum. */
import { createHash } from 'node:crypto';
import type { BackupCompression } from '../../api/defaults/etcd-backup.ts';
import { manifestKey } from '../../api/derived/backup-names.ts';
import type { BackupEntry, EtcdRestore } from '../../api/schemas/types.ts';
import { EtcdError } from '../../etcd/port.ts';
import { asksForUsers, type ReadAt, storageVersionOf } from '../../etcd/snapshot-facts.ts';
import { objectOf, type RestoreObject } from '../../planner/restore/backup-object.ts';
import type { RestoreSource } from '../../planner/model/restore-of-cluster.ts';
import { type CallOptions, type GetOptions, type Store, StoreError } from '../../store/port.ts';
import { proveObject, readManifest } from './catalogue.ts';
import { decompressed } from './codec.ts';
import type { Dependencies } from '../runtime/dependencies.ts';
import { preconditionChanged } from '../runtime/failures.ts';
import { readBackupOf } from '../resource/etcd-restore.ts';

/** An opened store and the object in it. The store is to be closed. */
export interface OpenedObject {
  readonly store: Store;
  readonly object: RestoreObject;
}

/**
 * Opens the store of the restore, with the credentials that its Secret holds.
 * @param begun where the object is, once the restore has begun with it
 */
export async function openObject(
  deps: Dependencies,
  restore: EtcdRestore,
  begun?: string,
): Promise<OpenedObject> {
  const object = objectOf(restore, await readBackupOf(deps.kube, restore), begun);
  if ('reason' in object) throw preconditionChanged(object.message);
  return openAt(deps, restore, object);
}

/** Opens the store that an object is in. */
export async function openAt(
  deps: Pick<Dependencies, 'openStore'>,
  { metadata, spec: restored }: EtcdRestore,
  object: RestoreObject,
): Promise<OpenedObject> {
  const store = await deps.openStore({ kind: 'EtcdRestore', metadata, spec: object.spec, restored });
  return { store, object };
}

/**
 * Reads all of the object and says what it is. Throws `EtcdError` `corrupt` for what is no whole snapshot, or another one than its
 * manifest says, or than was asked for.
 */
export async function examine(
  { store, object }: OpenedObject,
  { sha256, ...options }: CallOptions & { readonly sha256?: string | undefined },
): Promise<RestoreSource> {
  const { key, location } = object;
  if ((await store.head(key, options)) === undefined) {
    throw new StoreError('not-found', `${location} does not exist: correct the path`);
  }
  const manifest = await readManifest(store, key, options);
  const compression = manifest?.compression ?? 'none';
  const proof = await proven(store, key, { ...options, compression });
  const entry = manifest?.entry;
  refuseOther(sha256 ?? proof.sha256, { sha256: proof.sha256, location });
  if (entry !== undefined)
    refuseUnlike(entry, { sha256: proof.sha256, location, manifest: manifestKey(key) });
  const ranges = rangesOf(store, key, options);
  // Of compressed bytes no page can be read by itself. Who described an object that another one wrote did not know its version.
  const recorded = manifest?.snapshot.storageVersion ?? '';
  const isRead = recorded === '' && compression === 'none';
  const storageVersion = isRead ? await storageVersionOf(ranges) : recorded;
  const authEnabled = compression === 'none' && (await asksForUsers(ranges));
  return {
    location,
    size: proof.size,
    sha256: proof.sha256,
    snapshotSize: proof.snapshotSize,
    compression,
    ...(storageVersion !== '' && { storageVersion }),
    ...(authEnabled && { authEnabled }),
    ...(entry !== undefined && originOf(entry)),
  };
}

/** What a manifest says of where a backup comes from. */
function originOf({ revision, keys, etcdVersion, clusterID, time }: BackupEntry): Partial<RestoreSource> {
  return {
    ...(revision !== undefined && { revision }),
    ...(keys !== undefined && { keys }),
    ...(etcdVersion !== undefined && { etcdVersion }),
    ...(clusterID !== undefined && { clusterID }),
    ...(time !== undefined && { time }),
  };
}

/** Reads some bytes of an object that is not compressed. */
function rangesOf(store: Store, key: string, options: CallOptions): ReadAt {
  return async (offset, length) => {
    const { body } = await store.get(key, { ...options, offset });
    const chunks: Uint8Array[] = [];
    let size = 0;
    for await (const chunk of body) {
      chunks.push(chunk);
      size += chunk.length;
      if (size >= length) break;
    }
    return Buffer.concat(chunks).subarray(0, length);
  };
}

/** Another object than the one that was confirmed. */
export function refuseOther(
  confirmed: string,
  { sha256, location }: { readonly sha256: string; readonly location: string },
): void {
  if (sha256 === confirmed) return;
  const message = `${location} has the SHA-256 ${sha256}, but ${confirmed} was requested: it is another object than the one that was confirmed`;
  throw new EtcdError('corrupt', message);
}

/** A verification has found the backup bad, and so is every copy of it. */
export class FoundBad extends EtcdError {}

/** A backup that is not what its manifest describes, or that was found bad. */
export function refuseUnlike(
  { verified = '', sha256 }: BackupEntry,
  object: { readonly sha256: string; readonly location: string; readonly manifest: string },
): void {
  if (verified === '') {
    const message = `${object.manifest} records that its verification failed: restore another backup`;
    throw new FoundBad('corrupt', message);
  }
  if (sha256 !== undefined && sha256 !== object.sha256) {
    const message = `${object.location} has the SHA-256 ${object.sha256}, but ${object.manifest} records ${sha256}`;
    throw new EtcdError('corrupt', message);
  }
}

/** A damaged compressed object is as bad as a damaged plain one. */
async function proven(
  store: Store,
  key: string,
  options: CallOptions & { readonly compression: BackupCompression },
): ReturnType<typeof proveObject> {
  try {
    return await proveObject(store, key, options);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    if (!/^Z_|^ZSTD_|^ERR_ZLIB/.test(code)) throw error;
    throw new EtcdError('corrupt', `${store.location}/${key} cannot be decompressed: ${code}`);
  }
}

/** How often a download that breaks off is taken up again where it was, without a byte in between. */
const RESUMES = 5;

/** The snapshot in the object, decompressed. Its last step throws `corrupt` when the object is not the one that was examined. */
export function snapshotIn(
  { store, object }: { readonly store: Store; readonly object: Pick<RestoreObject, 'key'> },
  source: Pick<RestoreSource, 'location' | 'sha256' | 'compression'>,
  options: CallOptions,
): AsyncIterable<Uint8Array> {
  const hash = createHash('sha256');
  async function* checked(): AsyncGenerator<Uint8Array> {
    for await (const chunk of resumed(store, object.key, options)) {
      hash.update(chunk);
      yield chunk;
    }
    if (hash.digest('hex') !== source.sha256) {
      throw new EtcdError(
        'corrupt',
        `${source.location} has changed: its SHA-256 is no longer ${source.sha256}`,
      );
    }
  }
  return decompressed(checked(), source.compression);
}

/** An object from end to end: a download that breaks off is taken up again. */
export async function* resumed(store: Store, key: string, options: GetOptions): AsyncGenerator<Uint8Array> {
  let offset = 0;
  for (let barren = 0; ; ) {
    try {
      const { body } = await store.get(key, { ...options, offset });
      for await (const chunk of body) {
        offset += chunk.length;
        barren = 0;
        yield chunk;
      }
      return;
    } catch (error) {
      barren += 1;
      if (!(error instanceof StoreError) || !error.retry || barren > RESUMES) throw error;
    }
  }
}
