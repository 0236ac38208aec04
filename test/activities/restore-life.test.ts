import { describe, expect, it } from 'vitest';
import { RestoreWorld } from '../support/restore-world.ts';

describe('a restore in place', () => {
  it('puts the backup under the old name, with new members, and keeps the old claims', async () => {
    const world = await RestoreWorld.withCluster();
    const before = world.cluster.status.clusterID ?? '';
    world.request({ confirmClusterID: before });
    await world.settle();
    expect(world.restore).toMatchObject({
      phase: 'Succeeded',
      succeeded: true,
      revision: 1_000_000_042,
      previousIncarnation: { claims: ['example-0', 'example-1', 'example-2'] },
    });
    const { status } = world.cluster;
    expect(status.clusterID).toBe(world.restore.clusterID);
    expect(status.clusterID).not.toBe(before);
    expect(status.members?.ready).toEqual(['example-3', 'example-4', 'example-5']);
    expect(world.names('PersistentVolumeClaim')).toEqual(
      [0, 1, 2, 3, 4, 5].map(serial => `example-${serial}`),
    );
    expect(world.names('Service')).toEqual(['example', 'example-client']);
  });
});
