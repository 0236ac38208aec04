/**
 * What runs in the pod that takes over the data of a survivor (objects/survivor-pod.ts): it says in its termination message what the
 * data is, or why there is none. Usage: survivor.js <data> <volume> <revision>
 */
import { writeFile } from 'node:fs/promises';
import { copySurvivor } from './pods/survivor.ts';
import { findTools } from './pods/verification.ts';
import { messageOf } from '../api/values/message-of.ts';

const TERMINATION_LOG = '/dev/termination-log';
/** A termination message has 4 KiB. */
const LONGEST = 3_000;
const [, , data = '', volume = '', revision = ''] = process.argv;

for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => process.exit(1));
try {
  const { etcd } = await findTools();
  const facts = await copySurvivor({
    etcd,
    data,
    volume,
    revision: Number(revision),
    ports: { client: 2379, peer: 2380 },
  });
  await writeFile(TERMINATION_LOG, JSON.stringify(facts));
  process.exit(0);
} catch (error) {
  await writeFile(TERMINATION_LOG, messageOf(error).slice(-LONGEST));
  process.exit(1);
}
