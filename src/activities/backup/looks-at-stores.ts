/** Which of the two stores has what the status says, as their listings show. */
import { placeOf } from '../../api/derived/backup-names.ts';
import type { BackupEntry } from '../../api/schemas/types.ts';
import { copyOf, placeOfCopy } from '../../planner/backup/second-store.ts';
import { type Store, StoreError } from '../../store/port.ts';
import { listOurs } from './catalogue.ts';
import { asFirst, atSecond } from './copy-failure.ts';
import { type Copying, recordStatus } from './copying.ts';

/** What the second store has no more is said no more. */
export async function lookAtSecond(copying: Copying): Promise<void> {
  const { deps, ref, to, options } = copying;
  const { entries } = await atSecond(() => listOurs(to, options));
  const isThere = (copy: string, { sha256 }: BackupEntry) =>
    entries.some(entry => entry.location === copy && (sha256 === undefined || entry.sha256 === sha256));
  await recordStatus(deps, ref, (status, { backup }) => ({
    ...status,
    history: (status.history ?? []).flatMap(entry => {
      const copy = copyOf(backup, entry);
      if (copy === undefined || isThere(copy.location, entry)) return [entry];
      const { secondStore: _, heldIn, ...kept } = entry;
      // Neither of the two has it any more.
      return heldIn === 'Second' ? [] : [kept];
    }),
  }));
}

/** Of what is copied: whether the first store still has it. A bucket that does not exist has nothing. */
export async function lookAtFirst({ deps, ref, backup, options }: Copying, from: Store): Promise<void> {
  const place = placeOf(backup.spec);
  if (place === undefined) return;
  const there = new Set<string>();
  try {
    for await (const { key } of from.list(place.key, options)) there.add(key);
  } catch (error) {
    if (!(error instanceof StoreError) || error.code !== 'no-bucket') throw asFirst(error, false);
  }
  await recordStatus(deps, ref, (status, { backup: now }) => ({
    ...status,
    history: (status.history ?? []).map(entry => {
      const key = copyOf(now, entry) && placeOfCopy(now, entry)?.key;
      if (key === undefined) return entry;
      return { ...entry, heldIn: there.has(key) ? ('Both' as const) : ('Second' as const) };
    }),
  }));
}
