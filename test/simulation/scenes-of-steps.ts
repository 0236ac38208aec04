/** Scenes about steps that come at the wrong time: see scenes.ts. */
import type { EtcdClusterStatus } from '../../src/api/schemas/types.ts';
import { nodeOf } from './sim-nodes.ts';
import type { Stage } from './stage.ts';

/** Long enough for everything that a guard would have let through. */
const A_WHILE = 500;
const TUNED = { etcd: { snapshotCount: 7_000 } };

function token({ world }: Stage): string {
  return (world.resource?.['status'] as EtcdClusterStatus | undefined)?.incarnation?.token ?? '';
}

/** A cluster whose operator does nothing of its own accord. */
async function paused(stage: Stage): Promise<void> {
  await stage.create({ size: 3 });
  stage.world.operator.paused = { by: 'somebody' };
}

export const stepScenes = {
  /** Kubernetes has not noticed: its node is cut off, and the pod still counts as ready. */
  async rolloutWhileOneIsAway(stage: Stage) {
    await stage.create({ size: 3 });
    const away = stage.follower(1);
    stage.world.kubelet.nodes.down.add(nodeOf(stage.pod(away.name)) ?? '');
    stage.world.etcd.set(away, { frozen: true });
    stage.world.edit(TUNED);
    await stage.pass(A_WHILE);
  },

  /** One goes away between the plan to remove another and its removal. With volumes the other would be stopped by then. */
  async removalIsOvertaken(stage: Stage) {
    await stage.createInPods({ size: 3 });
    stage.world.edit({ size: 2 });
    await stage.about('removeMember');
    stage.world.etcd.set(stage.follower(0), { frozen: true });
    await stage.pass(A_WHILE);
  },

  /** The same before a pod is stopped; the first execution of the step dies, so that another one comes later. */
  async stopIsOvertaken(stage: Stage) {
    await stage.create({ size: 3 });
    stage.world.edit(TUNED);
    await stage.about('stopMember');
    stage.world.etcd.set(stage.follower(1), { frozen: true });
    stage.world.fate = 'crashBefore';
    await stage.pass(A_WHILE);
  },

  async bootstrapComesLate(stage: Stage) {
    await paused(stage);
    const { name } = stage.follower();
    stage.takePod(name);
    stage.late({ kind: 'bootstrapMembers', token: token(stage), members: [name] });
    await stage.pass(A_WHILE);
  },

  async creationComesLate(stage: Stage) {
    await paused(stage);
    const { name: member, memberId: id } = stage.follower();
    stage.takePod(member);
    stage.takeClaim(member);
    stage.late({ kind: 'createMember', token: token(stage), member, id });
    await stage.pass(A_WHILE);
  },
};
