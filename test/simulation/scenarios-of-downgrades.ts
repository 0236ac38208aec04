/** Scenarios about an older minor: see scenarios.ts. */
import { Breach } from './invariants.ts';
import type { ScriptedWorld } from './scripted-world.ts';
import { asked, reached, stopped, versions } from './scenarios-of-upgrades.ts';
import { agreedOn, downgradeOn } from './sim-versions.ts';

/** Long enough for everything that a guard would have let through. */
const A_WHILE = 1_200;
const DOWN = { from: '3.7.3', to: '3.6.16' } as const;

/** No downgrade is enabled any more, as every member has heard. */
async function ended(scripted: ScriptedWorld): Promise<void> {
  await scripted.until('no downgrade is enabled', () =>
    [...scripted.world.etcd.processes.values()].every(({ disk }) => downgradeOn(disk) === ''),
  );
}

async function enabled(scripted: ScriptedWorld): Promise<void> {
  await scripted.until('the downgrade is enabled', () => downgradeOn(scripted.leader().disk) !== '');
}

export const downgradeScenarios = {
  async minorBackIsAskedFor(scripted: ScriptedWorld) {
    await asked(scripted, DOWN);
    await reached(scripted, '3.6.16');
    await ended(scripted);
  },

  /** And forward again: what 3.5 leaves in the log must not meet 3.7. */
  async twoMinorsBackAreAskedFor(scripted: ScriptedWorld) {
    scripted.world.isQuiet = true;
    await asked(scripted, { from: '3.7.3', to: '3.5.35', upgrade: { allowIntermediateVersions: true } });
    await reached(scripted, '3.5.35');
    await ended(scripted);
    scripted.world.edit({ version: '3.7.3' });
    await reached(scripted, '3.7.3');
  },

  /** Some members have heard of the older minor, and not all have made their data ready for it. */
  async versionsAreLoweredLate(scripted: ScriptedWorld) {
    await asked(scripted, DOWN, () => {
      scripted.world.etcd.raises = false;
    });
    await enabled(scripted);
    await scripted.pass(A_WHILE);
    if (versions(scripted).includes('3.6.16')) throw new Breach('a member was lowered too early');
    scripted.world.etcd.raises = true;
    await reached(scripted, '3.6.16');
  },

  /** It comes back with the release that its data is of. */
  async podGoesBeforeVersionsAreLowered(scripted: ScriptedWorld) {
    await asked(scripted, DOWN, () => {
      scripted.world.etcd.raises = false;
    });
    await enabled(scripted);
    scripted.takePod(scripted.follower(0).name);
    await scripted.pass(A_WHILE);
    scripted.world.etcd.raises = true;
    await reached(scripted, '3.6.16');
  },

  async downgradeIsCancelledInTheMiddle(scripted: ScriptedWorld) {
    await asked(scripted, DOWN);
    await scripted.until('one is lowered', () => versions(scripted).includes('3.6.16'));
    scripted.world.edit({ version: '3.7.3' });
    await reached(scripted, '3.7.3');
    await ended(scripted);
  },

  async downgradeIsCancelledAtOnce(scripted: ScriptedWorld) {
    await asked(scripted, DOWN, () => {
      scripted.world.etcd.raises = false;
    });
    await enabled(scripted);
    scripted.world.edit({ version: '3.7.3' });
    scripted.world.etcd.raises = true;
    await reached(scripted, '3.7.3');
    await ended(scripted);
  },

  /** Not even a third minor that is asked for in the middle meets the two that are there. */
  async thirdMinorIsAskedForInTheMiddle(scripted: ScriptedWorld) {
    await asked(scripted, { from: '3.6.16', to: '3.7.3' });
    await scripted.until('one is upgraded', () => versions(scripted).includes('3.7.3'));
    scripted.world.edit({ version: '3.5.35', upgrade: { allowIntermediateVersions: true } });
    await scripted.until('all are upgraded', () => versions(scripted).every(version => version === '3.7.3'));
    await reached(scripted, '3.5.35');
  },

  async olderVersionCrashes(scripted: ScriptedWorld) {
    await asked(scripted, { from: '3.7.3', to: '3.6.99' }, () =>
      scripted.world.kubelet.duds.set('3.6.99', 'crashes'),
    );
    await stopped(scripted, 'RolledBack');
    if (agreedOn(scripted.leader().disk) !== '3.7')
      throw new Breach('no member runs 3.6, and the cluster was left in it');
    scripted.world.edit({ version: '3.6.16' });
    await reached(scripted, '3.6.16');
  },

  async memberIsAwayBeforeADowngrade(scripted: ScriptedWorld) {
    await asked(scripted, DOWN, () => {
      scripted.world.etcd.set(scripted.follower(0), { frozen: true });
    });
    await scripted.pass(A_WHILE);
    if (downgradeOn(scripted.leader().disk) !== '') throw new Breach('it was enabled while a member is away');
  },

  async memberIsLostOnTheWayDown(scripted: ScriptedWorld) {
    await asked(scripted, { ...DOWN, repair: { replaceAfterSeconds: 0 } });
    await scripted.until('one is lowered', () => versions(scripted).includes('3.6.16'));
    const { name } = scripted.follower(1);
    scripted.takePod(name);
    scripted.takeClaim(name);
    await reached(scripted, '3.6.16');
  },

  /** The downgrade is enabled, and no member runs the older release yet. */
  async memberIsLostBeforeVersionsAreLowered(scripted: ScriptedWorld) {
    await asked(scripted, { ...DOWN, repair: { replaceAfterSeconds: 0 } }, () => {
      scripted.world.etcd.raises = false;
    });
    await enabled(scripted);
    const { name } = scripted.follower(1);
    scripted.takePod(name);
    scripted.takeClaim(name);
    const { processes } = scripted.world.etcd;
    await scripted.until('a member is added', () => {
      const leader = [...processes.values()].find(({ isLeader }) => isLeader);
      const isAdded = scripted.learner() !== undefined;
      // etcd takes nobody then ("incompatible with current running cluster").
      if (isAdded && leader !== undefined && downgradeOn(leader.disk) !== '')
        throw new Breach('a member is added while a downgrade is enabled');
      return isAdded;
    });
    scripted.world.etcd.raises = true;
    await reached(scripted, '3.6.16');
  },

  /** Nobody has asked for another version: the new member cannot join, and it is said why. */
  async memberIsLostBesideSomebodysDowngrade(scripted: ScriptedWorld) {
    await scripted.create({ size: 3, version: '3.6.16', repair: { replaceAfterSeconds: 0 } });
    scripted.world.etcd.downgradeByHand(scripted.leader(), 'enable', '3.5');
    const { name } = scripted.follower(1);
    scripted.takePod(name);
    scripted.takeClaim(name);
    await stopped(scripted, 'DowngradeEnabled');
    const { message = '' } = scripted.world.decision;
    if (!message.includes('etcdctl downgrade cancel')) throw new Breach(`it does not say how: ${message}`);
    scripted.world.etcd.downgradeByHand(scripted.leader(), 'cancel', '');
    // One that could not start is tried again after a while.
    scripted.skip(3_600);
    await scripted.rest();
  },

  /** Somebody else's downgrade is continued where it leads to where the specification does, and reported otherwise. */
  async somebodyEnabledADowngrade(scripted: ScriptedWorld) {
    await asked(scripted, { from: '3.6.16', to: '3.7.3' }, () =>
      scripted.world.etcd.downgradeByHand(scripted.leader(), 'enable', '3.5'),
    );
    await stopped(scripted, 'DowngradeEnabled');
    if (downgradeOn(scripted.leader().disk) !== '3.5') throw new Breach('it was cancelled');
    scripted.world.edit({ version: '3.5.35' });
    await reached(scripted, '3.5.35');
    await ended(scripted);
  },

  /** In the middle of an upgrade. */
  async somebodyEnablesADowngradeInTheMiddle(scripted: ScriptedWorld) {
    await asked(scripted, { from: '3.6.15', to: '3.6.16' });
    await scripted.until('one is upgraded', () => versions(scripted).includes('3.6.16'));
    scripted.world.etcd.downgradeByHand(scripted.leader(), 'enable', '3.5');
    await stopped(scripted, 'DowngradeEnabled');
    scripted.world.etcd.downgradeByHand(scripted.leader(), 'cancel', '');
    await reached(scripted, '3.6.16');
  },

  /** Members of 3.5 do not say that their downgrade has not ended, and are upgraded again. */
  async downgradeIsLeftOver(scripted: ScriptedWorld) {
    scripted.world.isQuiet = true;
    await asked(scripted, { from: '3.6.16', to: '3.5.35' });
    await scripted.until('the versions are lowered', () => agreedOn(scripted.leader().disk) === '3.5');
    scripted.world.etcd.raises = false;
    await scripted.until('all are lowered', () => versions(scripted).every(version => version === '3.5.35'));
    await reached(scripted, '3.5.35');
    scripted.world.edit({ version: '3.6.16' });
    await scripted.until('one is upgraded', () => versions(scripted).includes('3.6.16'));
    scripted.world.etcd.raises = true;
    await reached(scripted, '3.6.16');
    await ended(scripted);
  },

  /** Nobody knows any more that it was this operator who enabled it. */
  async statusIsLostOnTheWayDown(scripted: ScriptedWorld) {
    await asked(scripted, DOWN);
    await scripted.until('one is lowered', () => versions(scripted).includes('3.6.16'));
    scripted.loseStatus();
    scripted.world.edit({ version: '3.7.3' });
    await stopped(scripted, 'DowngradeEnabled');
    scripted.world.edit({ version: '3.6.16' });
    await reached(scripted, '3.6.16');
  },
};
