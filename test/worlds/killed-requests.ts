/** What users ask for with an EtcdRequest, in a world in which each makes sense, and what is left of it in the end. */
import type { EtcdRequestSpec } from '../../src/api/schemas/types.ts';
import type { FakeKube } from '../fakes/kubernetes/kube.ts';
import { BackupEntity } from './backup-bench.ts';
import { clusterOn, type ClusterOnTemporal, recordsOf } from './cluster-on-temporal.ts';
import { leader, voters } from './living-cluster.ts';
import { until, type WorkflowBench } from './workflow-bench.ts';

/** A world in which a request can be carried out. */
export interface Scene {
  readonly kube: FakeKube;
  readonly taskQueue: string;
  /** A kind whose objects the watcher does not see: those of this world have no workflow. */
  readonly unseen?: string;
  /** The request. */
  readonly spec: EtcdRequestSpec;
  /** The process of the activities dies at this call from now on, counted from 1: it has reached its server or not. */
  kill(at: number, arrives: boolean): void;
  /** Attempts of activities whose process died. */
  deaths(): number;
  /** Waits until nothing is under way, and ends what moves the world. */
  quiet(): Promise<void>;
  /** What there is in the end. */
  left(): unknown;
}

const BY_ANA = { by: 'ana' };

function onCluster(
  { world, entity, deaths }: ClusterOnTemporal,
  asked: Omit<EtcdRequestSpec, 'by' | 'clusterRef'>,
  left: () => unknown,
): Scene {
  return {
    kube: world.kube,
    taskQueue: entity.taskQueue,
    spec: { clusterRef: { name: entity.name }, ...BY_ANA, ...asked },
    kill: (at, arrives) => world.kill({ at: world.calls + at, arrives: () => arrives }),
    deaths,
    left,
    quiet: () => entity.quiet(),
  };
}

async function askedByAna({ world }: ClusterOnTemporal): Promise<number> {
  return recordsOf(world).filter(({ requestedBy }) => requestedBy === 'ana').length;
}

/** One member is restarted: there is the pod from before, and the one after it. */
export async function restart(bench: WorkflowBench): Promise<Scene> {
  const cluster = await clusterOn(bench);
  const { world, entity } = cluster;
  const member = `${entity.name}-1`;
  const pods = new Set<string>();
  const note = () => {
    for (const { metadata } of world.kube.all('Pod'))
      if (metadata.name === member) pods.add(metadata.uid ?? '');
  };
  note();
  world.kube.intercept(note);
  return onCluster(cluster, { action: 'Restart', member }, async () => ({
    pods: pods.size,
    asked: await askedByAna(cluster),
  }));
}

/** Bob resumes by a message what ana has paused by an object: a pause that were carried out again would hold once more. */
export async function pause(bench: WorkflowBench): Promise<Scene> {
  const cluster = await clusterOn(bench);
  const { entity, world } = cluster;
  const isPaused = () => world.cluster.status.controlPaused === true;
  return onCluster(cluster, { action: 'Pause' }, async () => {
    const wasPaused = isPaused();
    await entity.update('resume', { by: 'bob' });
    await until(() => !isPaused());
    return { wasPaused, isPaused: isPaused() };
  });
}

/** A healthy member is replaced, and not its successor. */
export async function replaceMember(bench: WorkflowBench): Promise<Scene> {
  const cluster = await clusterOn(bench);
  const { world, entity } = cluster;
  const member = `${entity.name}-1`;
  return onCluster(cluster, { action: 'ReplaceMember', member }, async () => ({
    members: serials(cluster),
    pods: world.names('Pod').length,
    asked: await askedByAna(cluster),
  }));
}

/** A member that is not well is replaced with the consent of a person, which holds for that once. */
export async function approve(bench: WorkflowBench): Promise<Scene> {
  const cluster = await clusterOn(bench);
  const { world, entity } = cluster;
  const member = voters(world).find(name => name !== leader(world)) ?? '';
  const pod = world.kube.peek(world.pod(member));
  world.etcd.set((pod?.['status'] as { podIP?: string } | undefined)?.podIP ?? '', 'isolated');
  await entity.update('replaceMember', { member, by: 'bob' });
  await until(async () => (await entity.plan()).approve !== undefined);
  const { operation = '', ids = [] } = (await entity.plan()).approve ?? {};
  await entity.quiet();
  return onCluster(cluster, { action: 'Approve', operation, ids: [...ids] }, async () => {
    await until(() => !voters(world).includes(member) && world.cluster.status.operation === undefined);
    return {
      members: voters(world).length,
      replaced: world.cluster.status.replacements?.map(({ member: lost }) => lost === member),
      approvals: (await entity.status()).approvals,
    };
  });
}

const HOURLY = { backupPolicy: { backupIntervalInSecond: 3_600 } };

async function onBackup(
  bench: WorkflowBench,
  asked: Omit<EtcdRequestSpec, 'by' | 'backupRef'>,
  left: (entity: BackupEntity) => unknown,
): Promise<Scene> {
  let deaths = 0;
  const entity = await BackupEntity.mortalOn(bench, HOURLY, () => (deaths += 1));
  const { world } = entity;
  await entity.changed();
  await entity.came('Succeeded');
  const kubelet = setInterval(() => world.verifier.settle(), 100);
  return {
    kube: world.kube,
    taskQueue: entity.taskQueue,
    unseen: 'EtcdCluster',
    spec: { backupRef: { name: world.ref.name }, ...BY_ANA, ...asked },
    kill: (at, arrives) => world.kill(world.calls + at, arrives),
    deaths: () => deaths,
    left: () => left(entity),
    quiet: async () => {
      await entity.quiet();
      clearInterval(kubelet);
    },
  };
}

/** There is the first backup, and the one that was asked for. */
export function backupNow(bench: WorkflowBench): Promise<Scene> {
  return onBackup(bench, { action: 'BackupNow' }, ({ world }) => ({
    objects: world.objects.length,
    asked: world.status.lastRun?.requestedBy,
    outcome: world.status.lastRun?.outcome,
  }));
}

/** The only backup is verified, as deeply as was asked. */
export function verifyBackup(bench: WorkflowBench): Promise<Scene> {
  return onBackup(bench, { action: 'VerifyBackup', verify: 'Restore' }, ({ world }) => ({
    objects: world.objects.length,
    verified: world.status.history?.map(({ verified = '' }) => verified),
    levels: [...new Set(world.verifier.asked.map(({ level }) => level))],
    pods: world.verifier.pods.length,
  }));
}

/** The numbers in the names of the members. */
function serials({ world, entity }: ClusterOnTemporal): number[] {
  return voters(world)
    .map(name => Number(name.slice(entity.name.length + 1)))
    .toSorted();
}
