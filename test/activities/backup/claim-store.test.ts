/** The pod that lends a claim: it goes whatever becomes of the opening. */
import { describe, expect, it } from 'vitest';
import { openClaim } from '../../../src/activities/backup/claim-store.ts';
import type { WritableObject } from '../../../src/kube/port.ts';
import { claimStoreName, claimStorePod } from '../../../src/objects/claim-store.ts';
import { ActivityEnvironment } from '../../worlds/activity-environment.ts';
import { BackupWorld, SPEC } from '../../worlds/backup-world.ts';
import { StoreMemory } from '../../../src/store/memory.ts';
import { FakeKube } from '../../fakes/kubernetes/kube.ts';
import { PassingTime } from '../../fakes/waiting.ts';

const OWNER = { kind: 'EtcdBackup', namespace: 'shop', name: 'nightly', uid: 'a1b2c3d4-0000' } as const;

/** Waiting costs nothing; pods that are being deleted end meanwhile. */
function aBench() {
  const kube = new FakeKube({});
  kube.seed({
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name: 'backups', namespace: 'shop' },
  } as WritableObject);
  const images: string[] = [];
  const time = new PassingTime();
  const { pause } = time;
  time.pause = async (ms, signal) => {
    await pause(ms, signal);
    for (const pod of kube.all('Pod')) images.push(imageOf(pod));
  };
  const deps = {
    kube,
    now: () => Date.parse('2026-11-21T10:00:00Z'),
    time,
    image: async () => 'operator:new',
    memory: new StoreMemory(),
  };
  return { kube, deps, images };
}

function imageOf(pod: object): string {
  const { spec } = pod as { readonly spec: { readonly containers: readonly { readonly image: string }[] } };
  return spec.containers[0]?.image ?? '';
}

/** Pods that nobody has asked to go. */
function stayingPods(kube: FakeKube): readonly string[] {
  return kube
    .all('Pod')
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    .map(({ metadata }) => metadata.name);
}

describe('the pod of a claim', () => {
  it('that never starts is ended, and why is said', async () => {
    const { kube, deps } = aBench();
    const opened = new ActivityEnvironment().run(() => openClaim(deps, OWNER, { claim: 'backups' }));
    await expect(opened).rejects.toThrow('does not start: it has no address yet');
    expect(stayingPods(kube)).toEqual([]);
  });

  it('is ended when its opening is cancelled', async () => {
    const { kube, deps } = aBench();
    const environment = new ActivityEnvironment();
    const { time } = deps;
    const { pause } = time;
    time.pause = async (ms, signal) => {
      if (time.passed > 2_000) environment.cancel();
      await pause(ms, signal);
    };
    const opened = environment.run(() => openClaim(deps, OWNER, { claim: 'backups' }));
    await expect(opened).rejects.toThrow('WORKER_SHUTDOWN');
    expect(stayingPods(kube)).toEqual([]);
  });

  it('of an earlier operator is not waited for', async () => {
    const { kube, deps, images } = aBench();
    await new ActivityEnvironment()
      .run(() => openClaim(deps, OWNER, { claim: 'backups' }))
      .catch(() => undefined);
    kube.seed(claimStorePod(OWNER, { image: 'operator:old', claim: 'backups' }) as WritableObject);
    images.splice(0);
    const opened = new ActivityEnvironment().run(() => openClaim(deps, OWNER, { claim: 'backups' }));
    await expect(opened).rejects.toThrow();
    expect(images.at(-1)).toBe('operator:new');
  });

  it('that a killed process has left goes when the run is over', async () => {
    const world = new BackupWorld({ ...SPEC, storageType: 'File', file: { claim: 'backups', path: 'etcd' } });
    const owner = { ...OWNER, ...world.ref };
    world.kube.seed({
      ...claimStorePod(owner, { image: 'operator:test', claim: 'backups' }),
      status: { phase: 'Pending' },
    } as WritableObject);
    expect(stayingPods(world.kube)).toContain(claimStoreName(owner));
    await world.run();
    expect(stayingPods(world.kube)).not.toContain(claimStoreName(owner));
  });
});
