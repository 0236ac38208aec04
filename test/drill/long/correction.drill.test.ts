/** Typos in a first manifest, corrected before the cluster has formed. */
import { expect, test } from 'vitest';
import { API_VERSION } from '../../../src/api/names.ts';
import type { EtcdClusterSpec } from '../../../src/api/schemas/types.ts';
import { awaitRunning, claimsOf, manifest, podsOf, readCluster, type World } from '../../stack/e2e.ts';
import { useNamespace } from '../../stack/e2e-namespace.ts';
import { poll } from '../../stack/poll.ts';

const NAMESPACE = 'correction';
const REPOSITORY = 'gcr.io/etcd-development/etcd';
let world: World;

useNamespace(NAMESPACE, opened => void (world = opened));

const storage = (storageClassName: string): NonNullable<EtcdClusterSpec['storage']> => ({
  volumeClaimTemplate: { spec: { storageClassName, resources: { requests: { storage: '256Mi' } } } },
});

interface Typo {
  readonly wrong: EtcdClusterSpec;
  readonly right: object;
  /** Volumes that were made for it stay. */
  readonly keepsVolumes: boolean;
}

const TYPOS: Readonly<Record<string, Typo>> = {
  repository: {
    wrong: { size: 3, repository: 'registry.invalid/etcd' },
    right: { repository: REPOSITORY },
    keepsVolumes: true,
  },
  patch: { wrong: { version: '3.6.99' }, right: { version: '3.6.16' }, keepsVolumes: true },
  minor: { wrong: { version: '3.7.99' }, right: { version: '3.6.16' }, keepsVolumes: false },
  selector: {
    wrong: { pod: { nodeSelector: { disk: 'sdd' } } },
    right: { pod: { nodeSelector: null } },
    keepsVolumes: true,
  },
  cpu: {
    wrong: { pod: { resources: { requests: { cpu: '64' } } } },
    right: { pod: { resources: { requests: { cpu: '10m' } } } },
    keepsVolumes: true,
  },
  class: {
    wrong: { storage: storage('standrad') },
    right: { storage: storage('standard') },
    keepsVolumes: false,
  },
};

/** Clusters that are made at once, corrected at once and awaited at once. */
test('clusters with a typo in their first manifests form when it is corrected', async () => {
  const each = Object.entries(TYPOS);
  const of = <Result>(act: (name: string, typo: Typo) => Promise<Result>): Promise<Result[]> =>
    Promise.all(each.map(([name, typo]) => act(name, typo)));
  const uidsOf = async (name: string) =>
    (await claimsOf(world, NAMESPACE, name)).map(({ metadata }) => metadata.uid).sort();
  await of((name, { wrong }) =>
    world.kube.apply(
      manifest(NAMESPACE, name, { size: 1, version: '3.6.16', repository: REPOSITORY, ...wrong }),
    ),
  );
  await of(name => poll(() => isBlocked(name), { timeoutMs: 90_000 }));
  const before = Object.fromEntries(await of(async name => [name, await uidsOf(name)] as const));
  await of((name, { right }) =>
    world.kube.patch(
      { apiVersion: API_VERSION, kind: 'EtcdCluster', namespace: NAMESPACE, name },
      { spec: right },
      { type: 'merge' },
    ),
  );
  await of(async (name, { wrong: { size = 1 }, keepsVolumes }) => {
    const cluster = await awaitRunning(world, { namespace: NAMESPACE, name }, 150_000);
    expect(cluster.status).toMatchObject({ phase: 'Running', currentVersion: '3.6.16' });
    const after = await uidsOf(name);
    const kept = after.filter(uid => before[name]?.includes(uid));
    expect(kept).toHaveLength(keepsVolumes ? size : 0);
    expect(await podsOf(world, NAMESPACE, name)).toHaveLength(size);
  });
}, 300_000);

async function isBlocked(name: string): Promise<boolean> {
  const { conditions = [] } = (await readCluster(world, NAMESPACE, name))?.status ?? {};
  return conditions.some(({ type, reason }) => type === 'Progressing' && reason === 'Blocked');
}
