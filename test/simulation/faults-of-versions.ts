/** Users who ask for another version of etcd, also for one that cannot be had, and releases that do not come up. */
import { ANNOTATION_DATA_VERSION } from '../../src/api/names.ts';
import type { EtcdClusterSpec, EtcdClusterStatus } from '../../src/api/schemas/types.ts';
import { messageOf } from '../../src/api/values/message-of.ts';
import type { Fault } from './fault.ts';
import type { Random } from './random.ts';
import { type Dud, versionOf } from './sim-kubelet.ts';
import type { SimEtcd } from './sim-etcd.ts';
import { emptyDisk, type Process } from './sim-raft.ts';
import { agreedOn, minor, minorBelow } from './sim-versions.ts';
import type { SimWorld } from './sim-world.ts';

/** What clusters are made with: most with the usual one. */
const FIRST = ['3.6.16', '3.6.16', '3.7.3', '3.6.15', '3.5.35', '3.5.3'] as const;
/** What users ask for: forward and back, within a minor and across one or two, and what nobody offers. */
const ASKED = ['3.5.3', '3.5.34', '3.5.35', '3.6.15', '3.6.16', '3.6.99', '3.7.3', '3.4.1'] as const;
const DUDS: readonly Dud[] = ['missing', 'crashes', 'hangs'];

export function firstVersion(random: Random): string {
  return random.pick(FIRST) ?? FIRST[0];
}

const versionAsked: Fault = (world, random) => {
  const version = random.pick(ASKED) ?? FIRST[0];
  world.edit({ version });
  return version;
};

/** There is no image of a release, or it does not come up; or it does again. */
const versionIsDud: Fault = ({ kubelet: { duds } }, random) => {
  const version = random.pick(ASKED) ?? FIRST[0];
  const dud = duds.has(version) ? undefined : (random.pick(DUDS) ?? 'missing');
  if (dud === undefined) duds.delete(version);
  else duds.set(version, dud);
  return `${version} ${dud ?? 'is mended'}`;
};

/** Somebody uses `etcdctl downgrade enable` while nothing else is done about versions. */
const downgradeEnabledByHand: Fault = ({ etcd, resource }, random) => {
  const { currentVersion, targetVersion } = (resource?.['status'] ?? {}) as EtcdClusterStatus;
  const leader = random.pick([...etcd.processes.values()].filter(process => canLower(etcd, process)));
  const target = minorBelow(agreedOn(leader?.disk ?? emptyDisk('')));
  if (leader === undefined || (targetVersion ?? '') !== '' || currentVersion !== leader.version)
    return undefined;
  try {
    etcd.downgradeByHand(leader, 'enable', target);
    return target;
  } catch (error) {
    return messageOf(error);
  }
};

/** It leads members of its own minor, all of them newer than 3.5. */
function canLower(etcd: SimEtcd, leader: Process): boolean {
  if (!leader.isLeader || !etcd.hasQuorum(leader)) return false;
  const others = [...etcd.processes.values()].filter(({ clusterId }) => clusterId === leader.clusterId);
  return minor(leader.version) !== '3.5' && others.every(({ version }) => version === leader.version);
}

const upgradesChanged: Fault = (world, random) => {
  const upgrade: NonNullable<EtcdClusterSpec['upgrade']> = {
    allowIntermediateVersions: random.chance(0.6),
    rollbackOnFailure: random.chance(0.7),
    soakSeconds: random.below(3) * 20,
    strategy: random.chance(0.25) ? 'Supervised' : 'Automatic',
    snapshotBefore: random.pick(['IfPossible', 'Required', 'Never'] as const) ?? 'Never',
  };
  world.edit({ upgrade });
  return JSON.stringify(upgrade);
};

/** Every release can be had again, and nobody insists on a backup in a world that has none. */
export function mendVersions(world: SimWorld): void {
  world.kubelet.duds.clear();
  // One that an old client left out is still in force (seed 66586868).
  if ((world.spec.upgrade?.snapshotBefore ?? 'Required') === 'Required')
    world.edit({ upgrade: { snapshotBefore: 'IfPossible' } });
}

/** What stands in the way of a version is answered as its message says. */
export function obeyAboutVersions(world: SimWorld): void {
  const { reason, message = '' } = world.decision;
  const { operator } = world;
  if (reason === 'VersionUnknown') {
    noteVersions(world);
    world.wake();
    return;
  }
  if (reason === 'AwaitingApproval' && operator.consent?.operation === 'upgradeCluster') {
    operator.approve(operator.consent);
    world.wake();
    return;
  }
  if (reason === 'DowngradeEnabled') {
    for (const leader of world.etcd.processes.values())
      if (leader.isLeader) world.etcd.downgradeByHand(leader, 'cancel', '');
    world.wake();
    return;
  }
  const [, member] = /have (\S+) replaced/.exec(message) ?? [];
  if (reason === 'EphemeralMembers' && member !== undefined) {
    if (operator.requests.length === 0) operator.ask('replaceMember', member);
    world.wake();
    return;
  }
  const back = reason === 'RolledBack' ? /or back to ([\d.]+): /.exec(message) : null;
  const reported =
    back ??
    /(?:write one of|[Ss]et spec\.version to (?:a release of \S+ such as)?) ?(\d+\.\d+\.\d+)/.exec(message);
  if (reported !== null) world.edit({ version: reported[1] ?? '' });
}

/** Somebody writes on each claim which release ran on it. */
export function noteVersions({ kube, etcd }: SimWorld): void {
  for (const { kind, metadata } of kube.all('PersistentVolumeClaim')) {
    const { ran } = etcd.disk(metadata.uid ?? '');
    if (ran !== '')
      kube.merge(kind, metadata.name, { metadata: { annotations: { [ANNOTATION_DATA_VERSION]: ran } } });
  }
}

/** Which members do not run what is asked for. */
export function complaintAboutVersions({ kube, spec }: SimWorld): string | undefined {
  // Nobody says which: then it is the one that they run.
  if (spec.version === undefined) return undefined;
  const other = kube.all('Pod').find(pod => versionOf(pod) !== spec.version);
  return other && `${other.metadata.name} runs ${versionOf(other)}, and ${spec.version} is asked for`;
}

export const faultsOfVersions = {
  versionAsked,
  versionIsDud,
  upgradesChanged,
  downgradeEnabledByHand,
} satisfies Record<string, Fault>;
