/**
 * What runs before and after etcdutl on the volume of a restored member. `prepare` clears away what an attempt that was cut short
 * has left, and refuses to touch data that is finished; `finish` says that it is. Usage: seed.js prepare|finish <volume>
 */
import { open, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DONE_BEFORE, SNAPSHOT_KEY } from '../objects/seed-pod.ts';
import { messageOf } from '../api/values/message-of.ts';

const TERMINATION_LOG = '/dev/termination-log';
const [, , task = '', volume = ''] = process.argv;
const data = join(volume, 'data');
const marker = join(volume, 'restore', 'finished');
const snapshot = join(volume, SNAPSHOT_KEY);

const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );

async function prepare(): Promise<number> {
  if (await exists(marker)) {
    await writeFile(TERMINATION_LOG, DONE_BEFORE);
    return 3;
  }
  await rm(data, { recursive: true, force: true });
  return 0;
}

async function finish(): Promise<number> {
  const handle = await open(marker, 'w');
  await handle.sync();
  await handle.close();
  await rm(snapshot, { force: true });
  return 0;
}

try {
  process.exitCode = task === 'prepare' ? await prepare() : await finish();
} catch (error) {
  await writeFile(TERMINATION_LOG, messageOf(error)).catch(() => undefined);
  process.exitCode = 1;
}
