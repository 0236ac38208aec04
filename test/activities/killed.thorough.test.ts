/** The operator killed at API calls of an operation: the cluster ends up as it would have without that. */
import { describe, expect, it } from 'vitest';
import type { EtcdClusterSpec } from '../../src/api/schemas/types.ts';
import type { WritableObject } from '../../src/kube/port.ts';
import {
  condition,
  created,
  edit,
  leader,
  podUids,
  voters,
  watchDeletions,
} from '../worlds/living-cluster.ts';
import type { OperatorWorld } from '../worlds/operator-world.ts';
import { Users } from '../worlds/users.ts';

const LONG = { timeout: 120_000 };
const MEMBERS = ['example-0', 'example-1', 'example-2'];

async function settle(world: OperatorWorld, spec: EtcdClusterSpec): Promise<void> {
  await edit(world, spec);
  await world.run();
}

describe('a rollout', LONG, () => {
  /** Nobody waits for a cluster that has been quiet for a minute. */
  async function quiet(): Promise<OperatorWorld> {
    const world = await created();
    world.now += 60_000;
    return world;
  }

  it('ends the same, and never takes a second member down', async () => {
    const undisturbed = await quiet();
    const start = undisturbed.calls;
    await settle(undisturbed, { etcd: { logLevel: 'warn' } });
    for (let at = 1; at <= undisturbed.calls - start; at += 11) {
      const world = await quiet();
      const deletions = watchDeletions(world);
      await edit(world, { etcd: { logLevel: 'warn' } });
      world.kill({ at: world.calls + at });
      await world.run();
      await world.run();
      expect(world.names('Pod')).toEqual(MEMBERS);
      for (const pod of world.kube.all('Pod'))
        expect(JSON.stringify(pod['spec'])).toContain('"--log-level=warn"');
      expect(world.cluster.status).toMatchObject({ ready: '3/3', phase: 'Running' });
      expect(condition(world, 'Healthy')?.status).toBe('True');
      expect(world.etcd.clusters).toHaveLength(1);
      expect(voters(world)).toHaveLength(3);
      expect(deletions.every(({ serving, leads }) => serving === 3 && !leads)).toBe(true);
    }
  });
});

describe('a move to another StorageClass', LONG, () => {
  const classed = (storageClassName: string): EtcdClusterSpec => ({
    storage: { volumeClaimTemplate: { spec: { storageClassName } } },
  });
  async function quiet(): Promise<OperatorWorld> {
    const world = await created({ size: 1, ...classed('standard') });
    const fast = { apiVersion: 'storage.k8s.io/v1', kind: 'StorageClass', metadata: { name: 'fast' } };
    await world.kube.create(fast as WritableObject);
    world.now += 60_000;
    return world;
  }

  /** Of one member, which leads: with more the same happens more often. */
  it('ends the same', async () => {
    const undisturbed = await quiet();
    const start = undisturbed.calls;
    await settle(undisturbed, classed('fast'));
    expect(condition(undisturbed, 'VolumesReplaced')).toMatchObject({ status: 'True' });
    for (let at = 1; at <= undisturbed.calls - start; at += 9) {
      const world = await quiet();
      await edit(world, classed('fast'));
      world.kill({ at: world.calls + at });
      await world.run();
      await world.run();
      const claims = world.kube.all('PersistentVolumeClaim');
      expect(claims.map(({ spec }) => spec)).toMatchObject([{ storageClassName: 'fast' }]);
      expect(claims.map(({ metadata }) => metadata.name)).not.toContain('example-0');
      expect(voters(world)).toHaveLength(1);
      expect(world.cluster.status).toMatchObject({
        ready: '1/1',
        phase: 'Running',
        storage: { storageClassName: 'fast' },
      });
      expect(world.cluster.status.replacements ?? []).toEqual([]);
      expect(condition(world, 'VolumesReplaced')).toMatchObject({ status: 'True' });
    }
  });
});

describe('hibernation, begun and ended,', LONG, () => {
  it('loses nothing', async () => {
    const undisturbed = await created();
    const start = undisturbed.calls;
    await settle(undisturbed, { hibernated: true });
    const asleep = undisturbed.calls;
    await settle(undisturbed, { hibernated: false });
    for (let at = 1; at <= undisturbed.calls - start; at += 4) {
      const world = await created();
      const { clusterID } = world.cluster.status;
      await edit(world, { hibernated: true });
      if (at <= asleep - start) world.kill({ at: world.calls + at });
      await world.run();
      expect(world.names('Pod')).toEqual([]);
      expect(world.names('PersistentVolumeClaim')).toEqual(MEMBERS);
      expect(world.names('Service')).toEqual(['example', 'example-client']);
      expect(condition(world, 'Available')?.reason).toBe('Hibernated');
      expect(condition(world, 'Healthy')?.reason).toBe('Hibernated');
      expect(condition(world, 'Progressing')?.reason).toBe('AsSpecified');
      expect(world.cluster.status.members?.details?.map(({ name }) => name)).toEqual(MEMBERS);
      await edit(world, { hibernated: false });
      if (at > asleep - start) world.kill({ at: world.calls + at - (asleep - start) });
      await world.run();
      await world.run();
      expect(world.names('Pod')).toEqual(MEMBERS);
      expect(world.cluster.status).toMatchObject({ clusterID, ready: '3/3', phase: 'Running' });
      expect(world.etcd.clusters).toHaveLength(1);
      expect(condition(world, 'Healthy')?.reason).toBe('AllMembersHealthy');
    }
  });
});

/** What must be true afterwards. */
interface Begun {
  readonly world: OperatorWorld;
  readonly users: Users;
  readonly named: string;
  readonly uids: readonly string[];
}

describe('what a person asks for', LONG, () => {
  const cases = [
    {
      what: 'replacing a healthy member',
      kind: 'replaceMember',
      whom: () => 'example-1',
      isDone: ({ world, named }: Begun) => !voters(world).includes(named),
    },
    {
      what: 'replacing the leader',
      kind: 'replaceMember',
      whom: leader,
      isDone: ({ world, named }: Begun) => !voters(world).includes(named),
    },
    {
      what: 'moving the leader',
      kind: 'moveLeader',
      whom: (world: OperatorWorld) => voters(world).find(name => name !== leader(world)) ?? '',
      isDone: ({ world, named }: Begun) => leader(world) === named,
    },
    {
      what: 'a restart',
      kind: 'restart',
      whom: () => '',
      isDone: ({ world, uids }: Begun) => !podUids(world).some(uid => uids.includes(uid)),
    },
  ] as const;

  it.each(cases)('$what is done once all the same', async ({ kind, whom, isDone }) => {
    const begin = async (): Promise<Begun> => {
      const world = await created();
      const users = new Users(world);
      const named = whom(world);
      users.ask(kind, named);
      return { world, users, named, uids: podUids(world) };
    };
    const probe = await begin();
    const before = probe.world.calls;
    await probe.users.run();
    const length = probe.world.calls - before;
    for (let at = 1; at <= length; at += Math.max(1, Math.floor(length / 8))) {
      const begun = await begin();
      const { world, users } = begun;
      world.kill({ at: world.calls + at });
      await users.run();
      await users.run();
      expect(voters(world)).toHaveLength(3);
      expect(world.names('Pod')).toEqual(voters(world));
      expect(isDone(begun)).toBe(true);
      expect(users.heard.at(-1)).toMatch(/^done/);
    }
  });
});
