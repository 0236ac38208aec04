/**
 * Scenes: each leads a small cluster quickly to where one guard of the operator matters. Played with the guard nothing breaks;
 * played without it (mutations.ts) an invariant is broken.
 */
import { adviceScenes } from './scenes-of-advice.ts';
import { creationScenes } from './scenes-of-creation.ts';
import { deathScenes } from './scenes-of-death.ts';
import { gateScenes } from './scenes-of-gates.ts';
import { learnerScenes } from './scenes-of-learners.ts';
import { membershipScenes } from './scenes-of-membership.ts';
import { peopleScenes } from './scenes-of-people.ts';
import { refusalScenes } from './scenes-of-refusals.ts';
import { restoreScenes } from './scenes-of-restores.ts';
import { specificationScenes } from './scenes-of-specification.ts';
import { stepScenes } from './scenes-of-steps.ts';
import { tlsScenes } from './scenes-of-tls.ts';
import { upgradeScenes } from './scenes-of-upgrades.ts';
import { volumeScenes } from './scenes-of-volumes.ts';
import { widerScenes } from './scenes-of-the-wider-world.ts';
import { prepareTls } from './sim-tls.ts';
import { Stage } from './stage.ts';

const SCENES = {
  ...membershipScenes,
  ...volumeScenes,
  ...stepScenes,
  ...peopleScenes,
  ...learnerScenes,
  ...creationScenes,
  ...specificationScenes,
  ...tlsScenes,
  ...gateScenes,
  ...upgradeScenes,
  ...adviceScenes,
  ...restoreScenes,
  ...deathScenes,
  ...refusalScenes,
  ...widerScenes,
};
export type SceneName = keyof typeof SCENES;
export const SCENE_NAMES = Object.keys(SCENES) as SceneName[];

/** Plays a scene. The breach that it ended with, in words; undefined when everything held. */
export async function play(name: SceneName, seed: number): Promise<string | undefined> {
  await prepareTls();
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
