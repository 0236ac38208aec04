/** Scenarios about restores of backups: see scenarios.ts. */
import type { Step } from '../../src/activities/index.ts';
import { ANNOTATION_RESTORED_BY } from '../../src/api/names.ts';
import type { EtcdClusterStatus, EtcdRestoreStatus } from '../../src/api/schemas/types.ts';
import type { WritableObject } from '../../src/kube/port.ts';
import { Breach, CLUSTER } from './invariants.ts';
import { BACKUP, keyOf } from './sim-backups.ts';
import { emptyDisk } from './sim-raft.ts';
import { RESTORE, type ScriptedWorld } from './scripted-world.ts';

const A_WHILE = 400;
/** A member of a cluster that is no more. */
const ENTRY = { term: 1, members: { rows: [], removed: new Set<string>() }, value: 1 };
const BEFORE = {
  version: '3.6.16',
  clusterId: 'cdf818194e3a8c32',
  // The first write makes revision 2: only a cluster that nobody has written to is at 1.
  disk: { ...emptyDisk('before'), log: [{ ...ENTRY, value: undefined }, ENTRY], commit: 2 },
};

/** A cluster with writes, the backup of some of them, and more writes. The path of the backup. */
async function backedUp(scripted: ScriptedWorld): Promise<string> {
  await scripted.create({ size: 3 });
  await scripted.pass(A_WHILE);
  const path = scripted.world.backups.take(CLUSTER, scripted.leader());
  await scripted.pass(A_WHILE);
  return path;
}

/** The same of 3.5, whose members run 3.6 by now. The path of the backup from before. */
async function upgradedSince(scripted: ScriptedWorld): Promise<string> {
  scripted.world.edit({ version: '3.5.35' });
  const path = await backedUp(scripted);
  scripted.world.edit({ version: '3.6.16' });
  await scripted.until('every member runs 3.6.16', () => allRun(scripted, '3.6.16'));
  return path;
}

/** Nothing is left to do, and every member serves with this version. */
function allRun({ world }: ScriptedWorld, version: string): boolean {
  const processes = [...world.etcd.processes.values()];
  return (
    world.decision.kind === 'idle' &&
    processes.every(process => process.version === version && process.serves)
  );
}

function clusterID(scripted: ScriptedWorld): string {
  const { clusterID: id = '' } = (scripted.world.resource?.['status'] ?? {}) as EtcdClusterStatus;
  return id;
}

function wordOf({ kube }: ScriptedWorld['world'], name: string): string {
  const { step = '' } = (kube.peek('EtcdRestore', name)?.['status'] ?? {}) as EtcdRestoreStatus;
  return step;
}

async function succeeded(scripted: ScriptedWorld): Promise<void> {
  await scripted.until('the restore has succeeded', () => scripted.restored().phase === 'Succeeded');
  await scripted.rest();
}

/** The cluster that was there before is there again, with all that it had. */
async function asBefore(scripted: ScriptedWorld, before: string): Promise<void> {
  await scripted.rest();
  if (scripted.leader().clusterId !== before) throw new Breach('another cluster is there than before');
}

const STEPS: readonly Step['kind'][] = [
  'fenceMembers',
  'switchIncarnation',
  'fillVolume',
  'unpackBackup',
  'startSeed',
  'recordClusterId',
  'addLearner',
  'concludeRestore',
];

/** A restore in place whose first member runs, and whose others are about to be added. The path of the backup. */
async function growing(scripted: ScriptedWorld): Promise<string> {
  const path = await backedUp(scripted);
  scripted.restore(path, { confirmClusterID: clusterID(scripted) });
  await scripted.about('addLearner');
  return path;
}

