/** Scenarios about incarnations that are kept and gone back to: see scenarios.ts. */
import type { Step } from '../../src/activities/index.ts';
import { ANNOTATION_DATA_VERSION, ANNOTATION_INCARNATION } from '../../src/api/names.ts';
import type { EtcdClusterStatus } from '../../src/api/schemas/types.ts';
import { Breach, CLUSTER } from './invariants.ts';
import type { ScriptedWorld } from './scripted-world.ts';

const A_WHILE = 400;

interface Before {
  readonly token: string;
  readonly id: string;
}

function identity({ world }: ScriptedWorld): Before {
  const { incarnation, clusterID = '' } = (world.resource?.['status'] ?? {}) as EtcdClusterStatus;
  return { token: incarnation?.token ?? '', id: clusterID };
}

/** A backup is restored over a cluster that was written to since, and clients go on; what was, and what is. */
async function restored(scripted: ScriptedWorld): Promise<{ readonly old: Before; readonly now: Before }> {
  await scripted.create({ size: 3 });
  await scripted.pass(A_WHILE);
  const path = scripted.world.backups.take(CLUSTER, scripted.leader());
  await scripted.pass(A_WHILE);
  const old = identity(scripted);
  scripted.restore(path, { confirmClusterID: old.id });
  await scripted.until('the restore has succeeded', () => scripted.restored().phase === 'Succeeded');
  await scripted.rest();
  await scripted.pass(A_WHILE);
  return { old, now: identity(scripted) };
}

/** This incarnation runs, with all that clients wrote to it. */
async function runs(scripted: ScriptedWorld, { token, id }: Before): Promise<void> {
  await scripted.rest();
  await scripted.pass(A_WHILE);
  if (scripted.leader().clusterId !== id || identity(scripted).token !== token)
    throw new Breach(`another cluster is there than ${id}`);
}

async function returned(scripted: ScriptedWorld, name = 'return'): Promise<void> {
  await scripted.until('it is gone back to', () => scripted.restored(name).phase === 'Succeeded');
}

async function refused(scripted: ScriptedWorld, reason: string): Promise<void> {
  await scripted.until('it is refused', () => scripted.restored('return').phase === 'Refused');
  const { refusal } = scripted.restored('return');
  if (refusal?.reason !== reason) throw new Breach(`it is refused for ${refusal?.reason}`);
}

function keptClaims({ world }: ScriptedWorld, { token }: Before) {
  return world.kube
    .all('PersistentVolumeClaim')
    .filter(({ metadata }) => metadata.annotations?.[ANNOTATION_INCARNATION] === token);
}

const STEPS: readonly Step['kind'][] = [
  'fenceMembers',
  'switchIncarnation',
  'restartMember',
  'ensureObjects',
  'concludeRestore',
];

export const incarnationScenarios = {
  /** The operator dies, and Temporal forgets everything, in the middle of every step; and all the way forward again. */
  async goingBackIsCutShortAgainAndAgain(scripted: ScriptedWorld) {
    const { old, now } = await restored(scripted);
    for (const [to, from, name] of [
      [old, now, 'return'],
      [now, old, 'forward'],
    ] as const) {
      scripted.goBack(to.token, from.id, name);
      for (const kind of STEPS) {
        await scripted.about(kind);
        await scripted.pass(scripted.world.random.below(10));
        scripted.loseOperator();
      }
      await returned(scripted, name);
      await runs(scripted, to);
    }
  },

  /** Aborted while members start, and deleted: what ran is there again, and can be left again. */
  async goingBackIsAborted(scripted: ScriptedWorld) {
    const { old, now } = await restored(scripted);
    scripted.goBack(old.token, now.id);
    await scripted.about('restartMember');
    scripted.world.operator.abort = true;
    await scripted.until('it is given up', () => scripted.restored('return').phase === 'Failed');
    scripted.world.operator.abort = false;
    await runs(scripted, now);
    scripted.goBack(old.token, now.id, 'again');
    await scripted.about('restartMember');
    scripted.world.kube.delete('EtcdRestore', 'again');
    await runs(scripted, now);
    scripted.goBack(old.token, now.id, 'at-last');
    await returned(scripted, 'at-last');
    await runs(scripted, old);
  },

  /** Somebody names another cluster than the one that is given up. */
  async goingBackIsNotConfirmed(scripted: ScriptedWorld) {
    const { old, now } = await restored(scripted);
    scripted.goBack(old.token, old.id);
    await refused(scripted, 'WrongClusterID');
    await runs(scripted, now);
    scripted.world.kube.merge('EtcdRestore', 'return', { spec: { confirmClusterID: now.id } });
    await returned(scripted);
    await runs(scripted, old);
  },

  /** Two of its three volumes are gone: nobody could lead. */
  async tooLittleIsKept(scripted: ScriptedWorld) {
    const { old, now } = await restored(scripted);
    for (const { metadata } of keptClaims(scripted, old).slice(0, 2)) scripted.takeClaim(metadata.name);
    scripted.goBack(old.token, now.id);
    await refused(scripted, 'IncarnationNotKept');
    await runs(scripted, now);
  },

  /** One of three volumes is gone: the others serve, and the member is replaced before clients are let in. */
  async oneVolumeOfWhatIsKeptIsGone(scripted: ScriptedWorld) {
    const { old, now } = await restored(scripted);
    const [claim] = keptClaims(scripted, old);
    scripted.takeClaim(claim?.metadata.name ?? '');
    scripted.goBack(old.token, now.id);
    await returned(scripted);
    await runs(scripted, old);
  },

  /** Its data is of a release that spec.version cannot read. */
  async whatIsKeptIsOfANewerMinor(scripted: ScriptedWorld) {
    const { old, now } = await restored(scripted);
    for (const claim of keptClaims(scripted, old)) {
      const annotations = { ...claim.metadata.annotations, [ANNOTATION_DATA_VERSION]: '3.7.3' };
      scripted.world.kube.merge('PersistentVolumeClaim', claim.metadata.name, { metadata: { annotations } });
    }
    scripted.goBack(old.token, now.id);
    await refused(scripted, 'VersionTooOld');
    await runs(scripted, now);
  },

  /** The status is lost when what was before runs again, and what is kept has the higher number. */
  async statusIsLostAfterGoingBack(scripted: ScriptedWorld) {
    const { old, now } = await restored(scripted);
    scripted.goBack(old.token, now.id);
    await returned(scripted);
    await runs(scripted, old);
    scripted.loseStatus();
    for (const { name } of scripted.voters()) scripted.takePod(name);
    scripted.world.wake();
    await runs(scripted, old);
  },
};
