/** The recovery of a quorum with the operator killed on the way. */
import { describe, expect, it } from 'vitest';
import { API_VERSION } from '../../src/api/names.ts';
import { approved, expectRecovered, LEFT, lost } from '../worlds/recovered.ts';
import { killedAtWrites } from '../worlds/restored.ts';

describe('a recovery', () => {
  it('is done once when the operator is killed at any of its writes', async () => {
    await killedAtWrites(
      {
        begin: approved,
        async end(world) {
          await world.settle();
          expectRecovered(world, world.cluster.status.members?.ready);
          expect(world.cluster.status.members?.ready).toHaveLength(3);
        },
      },
      2,
    );
  });

  it('is asked for once when the operator is killed at any call on the way to it', async () => {
    const whole = await lost();
    whole.requestRecovery();
    const before = whole.calls;
    await whole.drive({}, { after: step => step === 'requestRecovery' });
    for (let at = before + 1; at <= whole.calls; at += 1) {
      const world = await lost();
      world.requestRecovery();
      world.kill({ at, arrives: () => at % 2 === 0 });
      await world.runUntilKilled();
      await world.runCluster();
      expect(world.names('EtcdRestore'), `killed at call ${at}`).toHaveLength(1);
      const ref = {
        apiVersion: API_VERSION,
        kind: 'EtcdRestore',
        namespace: 'shop',
        name: world.names('EtcdRestore')[0] ?? '',
      };
      expect(world.kube.peek(ref)?.['spec']).toMatchObject({ survivor: { member: LEFT } });
    }
  });
});
