/** Members whose data differs: a majority decides, a person where there is none, and CORRUPT goes when what raised it is gone. */
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
};
