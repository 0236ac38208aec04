/** Typos in a first manifest, corrected before the cluster has formed. */
import { expect, test } from 'vitest';
import { API_VERSION } from '../../src/api/names.ts';
import type { EtcdClusterSpec } from '../../src/api/schemas/types.ts';
import { awaitRunning, claimsOf, manifest, podsOf, readCluster, type World } from '../stack/e2e.ts';
import { useNamespace } from '../stack/e2e-namespace.ts';
import { poll } from '../stack/poll.ts';

const NAMESPACE = 'correction';
const REPOSITORY = 'gcr.io/etcd-development/etcd';
let world: World;

useNamespace(NAMESPACE, opened => void (world = opened));

const storage = (storageClassName: string): EtcdClusterSpec['storage'] => ({
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

test.concurrent.each(Object.entries(TYPOS))(
  'a cluster with a typo in its %s forms when it is corrected',
  async (name, { wrong, right, keepsVolumes }) => {
    const at = { namespace: NAMESPACE, name };
    const spec = { size: 1, version: '3.6.16', repository: REPOSITORY, ...wrong };
    await world.kube.apply(manifest(NAMESPACE, name, spec));
    await poll(
      async () => {
        const { conditions = [] } = (await readCluster(world, NAMESPACE, name))?.status ?? {};
        const progressing = conditions.find(({ type }) => type === 'Progressing');
        return (
          progressing?.reason === 'Blocked' && /MembersNotStarting|cannot|nodes/i.test(progressing.message)
        );
      },
      { timeoutMs: 60_000 },
    );
    const uids = async () =>
      (await claimsOf(world, NAMESPACE, name)).map(({ metadata }) => metadata.uid).sort();
    const before = await uids();
    await world.kube.patch(
      { apiVersion: API_VERSION, kind: 'EtcdCluster', ...at },
      { spec: right },
      { type: 'merge' },
    );
    const cluster = await awaitRunning(world, at, 90_000);
    expect(cluster.status).toMatchObject({ phase: 'Running', currentVersion: '3.6.16' });
    const after = await uids();
    if (keepsVolumes) expect(after).toEqual(before);
    else expect(after.filter(uid => before.includes(uid))).toEqual([]);
    expect(await podsOf(world, NAMESPACE, name)).toHaveLength(spec.size);
    await world.kube.delete({ apiVersion: API_VERSION, kind: 'EtcdCluster', ...at });
  },
  180_000,
);
