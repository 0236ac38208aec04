/** Every operation of a cluster, and a step in the middle of it. */
import type { EtcdClusterSpec } from '../../src/api/schemas/types.ts';
import type { Operation } from '../../src/api/operations.ts';
import { edit, leader, podUids, voters } from './living-cluster.ts';
import type { OperatorWorld } from './operator-world.ts';
import type { RestoreWorld } from './restore-world.ts';

/** How a user asks for it. */
type Say = (signal: string, sent: object) => Promise<void>;

/** What there was before it began. */
interface Before {
  readonly uids: readonly string[];
  readonly clusterID: string | undefined;
  readonly leader: string;
}

export interface ReplacedOperation {
  readonly title: string;
  /** Of the cluster before; undefined: it is created. */
  readonly spec?: EtcdClusterSpec;
  readonly creates?: true;
  /** Performed before it begins. */
  readonly before?: (world: RestoreWorld) => Promise<void> | void;
  readonly begin: (world: RestoreWorld, say: Say) => Promise<void> | void;
  /** Held when it is performed for the `nth` time. */
  readonly step: string;
  readonly nth?: number;
  /** The step ends it, so it dies with the operator that was replaced. */
  readonly dies?: true;
  /** It is ended in the pause, too: a pause leaves nothing half done. */
  readonly closes?: true;
  readonly isDone: (world: RestoreWorld, before: Before) => boolean;
  /** How many voters there are in the end. */
  readonly size?: number;
  /** The step is one of the EtcdRestore. */
  readonly isOfRestore?: true;
  /** It fails, and every member runs this version in the end. */
  readonly rollsBackTo?: string;
  /** The workflow of an EtcdRestore does the rest. */
  readonly handsOver?: true;
  /** It ends with another cluster than that which there was. */
  readonly isOther?: true;
}

export const SPEC: EtcdClusterSpec = { size: 3, version: '3.6.16' };
const OLD = { size: 3, version: '3.5.35' };
const storage = (size: string): EtcdClusterSpec => ({
  storage: {
    volumeClaimTemplate: {
      spec: { storageClassName: 'standard', resources: { requests: { storage: size } } },
    },
  },
});

const follower = (world: OperatorWorld) => voters(world).find(name => name !== leader(world)) ?? '';
const versionsAre = (world: OperatorWorld, version: string) =>
  processes(world).length === 3 && processes(world).every(each => each.version === version);
export const processes = (world: OperatorWorld) => [...(world.etcd.clusters.at(-1)?.processes ?? [])];
const rows = (world: OperatorWorld) => world.etcd.clusters.at(-1)?.rows ?? [];
export const hasOnlyVoters = (world: OperatorWorld, size: number) =>
  rows(world).length === size && rows(world).every(row => !row.isLearner);
const isEachNew = (world: OperatorWorld, { uids }: Before) =>
  podUids(world).length === 3 && !podUids(world).some(uid => uids.includes(uid));

async function hibernate(world: OperatorWorld): Promise<void> {
  await edit(world, { hibernated: true });
  await world.drive();
}

const secret = (world: OperatorWorld) => ({
  apiVersion: 'v1',
  kind: 'Secret',
  namespace: world.ref.namespace,
  name: `${world.ref.name}-server-tls`,
});

export function before(world: OperatorWorld): Before {
  const { clusterID } = world.cluster.status;
  return { uids: podUids(world), clusterID, leader: leader(world) };
}

export const REPLACED_OPERATIONS: Readonly<
  Record<Operation, readonly [ReplacedOperation, ...ReplacedOperation[]]>
