/** What users do to a cluster that is written to, by mistake or behind the operator's back. */
import { expect, test } from 'vitest';
import { DEFAULT_REPOSITORY } from '../../../src/api/schemas/default-values.ts';
import type { KubeObject } from '../../../src/kube/port.ts';
import { drilledCluster } from '../../stack/drill/drilled.ts';
import { awaitCondition, memberList, podsOf, readCluster } from '../../stack/e2e.ts';
import { poll } from '../../stack/poll.ts';

const cluster = drilledCluster('drill-users');
const { at, drill, world } = cluster;

async function condition(type: string) {
  const { status } = (await readCluster(world(), at.namespace, at.name)) ?? {};
  return status?.conditions?.find(one => one.type === type);
}

const etcdctl = (...args: string[]): Promise<string> =>
  cluster.kubectl('exec', `${at.name}-0`, '--', 'etcdctl', ...args);

test.each([
  { what: 'learner', flags: ['--learner'] },
  { what: 'voter', flags: [] },
])(
  'a $what added by hand is reported, never fought, and in no one’s way once it is removed',
  async ({ what, flags }) => {
    await drill(`${what} added by hand`, async () => {
      // etcd refuses until all members have been connected for five seconds.
      await poll(() => etcdctl('member', 'add', 'stranger', ...flags, '--peer-urls=http://192.0.2.1:2380'));
      const said = await poll(
        async () => {
          const found = await condition('Progressing');
          return found?.reason === 'Blocked' ? found : undefined;
        },
        // Nothing that Kubernetes knows of has changed: a cluster at rest is looked at every minute.
        { timeoutMs: 120_000, otherwise: async () => JSON.stringify(await condition('Progressing')) },
      );
      expect(said.message).toMatch(/^http:\/\/192\.0\.2\.1:2380 \([0-9a-f]+\) was added manually/);
      // More members are asked for: with a stranger there nothing is added or removed.
      await cluster.apply({ size: 4 });
      await poll(async () => {
        const found = await readCluster(world(), at.namespace, at.name);
        return found?.status?.observedGeneration === found?.metadata.generation;
      });
      const seen = new Set<string>();
      const begun = performance.now();
      await poll(async () => {
        const members = await memberList(world(), at.namespace, `${at.name}-0`);
        const pods = await podsOf(world(), at.namespace, at.name);
        seen.add(`${members.length} members, ${pods.length} pods`);
        return performance.now() - begun > 12_000;
      });
      expect([...seen]).toEqual(['4 members, 3 pods']);
      await cluster.apply({ size: 3 });
      const id = /\(([0-9a-f]+)\)/.exec(said.message ?? '')?.[1] ?? '';
      await etcdctl('member', 'remove', id);
    });
    await awaitCondition(world(), at, { type: 'Healthy' });
  },
);

test('a learner that cannot start is given up and undone, and the cluster says so', async () => {
  const bad = 'registry.invalid/no/such/etcd';
  await drill('learner with an image that does not exist', async () => {
    await cluster.apply({ size: 4, repository: bad });
    await poll(async () => (await podsOf(world(), at.namespace, at.name)).length === 4, {
      timeoutMs: 60_000,
    });
    await poll(async () => /adds another member when/.test((await condition('Progressing'))?.message ?? ''), {
      timeoutMs: 400_000,
      otherwise: async () => JSON.stringify(await condition('Progressing')),
    });
    expect(await memberList(world(), at.namespace, `${at.name}-0`)).toHaveLength(3);
    // A field that is left out stays in force: the members would be rolled out to the image.
    await cluster.apply({ size: 3, repository: DEFAULT_REPOSITORY });
  });
});

test('a claim that is deleted and made again under its name is not what its member is started on', async () => {
  const [member = ''] = (await podsOf(world(), at.namespace, at.name)).map(({ metadata }) => metadata.name);
  const ref = { apiVersion: 'v1', kind: 'PersistentVolumeClaim', namespace: at.namespace, name: member };
  const read = () => world().kube.get(ref);
  await drill(
    `claim of ${member} exchanged`,
    async () => {
      await cluster.apply({ paused: true });
      await awaitCondition(world(), at, { type: 'Paused' });
      const { metadata, spec } = (await read()) as KubeObject & { readonly spec: object };
      await cluster.deletePodAndClaim(member);
      await poll(async () => (await read()) === undefined, { timeoutMs: 60_000 });
      // With everything that is noted on it, as somebody who restores a copy of the manifest does.
      const { labels, annotations = {} } = metadata;
      const noted = Object.entries(annotations).filter(([key]) => !key.includes('kubernetes.io/'));
      await world().kube.create({
        ...ref,
        metadata: { namespace: at.namespace, name: member, labels, annotations: Object.fromEntries(noted) },
        spec: { ...spec, volumeName: undefined },
      });
      await cluster.apply({});
      const said = await poll(
        async () => {
          const found = await condition('Recovering');
          return found?.reason === 'ClaimExchanged' ? found : undefined;
        },
        { timeoutMs: 60_000, otherwise: async () => JSON.stringify(await condition('Progressing')) },
      );
      expect(said.message).toContain(member);
      expect(said.message).toContain(`uid ${metadata.uid}`);
      const started = new Set<string>();
      await poll(
        async () => {
          const pods = await podsOf(world(), at.namespace, at.name);
          for (const { metadata } of pods) started.add(metadata.name);
          return pods.length === 3;
        },
        { timeoutMs: 120_000 },
      );
      expect([...started]).not.toContain(member);
    },
    { lost: 1 },
  );
});

test('a Node whose hostname label is changed is no reason to replace its member', async () => {
  const [pod] = await podsOf(world(), at.namespace, at.name);
  const { name: member = '', uid } = pod?.metadata ?? {};
  const { nodeName = '' } = (pod?.['spec'] ?? {}) as { readonly nodeName?: string };
  const label = (value: string) =>
    world().stack.kubectl('label', 'node', nodeName, `kubernetes.io/hostname=${value}`, '--overwrite');
  const before = (await memberList(world(), at.namespace, await aReadyMember()))
    .map(({ name }) => name)
    .sort()
    .join();
  await drill(`hostname label of ${nodeName} changed`, async () => {
    await label('renamed');
    try {
      await cluster.deletePod(member);
      // It has a pod again, which fits on no Node; the time after which lost members are replaced passes.
      const isPending = async () => {
        const [now] = (await podsOf(world(), at.namespace, at.name)).filter(
          ({ metadata }) => metadata.name === member && metadata.uid !== uid,
        );
        return (now?.['status'] as { readonly phase?: string } | undefined)?.phase === 'Pending';
      };
      await poll(isPending, { timeoutMs: 60_000 });
      const begun = performance.now();
      const lists = new Set<string>();
      await poll(
        async () => {
          const members = await memberList(world(), at.namespace, await aReadyMember());
          lists.add(
            members
              .map(({ name }) => name)
              .sort()
              .join(),
          );
          return performance.now() - begun > 45_000;
        },
        { timeoutMs: 90_000 },
      );
      expect([...lists]).toEqual([before]);
    } finally {
      await label(nodeName);
    }
  });
});

async function aReadyMember(): Promise<string> {
  const { status } = (await readCluster(world(), at.namespace, at.name)) ?? {};
  return status?.members?.ready?.[0] ?? '';
}
