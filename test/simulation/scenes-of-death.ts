/** Scenes about what looks like a member's death and is none: see scenes.ts. */
import { nodeOf } from './sim-nodes.ts';
import type { Stage } from './stage.ts';

/** Long enough for everything that a guard would have let through. */
const A_WHILE = 500;

export const deathScenes = {
  /** The volume is there, and its Node is; only the label by which the one names the other is another one. */
  async nodeIsRelabelled(stage: Stage) {
    const { nodes } = stage.world.kubelet;
    nodes.hasLocalVolumes = true;
    await stage.create({ size: 3, repair: { replaceAfterSeconds: 0 } });
    const { name } = stage.follower();
    const node = nodeOf(stage.pod(name)) ?? '';
    nodes.relabel(node, 'renamed');
    stage.takePod(name);
    await stage.pass(A_WHILE);
    nodes.relabel(node);
    await stage.rest();
  },
};
