/** How fast a snapshot goes into a file, beside etcdctl on the same member, and what memory that takes. Needs no stack. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { asOperator, type Taken } from './as-operator.ts';
import type { Row } from './figures.ts';
import { REPETITIONS, saveWithEtcdctl, timed, transferRows, withFilled, withFolder } from './filled.ts';

/** Rows of seconds and of memory for a database of that many MiB, in turns with etcdctl. Leaves nothing behind. */
export function measureBackup(mebibytes: number): Promise<readonly Row[]> {
  return withFolder('backup', folder =>
    withFilled(mebibytes, async target => {
      const ours: Taken[] = [];
      const etcdctl: number[] = [];
      for (let repetition = 0; repetition < REPETITIONS; repetition += 1) {
        const file = join(folder, 'etcdctl');
        etcdctl.push(await timed(() => saveWithEtcdctl(target, file)));
        await rm(file);
        ours.push(await asOperator('save', target.host, `${target.port}`, folder, 'ours'));
        await rm(join(folder, 'ours'));
      }
      return transferRows(`backup of ${mebibytes} MiB into a file`, ours, {
        what: 'etcdctl snapshot save',
        measured: etcdctl,
      });
    }),
  );
}
