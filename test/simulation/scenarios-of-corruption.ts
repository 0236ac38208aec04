/** Members whose data differs: a majority decides, a person where there is none, and CORRUPT goes when what raised it is gone. */
import { evict } from './faults-of-evictions.ts';
import { Breach } from './invariants.ts';
import type { ScriptedWorld } from './scripted-world.ts';
import type { Process } from './sim-raft.ts';

const A_WHILE = 400;

function rot(scripted: ScriptedWorld, { disk }: Process): void {
  disk.rottenSince = scripted.world.ticks;
}

/** Etcd finds it out at a compaction. */
function raise(scripted: ScriptedWorld, { clusterId, memberId }: Process, id = memberId): void {
  scripted.world.etcd.corruption.raise(clusterId, id);
  scripted.world.wake();
}

async function replaced(scripted: ScriptedWorld, { memberId, clusterId }: Process): Promise<void> {
  const { etcd } = scripted.world;
  await scripted.until(
    'it is no member any more',
    () => !scripted.voters().some(({ id }) => id === memberId),
  );
  await scripted.until('CORRUPT is disarmed', () => etcd.corruption.alarmsOf(clusterId).length === 0);
  await scripted.rest();
}

export const corruptionScenarios = {
  /** By policy, whoever etcd names, one after the other, the leader among them. */
  async memberDiffers(scripted: ScriptedWorld) {
    await scripted.create({ size: 3, repair: { corruption: 'Replace', maxReplacementsPerHour: 100 } });
    const follower = scripted.follower();
    rot(scripted, follower);
    raise(scripted, follower);
    await replaced(scripted, follower);
    const leader = scripted.leader();
    rot(scripted, leader);
    raise(scripted, leader, '0');
    await replaced(scripted, leader);
    const other = scripted.follower();
    rot(scripted, other);
    raise(scripted, scripted.leader());
    await replaced(scripted, other);
  },

  /** Found by the comparison of the day, and replaced when that is approved; what was put right before is not replaced. */
  async memberDiffersAndNobodyNoticed(scripted: ScriptedWorld) {
    await scripted.create({ size: 3 });
    const follower = scripted.follower();
    rot(scripted, follower);
    scripted.skip(24 * 3_600 + 60);
    await scripted.blockedBy('CorruptMember');
    follower.disk.rottenSince = undefined;
    scripted.skip(300);
    scripted.world.edit({ repair: { corruption: 'Replace' } });
    await scripted.rest();
    scripted.world.edit({ repair: { corruption: 'Ask' } });
    rot(scripted, follower);
    scripted.skip(24 * 3_600);
    await scripted.blockedBy('CorruptMember');
    await scripted.pass(A_WHILE);
    await scripted.approve();
    await replaced(scripted, follower);
  },

  /** While another one is away nobody is removed; nor is one of the majority, whoever asks. */
  async memberDiffersWhileAnotherIsAway(scripted: ScriptedWorld) {
    await scripted.create({ size: 5, repair: { corruption: 'Replace' } });
    const [one, other] = [scripted.follower(0), scripted.follower(1)];
    scripted.world.etcd.set(other, { frozen: true });
    rot(scripted, one);
    raise(scripted, one);
    await scripted.blockedBy('MembersUnhealthy');
    await scripted.pass(A_WHILE);
    scripted.world.etcd.set(other, { frozen: false });
    await replaced(scripted, one);
  },

  /** Nobody knows which is right until somebody says so. */
  async noMajorityHoldsTheSame(scripted: ScriptedWorld) {
    await scripted.create({ size: 3, repair: { corruption: 'Replace', maxReplacementsPerHour: 100 } });
    const [one, other] = [scripted.follower(0), scripted.follower(1)];
    rot(scripted, one);
    rot(scripted, other);
    raise(scripted, one, '0');
    await scripted.blockedBy('DataUndecided');
    await scripted.pass(A_WHILE);
    for (const { memberId, name } of [one, other]) {
      scripted.world.invariants.truth.named.add(memberId);
      await scripted.ask('replaceMember', name);
      await scripted.until(`${name} is gone`, () => !scripted.voters().some(({ id }) => id === memberId));
    }
    await replaced(scripted, other);
  },

  /** Etcd raised it, and all hold the same: a person decides, unless it names who is no member any more. */
  async corruptWithoutDifference(scripted: ScriptedWorld) {
    await scripted.create({ size: 3 });
    raise(scripted, scripted.follower());
    await scripted.blockedBy('CorruptUnexplained');
    await scripted.pass(A_WHILE);
    await scripted.approve();
    await scripted.rest();
    const { clusterId } = scripted.leader();
    rot(scripted, scripted.follower());
    raise(scripted, scripted.leader(), '4711');
    await scripted.blockedBy('CorruptMember');
    await scripted.pass(A_WHILE);
    await scripted.approve();
    await scripted.until(
      'it is disarmed',
      () => scripted.world.etcd.corruption.alarmsOf(clusterId).length === 0,
    );
    await scripted.rest();
  },

  /** Nobody has approved its replacement yet: followers would be filled by it. */
  async theLeaderDiffers(scripted: ScriptedWorld) {
    await scripted.create({ size: 3 });
    const { memberId } = scripted.leader();
    rot(scripted, scripted.leader());
    scripted.skip(24 * 3_600 + 60);
    await scripted.until('another member leads', () => scripted.leader().memberId !== memberId);
    await scripted.blockedBy('CorruptMember');
    await scripted.approve();
    await scripted.rest();
  },

  /** The first that could lead is the one that differs. */
  async theLeaderIsEvictedWhileAMemberDiffers(scripted: ScriptedWorld) {
    await scripted.create({ size: 3 });
    const [one, other] = [scripted.follower(0), scripted.follower(1)];
    const { name } = scripted.leader();
    rot(scripted, one);
    scripted.skip(24 * 3_600 + 60);
    await scripted.blockedBy('CorruptMember');
    const { kube, kubelet, disruptions } = scripted.world;
    kubelet.sleeping.add(name);
    disruptions.look();
    const pod = kube.peek('Pod', name);
    if (pod === undefined || !evict(scripted.world, pod)) throw new Breach('the leader is not evicted');
    await scripted.until('another member leads', () => scripted.leader().name !== name);
    if (scripted.leader().memberId !== other.memberId)
      throw new Breach(`${scripted.leader().name} leads, and its data differs`);
    kubelet.sleeping.clear();
    await scripted.blockedBy('CorruptMember');
    await scripted.approve();
    await replaced(scripted, one);
  },

  /** What one held that differed is held by two of three now: a person says who goes, whatever the policy. */
  async whatDiffersSpreads(scripted: ScriptedWorld) {
    await scripted.create({ size: 3 });
    const { etcd, invariants } = scripted.world;
    const [one, other] = [scripted.follower(0), scripted.follower(1)];
    etcd.set(one, { corrupt: true });
    scripted.skip(24 * 3_600 + 60);
    await scripted.blockedBy('CorruptMember');
    etcd.set(other, { corrupt: true });
    scripted.world.edit({ repair: { corruption: 'Replace', maxReplacementsPerHour: 100 } });
    scripted.skip(3_600);
    await scripted.pass(A_WHILE);
    await scripted.blockedBy('CorruptMember');
    for (const { memberId, name } of [one, other]) {
      invariants.truth.named.add(memberId);
      await scripted.ask('replaceMember', name);
      await scripted.until(`${name} is gone`, () => !scripted.voters().some(({ id }) => id === memberId));
    }
    await replaced(scripted, other);
  },

  /** An admission webhook refuses to have clients led away: members come back, and are replaced, all the same. */
  async clientsCannotBeLedAway(scripted: ScriptedWorld) {
    await scripted.create({ size: 3 });
    const { kube } = scripted.world;
    const [one, other] = [scripted.follower(0), scripted.follower(1)];
    rot(scripted, one);
    kube.refuses.set('patch Pod', 'admission webhook "deny.example.com" denied the request: no');
    scripted.skip(24 * 3_600 + 60);
    await scripted.blockedBy('CorruptMember');
    scripted.takePod(other.name);
    scripted.world.wake();
    await scripted.until(`${other.name} is started`, () => scripted.process(other.name)?.serves === true);
    await scripted.blockedBy('CorruptMember');
    await scripted.approve();
    await scripted.until(
      'it is no member any more',
      () => !scripted.voters().some(({ id }) => id === one.memberId),
    );
    kube.refuses.clear();
    await replaced(scripted, one);
  },
};
