/** Scenarios about steps that come at the wrong time: see scenarios.ts. */
import type { EtcdClusterStatus } from '../../src/api/schemas/types.ts';
import { nodeOf } from './sim-nodes.ts';
import type { ScriptedWorld } from './scripted-world.ts';

/** Long enough for everything that a guard would have let through. */
const A_WHILE = 500;
const TUNED = { etcd: { snapshotCount: 7_000 } };

function statusOf({ world }: ScriptedWorld): EtcdClusterStatus {
  return world.resource?.['status'] ?? {};
}

const token = (scripted: ScriptedWorld): string => statusOf(scripted).incarnation?.token ?? '';

/** A cluster whose operator does nothing by itself. */
async function paused(scripted: ScriptedWorld): Promise<void> {
  await scripted.create({ size: 3 });
  scripted.world.operator.paused = { by: 'somebody' };
}

export const stepScenarios = {
  /** Kubernetes has not noticed: its node is cut off, and the pod still counts as ready. */
  async rolloutWhileOneIsAway(scripted: ScriptedWorld) {
    await scripted.create({ size: 3 });
    const away = scripted.follower(1);
    scripted.world.kubelet.nodes.down.add(nodeOf(scripted.pod(away.name)) ?? '');
    scripted.world.etcd.set(away, { frozen: true });
    scripted.world.edit(TUNED);
    await scripted.pass(A_WHILE);
  },

  /** One goes away between the plan to remove another and its removal. With volumes the other would be stopped by then. */
  async removalIsOvertaken(scripted: ScriptedWorld) {
    await scripted.createInPods({ size: 3 });
    scripted.world.edit({ size: 2 });
    await scripted.about('removeMember');
    scripted.world.etcd.set(scripted.follower(0), { frozen: true });
    await scripted.pass(A_WHILE);
  },

  /** The same before a pod is stopped; the first execution of the step dies, so that another one comes later. */
  async stopIsOvertaken(scripted: ScriptedWorld) {
    await scripted.create({ size: 3 });
    scripted.world.edit(TUNED);
    await scripted.about('stopMember');
    scripted.world.etcd.set(scripted.follower(1), { frozen: true });
    scripted.world.fate = 'crashBefore';
    await scripted.pass(A_WHILE);
  },

  async bootstrapComesLate(scripted: ScriptedWorld) {
    await paused(scripted);
    const { name } = scripted.follower();
    const { currentVersion: version = '' } = statusOf(scripted);
    scripted.takePod(name);
    scripted.late({ kind: 'bootstrapMembers', token: token(scripted), members: [name], version });
    await scripted.pass(A_WHILE);
  },

  /** A creation that was decided long ago is performed once more, when nothing is left of the cluster that it made. */
  async recordingComesLate(scripted: ScriptedWorld) {
    await paused(scripted);
    const { incarnation, storage, currentVersion: version = '' } = statusOf(scripted);
    if (incarnation === undefined || storage === undefined) throw new Error('the cluster is not created');
    const { token, members } = incarnation;
    for (const { name } of members) {
      scripted.takePod(name);
      scripted.takeClaim(name);
    }
    await scripted.pass(A_WHILE);
    scripted.loseStatus();
    scripted.late({ kind: 'recordIncarnation', incarnation: { token, members }, storage });
    await scripted.pass(A_WHILE);
    const names = members.map(({ name }) => name);
    scripted.late({ kind: 'bootstrapMembers', token, members: names, version });
    await scripted.pass(A_WHILE);
  },

  async creationComesLate(scripted: ScriptedWorld) {
    await paused(scripted);
    const { name: member, memberId: id } = scripted.follower();
    scripted.takePod(member);
    scripted.takeClaim(member);
    scripted.late({ kind: 'createMember', token: token(scripted), member, id });
    await scripted.pass(A_WHILE);
  },
};
