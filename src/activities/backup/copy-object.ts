/** One backup, from the first store to the second: sent, read back from end to end, and only then described and recorded. */
import { createHash } from 'node:crypto';
import type { BackupManifest } from '../../api/derived/backup-manifest.ts';
import { serverOf } from '../../api/derived/backup-names.ts';
import type { BackupEntry } from '../../api/schemas/types.ts';
import { timestamp } from '../../api/values/time.ts';
import { placeOfCopy } from '../../planner/backup/second-store.ts';
import type { Store } from '../../store/port.ts';
import { isExists, readManifest, writeManifest, writerOf } from './catalogue.ts';
import { asFirst, atFirst, atSecond, CopyError } from './copy-failure.ts';
import { type Copying, recordStatus } from './copying.ts';
import { resumed } from './examined-object.ts';

/** Copies one backup, reads the copy from end to end, and only then describes it and says that it is there. */
export async function copyOne(copying: Copying, from: Store, entry: BackupEntry): Promise<void> {
  const { backup, to, options } = copying;
  const place = placeOfCopy(backup, entry);
  if (place === undefined) return;
  const { key, copyKey, location } = place;
  const manifest = await atFirst(() => readManifest(from, key, options), true);
  if (manifest === undefined || manifest.backup.uid !== backup.metadata.uid)
    throw new CopyError(
      'FirstStoreUnreadable',
      `the manifest of ${entry.location} is missing, cannot be understood or names another EtcdBackup, so the backup is not copied`,
      true,
    );
  const sha256 = entry.sha256 ?? manifest.entry.sha256;
  if (sha256 === undefined)
    throw new CopyError(
      'FirstStoreUnreadable',
      `no SHA-256 of ${entry.location} is recorded, so nothing shows that a copy has its bytes`,
      true,
    );
  if ((await atSecond(() => to.store.head(copyKey, options))) === undefined)
    await send(copying, { from, key, copyKey, sha256, entry });
  await readBack(copying, { copyKey, location, sha256, size: entry.size });
  const copy: BackupManifest = {
    ...manifest,
    entry: { ...withoutServer(manifest.entry), location, ...serverOf(to.backup.spec) },
  };
  await atSecond(() =>
    writeManifest(to.store, copyKey, { manifest: copy, options }).then(refuseOther(location)),
  );
  await recordCopied(copying, entry, location);
}

function withoutServer(described: BackupEntry): BackupEntry {
  const { endpoint: _, region: __, ...entry } = described;
  return entry;
}

/** The manifest that was found may be one that somebody copied there together with its object. */
function refuseOther(location: string): (there: BackupManifest) => void {
  return ({ entry }) => {
    if (entry.location === location) return;
    throw new CopyError(
      'ObjectDiffers',
      `the manifest beside ${location} describes ${entry.location}: it is not overwritten. Move it and the object away, or name another path in spec.secondStore`,
      true,
    );
  };
}

/** Streams the object. What the first store sends must be what was recorded: else nothing appears in the second one. */
async function send(
  copying: Copying,
  {
    from,
    key,
    copyKey,
    sha256,
    entry,
  }: {
    readonly from: Store;
    readonly key: string;
    readonly copyKey: string;
    readonly sha256: string;
    readonly entry: BackupEntry;
  },
): Promise<void> {
  const { to, options, heartbeatDetails, backup } = copying;
  const hash = createHash('sha256');
  let bytes = 0;
  async function* checked(): AsyncGenerator<Uint8Array> {
    try {
      for await (const chunk of resumed(from, key, options)) {
        hash.update(chunk);
        bytes += chunk.length;
        Object.assign(heartbeatDetails, { bytes, total: entry.size ?? bytes });
        yield chunk;
      }
    } catch (error) {
      throw asFirst(error, true);
    }
    const found = hash.digest('hex');
    if (found === sha256) return;
    throw new CopyError(
      'FirstStoreUnreadable',
      `${entry.location} has the SHA-256 ${found}, and ${sha256} is recorded: it is not copied`,
      true,
    );
  }
  const writer = writerOf(backup, entry.time, 'copy');
  try {
    await atSecond(() => to.store.put(copyKey, checked(), { ...options, writer }));
  } catch (error) {
    // Another attempt, taken for dead, was first: what it has written is read back like everything else.
    if (!(error instanceof CopyError) || !isExists(error.cause)) throw error;
  }
}

/** The bytes of the second store prove what it has, and nothing else does. */
export async function readBack(
  { to: { store }, options }: Copying,
  {
    copyKey,
    location,
    sha256,
    size,
  }: {
    readonly copyKey: string;
    readonly location: string;
    readonly sha256: string;
    readonly size: number | undefined;
  },
): Promise<void> {
  const hash = createHash('sha256');
  let bytes = 0;
  await atSecond(async () => {
    for await (const chunk of resumed(store, copyKey, { ...options, transient: true })) {
      hash.update(chunk);
      bytes += chunk.length;
    }
  });
  const found = hash.digest('hex');
  if (found === sha256 && (size === undefined || size === bytes)) return;
  throw new CopyError(
    'ObjectDiffers',
    `${location} is there with ${bytes} bytes and the SHA-256 ${found}, and the backup has ${size ?? 'unknown'} bytes and ${sha256}: it is not overwritten. Move it away, or name another path in spec.secondStore`,
    true,
  );
}

async function recordCopied({ deps, ref, to }: Copying, entry: BackupEntry, location: string): Promise<void> {
  const verifiedAt = timestamp(deps.now());
  const secondStore = { location, ...serverOf(to.backup.spec), verifiedAt };
  await recordStatus(deps, ref, status => ({
    ...status,
    history: (status.history ?? []).map(each =>
      each.location === entry.location && each.sha256 === entry.sha256 ? { ...each, secondStore } : each,
    ),
  }));
}
