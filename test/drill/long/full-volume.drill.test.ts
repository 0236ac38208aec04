/**
 * The volume of a member that is full of files that etcd did not write: the member ends, it is said that this is not the quota of its database, and
 * it is back when the volumes are larger. The cluster is written to all the while, and operators are killed while the volumes grow.
 */
import { closeSync, openSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { expect, test } from 'vitest';
import type { EtcdClusterSpec } from '../../../src/api/schemas/types.ts';
import { DATA_DIR } from '../../../src/objects/etcd-arguments.ts';
import { dial } from '../../stack/drill/connection.ts';
import { leaderOf } from '../../stack/drill/drill.ts';
import { ASKING_FOR_CPU, drilledCluster } from '../../stack/drill/drilled.ts';
import { claimsOf, podsOf, readCluster, type World } from '../../stack/e2e.ts';
import { killOperators, memberProcesses } from '../../stack/operator-processes.ts';
import { poll } from '../../stack/poll.ts';
import { fill } from '../../stack/stack-keys.ts';

const SIZE = 3;
const PATIENCE_MS = 240_000;
const CHUNK = Buffer.alloc(1 << 20, 1);
/** More than what a segment of the log has room for, so that etcd has to begin another one. */
const MEBIBYTES = 80;

const having = (storage: string): EtcdClusterSpec => ({
  size: SIZE,
  pod: ASKING_FOR_CPU,
  etcd: { quotaBackendBytes: '192Mi' },
  storage: {
    volumeClaimTemplate: { spec: { storageClassName: 'sized', resources: { requests: { storage } } } },
  },
});
const cluster = drilledCluster('drill-full-volume', SIZE, having('600Mi'));
const { at, drill, world } = cluster;
const status = async () => (await readCluster(world(), at.namespace, at.name))?.status ?? {};

/** Writes a file beside etcd's until there is no room any more, from outside of the node. */
function fillVolume(where: World, member: string): void {
  const [pid = 0] = memberProcesses(where, at, member);
  const file = openSync(`/proc/${pid}/root${dirname(DATA_DIR)}/of-somebody-else`, 'w');
  try {
    for (;;) writeSync(file, CHUNK);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
  } finally {
    closeSync(file);
  }
}

test('reports a volume that foreign files have filled, distinct from a database at its quota, and recovers the member when the volumes grow', async () => {
  const { member: leader } = await leaderOf(world(), at);
  const pods = await podsOf(world(), at.namespace, at.name);
  const member = pods.map(({ metadata }) => metadata.name).find(name => name !== leader) ?? '';
  const { podIP = '' } = (pods.find(({ metadata }) => metadata.name === leader)?.['status'] ?? {}) as {
    podIP?: string;
  };
  const { verdict } = await drill('the volume of a follower is full', async () => {
    fillVolume(world(), member);
    const etcd = dial(`${podIP}:2379`);
    try {
      await fill(etcd, MEBIBYTES);
    } finally {
      etcd.close();
    }
    const said = await poll(
      async () => {
        const { conditions = [] } = await status();
        return conditions.find(
          ({ type, message }) => type === 'Healthy' && message?.includes('its volume') === true,
        )?.message;
      },
      { timeoutMs: PATIENCE_MS, otherwise: async () => JSON.stringify(await status(), null, 1) },
    );
    console.log(said);
    expect(said).toContain(member);
    expect(said).toContain('its volume of 600Mi is full, which is not the quota of its database');
    expect(said).toContain('files that etcd did not write fill it: enlarge spec.storage');
    await cluster.apply(having('1Gi'));
    await poll(async () => (await status()).operation !== undefined, { timeoutMs: PATIENCE_MS });
    killOperators(world());
    await poll(
      async () => {
        const claims = await claimsOf(world(), at.namespace, at.name);
        return claims.every(claim => (claim['status'] as Capacity).capacity?.storage === '1Gi');
      },
      { timeoutMs: PATIENCE_MS, otherwise: async () => JSON.stringify(await status(), null, 1) },
    );
  });
  expect(verdict.failedForGood).toBe(0);
}, 900_000);

interface Capacity {
  readonly capacity?: { readonly storage?: string };
}
