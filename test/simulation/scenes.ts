/**
 * Scenes: each leads a small cluster quickly to where one guard of the operator matters. Played with the guard nothing breaks;
 * played without it (mutations.ts) an invariant is broken.
 */
import { membershipScenes } from './scenes-of-membership.ts';
import { stepScenes } from './scenes-of-steps.ts';
import { volumeScenes } from './scenes-of-volumes.ts';
import { Stage } from './stage.ts';

const SCENES = { ...membershipScenes, ...volumeScenes, ...stepScenes };
export type SceneName = keyof typeof SCENES;

/** Plays a scene. The breach that it ended with, in words; undefined when everything held. */
export async function play(name: SceneName, seed: number): Promise<string | undefined> {
  const stage = new Stage(seed);
  try {
    await SCENES[name](stage);
    return undefined;
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return error.message;
  } finally {
    stage.world.end();
    await new Promise(resolve => setImmediate(resolve));
  }
}
