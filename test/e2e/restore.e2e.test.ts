/** Restores by the deployed operator: in place over a cluster that lives, and into a new cluster. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { contradictions, startJournal, watchFrom } from '../stack/drill/journal.ts';
import { readyEndpoints } from '../stack/drill/endpoints.ts';
import { readValues } from '../stack/drill/stored.ts';
import {
  awaitCondition,
  awaitRunning,
  claimsOf,
  createNamespace,
  leaveNamespace,
  manifest,
  openWorld,
  readCluster,
  type World,
} from '../stack/e2e.ts';
import { poll } from '../stack/poll.ts';
import { BACKUP_CLAIM, Restores } from '../stack/restores.ts';

const NAMESPACE = 'restore';
const CLUSTER = 'example';
const VERSION = '3.6.16';
const BUMP = 1_000_000_000;
const at = { namespace: NAMESPACE, name: CLUSTER };

let world: World;
let restores: Restores;
beforeAll(async () => {
  world = await openWorld();
  restores = new Restores(world, NAMESPACE);
  await createNamespace(world, NAMESPACE);
  await world.kube.apply(manifest(NAMESPACE, CLUSTER, { size: 3, version: VERSION }));
  await restores.createClaim();
  await awaitRunning(world, at, 200_000);
}, 240_000);
afterAll(() => leaveNamespace(world, NAMESPACE));

describe('a restore', () => {
  it('brings back what the backup holds, under the old name; then one of the quiet cluster, whose keys are counted, fills a new one', async () => {
    const client = startJournal(world, at, 'journal');
    try {
      await poll(async () => client.written().length > 100, { timeoutMs: 60_000 });
      const { revision = 0 } = await restores.backUp('once', CLUSTER);
      await poll(async () => (client.written().at(-1)?.revision ?? 0) > revision + 20, { timeoutMs: 60_000 });
      const before = await readCluster(world, NAMESPACE, CLUSTER);
      await restores.begin('back', {
        etcdCluster: { name: CLUSTER },
        backupRef: { name: 'once', at: 'Latest' },
        confirmClusterID: before?.status?.clusterID ?? '',
      });
      const { status } = await restores.ended('back');
      expect(status).toMatchObject({ phase: 'Succeeded', succeeded: true });
      expect(status?.revision).toBeGreaterThanOrEqual(revision + BUMP);
      const after = await awaitRunning(world, at);
      expect(after.status?.clusterID).toBe(status?.clusterID);
      expect(after.status?.clusterID).not.toBe(before?.status?.clusterID);
      await poll(async () => (client.written().at(-1)?.revision ?? 0) > revision + BUMP, {
        timeoutMs: 60_000,
      });

      // The backup that was restored is what the cluster holds, whatever its id is now.
      await poll(
        async () => {
          const found = await readCluster(world, NAMESPACE, CLUSTER);
          const reported = found?.status?.conditions?.find(({ type }) => type === 'BackedUp');
          return (
            (reported?.status === 'True' &&
              reported.message.includes('from which the cluster was restored')) ||
            undefined
          );
        },
        { timeoutMs: 60_000 },
      );

      const written = await client.stop();
      const restored = { revision, bump: BUMP };
      for (const endpoint of await readyEndpoints(world, NAMESPACE, CLUSTER)) {
        expect(contradictions(written, await readValues(endpoint, client.prefix), restored)).toEqual([]);
        // Somebody who watched until the end of the old cluster, and continues from there.
        const seen = written.findLast(write => write.revision < BUMP)?.revision ?? 0;
        expect(seen).toBeGreaterThan(revision);
        const reported = await watchFrom(endpoint, { prefix: client.prefix, revision: seen + 1 });
        expect(reported).toMatch(/"compact_revision":"1000\d+"/);
      }
    } finally {
      await client.stop();
    }
    const claims = (await claimsOf(world, NAMESPACE, CLUSTER)).map(({ metadata }) => metadata.name);
    expect(claims.toSorted()).toEqual([0, 1, 2, 3, 4, 5].map(serial => `${CLUSTER}-${serial}`));

    const { keys = 0 } = await restores.backUp('quiet', CLUSTER);
    expect(keys).toBeGreaterThan(100);
    await restores.begin('clone', {
      etcdCluster: { name: 'clone' },
      backupStorageType: 'File',
      file: { claim: BACKUP_CLAIM, path: 'etcd/quiet' },
      clusterTemplate: { size: 1, version: VERSION },
    });
    const { status: cloned } = await restores.ended('clone');
    expect(cloned).toMatchObject({ phase: 'Succeeded', succeeded: true, source: { keys } });
    const clone = await readCluster(world, NAMESPACE, 'clone');
    expect(clone?.status?.incarnation?.restore).toMatchObject({ keys });
    await awaitCondition(world, { namespace: NAMESPACE, name: 'clone' }, { type: 'Available' });
    const first = client.written()[0];
    expect(await restores.etcdctl('clone', 'get', first?.key ?? '', '--print-value-only')).toBe(first?.value);
  }, 480_000);
});