export const restoreScenarios = {
  /** Before clients were let in: what was before is found again when the copy is deleted, as the operator says. */
  async statusIsLostInTheMiddleOfARestore(scripted: ScriptedWorld) {
    const { kube } = scripted.world;
    const path = await backedUp(scripted);
    const before = scripted.leader().clusterId;
    const names = () => kube.all('PersistentVolumeClaim').map(({ metadata: { name } }) => name);
    const kept = names();
    scripted.restore(path, { confirmClusterID: before });
    scripted.world.kubelet.stuck.add('example-3');
    const pods = () => kube.all('Pod').map(({ metadata: { name } }) => name);
    const copies = () => names().filter(name => !kept.includes(name));
    await scripted.until('there is the pod of the restored member', () =>
      copies().some(name => pods().includes(name)),
    );
    scripted.world.operator.end();
    for (const attempt of scripted.world.calls.attempts) scripted.world.calls.kill(attempt);
    scripted.loseStatus();
    kube.delete('EtcdRestore', RESTORE);
    scripted.world.operator.begin();
    await scripted.blockedBy('IdentityUnknown');
    const reported = scripted.world.decision.message ?? '';
    for (const each of copies().flatMap(name => [`pod ${name}`, `claim ${name}`]))
      if (!reported.includes(each))
        throw new Breach(`it is not said that ${each} is to be deleted: ${reported}`);
    for (const name of copies()) {
      scripted.takePod(name);
      scripted.takeClaim(name);
    }
    await asBefore(scripted, before);
  },

  async restoreIsConfirmedLate(scripted: ScriptedWorld) {
    const path = await backedUp(scripted);
    const before = scripted.leader().clusterId;
    scripted.restore(path);
    await scripted.until('it is refused', () => scripted.restored().phase === 'Refused');
    await scripted.pass(A_WHILE);
    await asBefore(scripted, before);
    scripted.world.kube.merge('EtcdRestore', RESTORE, { spec: { confirmClusterID: clusterID(scripted) } });
    await succeeded(scripted);
  },

  /** No pod can be created: nobody is stopped until there is room for what is made of the backup. */
  async podsAreRefusedBeforeARestore(scripted: ScriptedWorld) {
    const { kube } = scripted.world;
    const path = await backedUp(scripted);
    const before = scripted.leader().clusterId;
    kube.refuses.set('create Pod', 'violates PodSecurity "restricted:latest"');
    scripted.restore(path, { confirmClusterID: clusterID(scripted) });
    await scripted.pass(A_WHILE);
    if (scripted.leader().clusterId !== before) throw new Breach('another cluster is there than before');
    kube.refuses.clear();
    // Exactly as many as there are: those that are stopped make room.
    kube.mostPods = kube.all('Pod').length;
    await succeeded(scripted);
  },

  /** The operator dies, and Temporal forgets everything, in the middle of every step. */
  async restoreIsCutShortAgainAndAgain(scripted: ScriptedWorld) {
    const path = await backedUp(scripted);
    scripted.restore(path, { confirmClusterID: clusterID(scripted) });
    for (const kind of STEPS) {
      await scripted.about(kind);
      // The next one is still to come.
      await scripted.pass(scripted.world.random.below(10));
      scripted.loseOperator();
    }
    await succeeded(scripted);
  },

  /** The members keep running until a backup of the current data exists; a run that fails does not count. */
  async restoreSavesFirst(scripted: ScriptedWorld) {
    const { world } = scripted;
    const path = await backedUp(scripted);
    const before = scripted.leader().clusterId;
    const answered = async (outcome: 'Succeeded' | 'Failed') => {
      await scripted.until('a backup is asked for', () => world.backups.isAsked());
      await scripted.pass(A_WHILE);
      if (scripted.leader().clusterId !== before) throw new Breach('nothing was saved before the restore');
      world.now += 1_000;
      if (outcome === 'Succeeded') world.backups.take(CLUSTER, scripted.leader());
      world.backups.ran(outcome);
      world.wake();
    };
    scripted.restore(path, { confirmClusterID: clusterID(scripted), saveFirst: true });
    await answered('Failed');
    await scripted.until('it is said that nothing is saved', () =>
      wordOf(world, RESTORE).includes('spec.saveFirst to false'),
    );
    // An hour later it is asked again.
    scripted.skip(7_200);
    await answered('Succeeded');
    await succeeded(scripted);
    if (scripted.restored().saved?.location === undefined) throw new Breach('nothing names what was saved');
  },

  /** The new minor is not what was hoped for: the cluster goes back to the version and the data of before. */
  async upgradeIsRolledBack(scripted: ScriptedWorld) {
    const { world } = scripted;
    const path = await upgradedSince(scripted);
    await scripted.pass(A_WHILE);
    const before = scripted.leader().clusterId;
    world.edit({ version: '3.5.35' });
    scripted.restore(path, { confirmClusterID: clusterID(scripted) });
    await scripted.until('the restore has succeeded', () => {
      const restored = [...world.etcd.processes.values()].filter(({ clusterId }) => clusterId !== before);
      if (restored.some(({ version }) => version !== '3.5.35'))
        throw new Breach('a restored member runs 3.6.16');
      return scripted.restored().phase === 'Succeeded';
    });
    await scripted.rest();
    if (!allRun(scripted, '3.5.35')) throw new Breach('the members do not run 3.5.35');
  },

  /** The members keep running while the image of the version that is asked for cannot be pulled. */
  async imageOfARestoreIsMissing(scripted: ScriptedWorld) {
    const { world } = scripted;
    const path = await upgradedSince(scripted);
    const before = scripted.leader().clusterId;
    world.kubelet.duds.set('3.5.34', 'missing');
    world.edit({ version: '3.5.34' });
    scripted.restore(path, { confirmClusterID: clusterID(scripted) });
    await scripted.pass(A_WHILE);
    if (scripted.leader().clusterId !== before) throw new Breach('another cluster is there than before');
    world.edit({ version: '3.5.35' });
    await succeeded(scripted);
  },

  async restoreIsAborted(scripted: ScriptedWorld) {
    const path = await backedUp(scripted);
    const before = scripted.leader().clusterId;
    scripted.restore(path, { confirmClusterID: clusterID(scripted) });
    await scripted.about('unpackBackup');
    scripted.world.operator.abort = true;
    await scripted.until('it is given up', () => scripted.restored().phase === 'Failed');
    await asBefore(scripted, before);
  },

  async restoreIsDeletedInTheMiddle(scripted: ScriptedWorld) {
    const path = await backedUp(scripted);
    const before = scripted.leader().clusterId;
    scripted.restore(path, { confirmClusterID: clusterID(scripted) });
    await scripted.about('startSeed');
    scripted.world.kube.delete('EtcdRestore', RESTORE);
    await asBefore(scripted, before);
  },

  /** It is whole, and not what its manifest says. */
  async backupIsAnotherOne(scripted: ScriptedWorld) {
    const path = await backedUp(scripted);
    const before = scripted.leader().clusterId;
    const { backups } = scripted.world;
    const other = backups.store.objects.get(keyOf(backups.take(CLUSTER, scripted.leader())));
    if (other !== undefined) backups.store.objects.set(keyOf(path), other);
    scripted.restore(path, { confirmClusterID: clusterID(scripted) });
    await scripted.until('it is refused', () => scripted.restored().phase === 'Failed');
    await scripted.pass(A_WHILE);
    await asBefore(scripted, before);
  },

  /** All volumes are lost, and somebody said before what is to be done then. */
  async everythingIsLostAndComesBackByItself(scripted: ScriptedWorld) {
    await backedUp(scripted);
    scripted.world.edit({ recovery: { totalLoss: 'RestoreLatestBackup' } });
    await scripted.rest();
    for (const { name } of scripted.voters()) {
      scripted.takePod(name);
      scripted.takeClaim(name);
    }
    await scripted.until('there is a restore', () => scripted.world.kube.all('EtcdRestore').length === 1);
    await scripted.rest();
    await scripted.pass(A_WHILE);
  },

  /** The last of them while a learner waits for a node, and for a volume that was never made. */
  async everythingIsLostWhileALearnerWaits(scripted: ScriptedWorld) {
    const { world } = scripted;
    await backedUp(scripted);
    world.edit({ recovery: { totalLoss: 'RestoreLatestBackup' } });
    await scripted.rest();
    world.kubelet.stuck.add('example-3');
    const [first = '', ...others] = scripted.followers().map(({ name }) => name);
    scripted.takePod(first);
    scripted.takeClaim(first);
    world.wake();
    await scripted.until('the learner has its claim', () =>
      world.kube.all('PersistentVolumeClaim').some(({ metadata }) => metadata.name === 'example-3'),
    );
    const claim = scripted.claim('example-3');
    world.kube.change(claim, { status: { ...(claim['status'] as object), phase: 'Pending' } });
    for (const name of [scripted.leader().name, ...others]) {
      scripted.takePod(name);
      scripted.takeClaim(name);
    }
    world.wake();
    await scripted.until('there is a restore', () => world.kube.all('EtcdRestore').length === 1);
    world.kubelet.stuck.clear();
    await scripted.rest();
    await scripted.pass(A_WHILE);
  },

  /** It cannot start at first, and when it does it brings along an alarm of a member that is none any more. */
  async firstMemberHasItsTroubles(scripted: ScriptedWorld) {
    const path = await backedUp(scripted);
    scripted.restore(path, { confirmClusterID: clusterID(scripted) });
    await scripted.about('unpackBackup');
    scripted.world.kubelet.stuck.add('example-3');
    await scripted.blockedBy('MembersNotStarting');
    scripted.world.kubelet.stuck.clear();
    await scripted.until('it runs', () => scripted.process('example-3') !== undefined);
    const first = scripted.process('example-3');
    if (first !== undefined) scripted.world.etcd.set(first, { alarm: 'memberID:4711 alarm:NOSPACE' });
    await succeeded(scripted);
  },

  /** The alarms of its snapshot are disarmed, and the database is as full as it was: a write finds that out. Clients are let in, to read and to delete. */
  async whatIsRestoredHasNoSpace(scripted: ScriptedWorld) {
    await growing(scripted);
    const { etcd } = scripted.world;
    const [first] = etcd.processes.values();
    if (first !== undefined) etcd.space.raise(first);
    for (const { disk } of etcd.processes.values()) disk.bytes = 2 ** 31;
    await scripted.blockedBy('DatabaseFull');
    for (const { disk } of etcd.processes.values()) disk.bytes = 2 ** 20;
    await succeeded(scripted);
  },

  /** No member is added beside the alarm, and who has looked has it disarmed. */
  async etcdRaisesCorruptWhileItGrows(scripted: ScriptedWorld) {
    await growing(scripted);
    const { etcd } = scripted.world;
    const [first] = etcd.processes.values();
    if (first !== undefined) etcd.corruption.raise(first.clusterId, first.memberId);
    scripted.world.wake();
    await scripted.blockedBy('CorruptUnexplained');
    await scripted.pass(A_WHILE);
    await scripted.approve();
    await succeeded(scripted);
  },

  /** Somebody makes a cluster to be restored into; it is not made empty meanwhile. */
  async clusterIsMadeToBeRestoredInto(scripted: ScriptedWorld) {
    const { world } = scripted;
    const { resource } = world;
    if (resource === undefined) return;
    const metadata = { ...resource.metadata, annotations: { [ANNOTATION_RESTORED_BY]: RESTORE } };
    world.kube.change(resource, { metadata });
    world.edit({ size: 3, version: '3.6.16', storage: { retain: 'Delete' } });
    world.begin();
    await scripted.blockedBy('AwaitingRestore');
    const path = world.backups.take(CLUSTER, BEFORE);
    scripted.restore(path, { clusterTemplate: world.spec });
    await succeeded(scripted);
  },

  /** One reason after the other keeps it from being begun, and nothing is touched. */
  async restoreIsRefused(scripted: ScriptedWorld) {
    const path = await backedUp(scripted);
    const before = scripted.leader().clusterId;
    const confirmed = { confirmClusterID: clusterID(scripted) };
    const newer = scripted.world.backups.take(CLUSTER, { ...scripted.leader(), version: '3.7.3' });
    const none = { s3: undefined, backupStorageType: undefined, ...confirmed };
    for (const spec of [
      { etcdCluster: { name: 'nobody' } },
      { clusterTemplate: { size: 1 } },
      { s3: { path: newer, awsSecret: '' }, ...confirmed },
      { ...none, backupRef: { name: 'nobody' } },
      { ...none, backupRef: { name: BACKUP, at: 1 } },
      { ...none, backupRef: { name: BACKUP, at: '2020-01-01T00:00:00Z' } },
      { ...none },
      { s3: { path: 'nowhere', awsSecret: '' }, ...confirmed },
    ]) {
      scripted.restore(path, spec);
      await scripted.pass(150);
      scripted.world.kube.delete('EtcdRestore', RESTORE);
    }
    scripted.world.kube.merge('EtcdBackup', BACKUP, { spec: { s3: { path: 'elsewhere/etcd' } } });
    scripted.restore(path, { ...none, backupRef: { name: BACKUP } });
    await scripted.pass(150);
    await asBefore(scripted, before);
  },

  async twoRestoresAreAskedFor(scripted: ScriptedWorld) {
    const path = await backedUp(scripted);
    const spec = { confirmClusterID: clusterID(scripted), revisionBump: 0 };
    scripted.world.edit({ paused: true });
    scripted.restore(path, spec, 'later');
    await scripted.until('it is examined', () => {
      const { source } = (scripted.world.kube.peek('EtcdRestore', 'later')?.['status'] ??
        {}) as EtcdRestoreStatus;
      return source !== undefined;
    });
    scripted.restore(path, spec);
    await scripted.pass(A_WHILE);
    scripted.world.kube.delete('EtcdRestore', 'later');
    scripted.world.edit({ paused: false });
    await succeeded(scripted);
  },

  /** It says what wakes it, and so does the one that waits for it. */
  async clusterIsPutToSleepInTheMiddle(scripted: ScriptedWorld) {
    const { world } = scripted;
    const path = await growing(scripted);
    world.edit({ hibernated: true });
    await scripted.blockedBy('Hibernated');
    scripted.restore(path, {}, 'another');
    await scripted.until('the other one waits', () => wordOf(world, 'another').includes('spec.hibernated'));
    world.kube.delete('EtcdRestore', 'another');
    world.edit({ hibernated: false });
    await succeeded(scripted);
  },

  async thereAreNoVolumesToRestoreOnto(scripted: ScriptedWorld) {
    scripted.remake({ isEphemeral: true });
    await scripted.createInPods({ size: 1 });
    scripted.restore(scripted.world.backups.take(CLUSTER, scripted.leader()), {
      confirmClusterID: clusterID(scripted),
    });
    await scripted.pass(A_WHILE);
    await scripted.rest();
  },

  async volumesAreTooSmallToRestoreOnto(scripted: ScriptedWorld) {
    const spec = { resources: { requests: { storage: '100Mi' } } };
    await scripted.create({ size: 1, storage: { volumeClaimTemplate: { spec } } });
    scripted.restore(scripted.world.backups.take(CLUSTER, scripted.leader()), {
      confirmClusterID: clusterID(scripted),
    });
    await scripted.pass(A_WHILE);
    await scripted.rest();
  },

  /** The first member has less than the backup was said to have. */
  async backupHasLessThanWasSaid(scripted: ScriptedWorld) {
    const path = await backedUp(scripted);
    const before = scripted.leader().clusterId;
    scripted.restore(path, { confirmClusterID: clusterID(scripted) });
    const first = () => scripted.process('example-3');
    await scripted.until('it runs', () => {
      const { disk } = first() ?? {};
      if (disk !== undefined) disk.bump = 0;
      return first()?.serves === true;
    });
    await scripted.blockedBy('RevisionTooLow');
    scripted.world.kube.delete('EtcdRestore', RESTORE);
    await asBefore(scripted, before);
  },

  /** Its revision is right, and one key is missing. */
  async backupHasFewerKeysThanWasSaid(scripted: ScriptedWorld) {
    const path = await backedUp(scripted);
    const before = scripted.leader().clusterId;
    scripted.world.backups.overstate(path);
    scripted.restore(path, { confirmClusterID: clusterID(scripted) });
    await scripted.blockedBy('KeysDiffer');
    scripted.world.kube.delete('EtcdRestore', RESTORE);
    await asBefore(scripted, before);
  },

  /** As long as its keys cannot be counted the first member stays alone. */
  async keysAreNotCountedForAWhile(scripted: ScriptedWorld) {
    const path = await backedUp(scripted);
    scripted.restore(path, { confirmClusterID: clusterID(scripted) });
    await scripted.until('it runs', () => scripted.process('example-3') !== undefined);
    await scripted.withoutReads(A_WHILE, 'countKeys');
    const { phase = '' } = scripted.restored();
    if (phase !== 'Seeding') throw new Breach(`the restore is ${phase}, and nobody has counted its keys`);
    await succeeded(scripted);
  },

  /** All members are there, and one of them cannot be read from. */
  async restoredMemberCannotBeRead(scripted: ScriptedWorld) {
    const path = await backedUp(scripted);
    scripted.restore(path, { confirmClusterID: clusterID(scripted) });
    await scripted.until(
      'all are there',
      () => scripted.restored().phase === 'Growing' && scripted.voters().length === 3,
    );
    await scripted.withoutReads(A_WHILE);
    await succeeded(scripted);
  },

  /** What nobody asked for does not begin when a volume turns up again. */
  async volumeIsThereAfterAll(scripted: ScriptedWorld) {
    await backedUp(scripted);
    const { kube } = scripted.world;
    scripted.world.edit({ recovery: { totalLoss: 'RestoreLatestBackup' } });
    await scripted.rest();
    const claim = scripted.claim('example-0');
    for (const { name } of scripted.voters()) {
      scripted.takePod(name);
      scripted.takeClaim(name);
    }
    await scripted.until('there is a restore', () => kube.all('EtcdRestore').length === 1);
    kube.create(claim as unknown as WritableObject);
    await scripted.pass(A_WHILE);
    if (scripted.world.etcd.restored.size > 0)
      throw new Breach('a backup was restored though a volume is there');
  },

  /** Twice: the second one begins above all revisions of the first. */
  async restoreIsRepeated(scripted: ScriptedWorld) {
    const path = await backedUp(scripted);
    for (let round = 0; round < 2; round += 1) {
      scripted.restore(path, { confirmClusterID: clusterID(scripted) });
      await succeeded(scripted);
      scripted.world.kube.delete('EtcdRestore', RESTORE);
    }
  },
};