> = {
  recoverQuorum: [
    {
      title: 'a recovery of a quorum that is lost for good, before its EtcdRestore exists',
      begin: async world => {
        await world.loseVolumesOf(voters(world).slice(0, 2));
        await world.drive();
        world.requestRecovery();
      },
      step: 'requestRecovery',
      // It is all that there is to do.
      dies: true,
      isDone: world => world.names('EtcdRestore').length === 1,
      handsOver: true,
    },
  ],
  createCluster: [
    {
      title: 'a creation, before the cluster has an id',
      creates: true,
      begin: () => {},
      step: 'recordClusterId',
      isDone: world => world.cluster.status.phase === 'Running',
    },
    {
      title: 'a creation, before its members exist',
      creates: true,
      begin: () => {},
      step: 'bootstrapMembers',
      isDone: world => world.cluster.status.phase === 'Running',
    },
  ],
  scaleCluster: [
    {
      title: 'a scale up, with a learner that is not promoted',
      begin: world => edit(world, { size: 5 }),
      step: 'promoteLearner',
      isDone: world => hasOnlyVoters(world, 5),
      size: 5,
    },
    {
      title: 'a scale down, with a member that has been stopped',
      spec: { ...SPEC, size: 5 },
      begin: world => edit(world, { size: 3 }),
      step: 'removeMember',
      isDone: world => hasOnlyVoters(world, 3) && world.names('Pod').length === 3,
    },
  ],
  upgradeCluster: [
    {
      title: 'an upgrade to the next minor, after one member',
      spec: OLD,
      begin: world => edit(world, { version: '3.6.16' }),
      step: 'restartMember',
      nth: 2,
      isDone: world => versionsAre(world, '3.6.16'),
    },
    {
      title: 'a return to an older patch, after one member',
      begin: world => edit(world, { version: '3.6.15' }),
      step: 'replaceImage',
      nth: 2,
      isDone: world => versionsAre(world, '3.6.15'),
    },
    {
      title:
        'the rollback of an upgrade whose image cannot be pulled, before the one member that tried it goes back',
      before: world => {
        world.kubelet.missingImages.add('gcr.io/etcd-development/etcd:v3.6.99');
      },
      begin: world => edit(world, { version: '3.6.99' }),
      step: 'replaceImage',
      nth: 2,
      closes: true,
      rollsBackTo: '3.6.16',
      isDone: world =>
        versionsAre(world, '3.6.16') && world.cluster.status.upgradeFailure?.version === '3.6.99',
    },
  ],
  repairCluster: [
    {
      title: 'a repair of two members without pods, one of which is back',
      begin: async world => {
        for (const name of voters(world)
          .filter(each => each !== leader(world))
          .slice(0, 2))
          await world.kube.as('kubectl').delete(world.pod(name));
        world.kubelet.settle();
      },
      step: 'restartMember',
      nth: 2,
      dies: true,
      isDone: world => world.cluster.status.ready === '3/3' && world.names('Pod').length === 3,
    },
    {
      title: 'a new certificate in place of one that is gone',
      spec: { ...SPEC, TLS: { auto: {} } } as EtcdClusterSpec,
      begin: world => world.kube.as('kubectl').delete(secret(world)),
      step: 'issueCertificates',
      dies: true,
      isDone: world => world.kube.peek(secret(world)) !== undefined,
    },
  ],
  replaceMember: [
    {
      title: 'a replacement on request, before the old member is removed',
      begin: async (world, say) => say('replaceMember', { member: follower(world), by: 'ana' }),
      step: 'removeMember',
      dies: true,
      isDone: (world, { uids }) =>
        hasOnlyVoters(world, 3) && podUids(world).filter(uid => !uids.includes(uid)).length === 1,
    },
    {
      title: 'a replacement of a member that lost its volume, before the new one is added',
      begin: world => world.loseVolumesOf([follower(world)]),
      step: 'addLearner',
      isDone: world => hasOnlyVoters(world, 3) && processes(world).length === 3,
    },
  ],
  moveLeader: [
    {
      title: 'a transfer of leadership on request',
      begin: async (world, say) => say('moveLeader', { to: follower(world), by: 'ana' }),
      step: 'moveLeader',
      dies: true,
      isDone: (world, before) => leader(world) !== before.leader,
    },
  ],
  rolloutCluster: [
    {
      title: 'a rollout, after one member',
      begin: world => edit(world, { etcd: { logLevel: 'warn' } }),
      step: 'stopMember',
      nth: 2,
      isDone: isEachNew,
    },
    {
      title: 'a rollout, with a member that has been stopped',
      begin: world => edit(world, { etcd: { logLevel: 'warn' } }),
      step: 'restartMember',
      isDone: isEachNew,
    },
    {
      title: 'a restart on request, after one member',
      begin: async (_, say) => say('restart', { by: 'ana' }),
      step: 'stopMember',
      nth: 2,
      isDone: isEachNew,
    },
    {
      title: 'an expansion of the claims, after one',
      spec: { ...SPEC, ...storage('1Gi') },
      before: world => {
        world.kube.mutate(
          { apiVersion: 'storage.k8s.io/v1', kind: 'StorageClass', name: 'standard' },
          object => void (object['allowVolumeExpansion'] = true),
        );
        for (const name of world.names('PersistentVolumeClaim'))
          world.kube.mutate(
            world.claim(name),
            claim => void (claim['status'] = { phase: 'Bound', capacity: { storage: '1Gi' } }),
          );
      },
      begin: world => edit(world, storage('2Gi')),
      step: 'expandClaim',
      nth: 2,
      isDone: world =>
        world.kube.all('PersistentVolumeClaim').every(claim => JSON.stringify(claim['spec']).includes('2Gi')),
    },
  ],
  restoreCluster: [
    {
      title: 'a restore in place, before the seed is started',
      begin: world => world.request({ confirmClusterID: world.cluster.status.clusterID ?? '' }),
      step: 'startSeed',
      isDone: world => world.restore.succeeded === true,
      isOther: true,
    },
    {
      title: 'a restore in place, while the backup is examined',
      begin: world => world.request({ confirmClusterID: world.cluster.status.clusterID ?? '' }),
      step: 'examineBackup',
      isOfRestore: true,
      isDone: world => world.restore.succeeded === true,
      isOther: true,
    },
  ],
  defragmentMembers: [
    {
      title: 'a defragmentation on request, after one member',
      begin: async (_, say) => say('defragment', { by: 'ana' }),
      step: 'defragmentMember',
      nth: 2,
      isDone: world => world.events.filter(({ reason }) => reason === 'MemberDefragmented').length >= 3,
    },
  ],
  reclaimSpace: [
    {
      title: 'the end of NOSPACE, with an alarm that has not been disarmed',
      before: world => {
        for (const { id, cluster } of processes(world).slice(0, 1))
          for (const { alarms } of cluster.processes)
            alarms.push(`memberID:${BigInt(`0x${id}`)} alarm:NOSPACE `);
      },
      begin: () => {},
      step: 'disarmNoSpace',
      dies: true,
      isDone: world => processes(world).every(({ alarms }) => alarms.length === 0),
    },
  ],
  compareData: [
    {
      title: 'the end of CORRUPT, of a member that is none any more',
      before: world => {
        for (const { alarms } of processes(world)) alarms.push('memberID:4711 alarm:CORRUPT ');
      },
      begin: () => {},
      step: 'disarmCorrupt',
      dies: true,
      isDone: world => processes(world).every(({ alarms }) => alarms.length === 0),
    },
  ],
  hibernateCluster: [
    {
      title: 'a hibernation, after one member',
      begin: world => edit(world, { hibernated: true }),
      step: 'stopMember',
      nth: 2,
      isDone: world => world.names('Pod').length === 0,
      size: 0,
    },
  ],
  wakeCluster: [
    {
      title: 'an awakening, before any member is there',
      before: hibernate,
      begin: world => edit(world, { hibernated: false }),
      step: 'restartMember',
      dies: true,
      isDone: world => world.cluster.status.ready === '3/3',
    },
    {
      title: 'an awakening, after one member',
      before: hibernate,
      begin: world => edit(world, { hibernated: false }),
      step: 'restartMember',
      nth: 2,
      closes: true,
      isDone: world => world.cluster.status.ready === '3/3',
    },
  ],
  deleteCluster: [
    {
      title: 'a deletion, before the claims are released',
      begin: world => world.deleteCluster(),
      step: 'deletePods',
      isDone: world => world.names('EtcdCluster').length === 0,
      size: 0,
    },
  ],
};
