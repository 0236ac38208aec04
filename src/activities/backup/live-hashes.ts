/** What a member says of its data, to compare a backup with: hashes at one revision. */
import type { LiveHashes } from '../../api/derived/backup-manifest.ts';
import { messageOf } from '../../api/values/message-of.ts';
import { openSource, type SnapshotSource } from './source.ts';
import type { Run } from './run.ts';

type Hash = LiveHashes['hashes'][number];

/** What the member says of its data. A backup is a backup also where it says nothing: it is then compared with nothing. */
export async function liveHash(
  { deps }: Pick<Run, 'deps'>,
  { member }: Pick<SnapshotSource, 'member'>,
  revision: string,
): Promise<Hash | undefined> {
  try {
    const { hash, compactRevision } = await member.hashKv(revision);
    return { hash, compactRevision };
  } catch (error) {
    deps.logger.info('no hash of the data to compare the backup with', { error: messageOf(error) });
    return undefined;
  }
}

/** What a manifest holds of them; undefined where nothing is known. */
export function liveOf(
  revision: string,
  hashes: readonly (Hash | undefined)[] | undefined,
): LiveHashes | undefined {
  const known = (hashes ?? []).filter(hash => hash !== undefined);
  return known.length === 0 ? undefined : { revision, hashes: known };
}

/** The hash that the cluster has at a revision; undefined where it is another one, has compacted it away, or nobody says. */
export async function hashNow(
  run: Run,
  { revision, clusterId }: { readonly revision: string; readonly clusterId: string | undefined },
): Promise<LiveHashes | undefined> {
  const source = await openSource(run.deps, run.folder.backup);
  try {
    if (source.clusterId !== clusterId) return undefined;
    return liveOf(revision, [await liveHash(run, source, revision)]);
  } finally {
    source.member.close();
  }
}
