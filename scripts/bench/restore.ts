/**
 * How fast a snapshot becomes a member's data as a restore does it (examined, brought to the pod with the volume, unpacked there by
 * etcdutl), beside etcdutl on the same file, and what memory that takes. Needs no stack.
 */
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CLAIM_STORE_HOST } from '../../src/objects/claim-store.ts';
import { SNAPSHOT_KEY } from '../../src/objects/seed-pod.ts';
import { createAuthority, issueLeaf } from '../../src/tls/issue.ts';
import { asClaimStore, asOperator, type Taken } from './as-operator.ts';
import type { Row } from './figures.ts';
import {
  REPETITIONS,
  restoreWithEtcdutl,
  saveWithEtcdctl,
  timed,
  transferRows,
  withFilled,
  withFolder,
} from './filled.ts';

const SNAPSHOT = 'snapshot';

/** Rows of seconds and of memory for a database of that many MiB, in turns with etcdutl. Leaves nothing behind. */
export function measureRestore(mebibytes: number): Promise<readonly Row[]> {
  return withFolder('restore', async folder => {
    await withFilled(mebibytes, target => saveWithEtcdctl(target, join(folder, SNAPSHOT)));
    return restoreOnto(folder, mebibytes);
  });
}

async function restoreOnto(folder: string, mebibytes: number): Promise<readonly Row[]> {
  const volume = join(folder, 'volume');
  await mkdir(volume);
  const { authority, identity } = await certificates(folder);
  const pod = await asClaimStore(volume, ...identity);
  try {
    const ours: Taken[] = [];
    const etcdutl: number[] = [];
    for (let repetition = 0; repetition < REPETITIONS; repetition += 1) {
      const data = join(folder, 'data');
      etcdutl.push(await timed(() => restoreWithEtcdutl(join(folder, SNAPSHOT), data)));
      await rm(data, { recursive: true });
      const brought = await asOperator('bring', folder, SNAPSHOT, `${pod.port}`, authority);
      const unpacked = await timed(() => restoreWithEtcdutl(join(volume, SNAPSHOT_KEY), data));
      await rm(data, { recursive: true });
      await rm(join(volume, SNAPSHOT_KEY));
      ours.push({ ...brought, seconds: brought.seconds + unpacked });
    }
    return transferRows(`restore of ${mebibytes} MiB onto a volume`, ours, {
      what: 'etcdutl snapshot restore',
      measured: etcdutl,
    });
  } finally {
    pod.stop();
  }
}

/** Files: that of the authority, and certificate and key of the pod. */
async function certificates(
  folder: string,
): Promise<{ authority: string; identity: readonly [string, string] }> {
  const validity = { now: Date.now(), lasts: 3_600_000 };
  const authority = await createAuthority('bench', validity);
  const names = {
    commonName: 'bench',
    usages: ['server'],
    dnsNames: [CLAIM_STORE_HOST],
    addresses: [],
  } as const;
  const leaf = await issueLeaf(authority, names, validity);
  const write = async (name: string, text: string): Promise<string> => {
    await writeFile(join(folder, name), text);
    return join(folder, name);
  };
  return {
    authority: await write('ca.crt', authority.cert),
    identity: [await write('tls.crt', leaf.cert), await write('tls.key', leaf.key)],
  };
}
