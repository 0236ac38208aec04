/**
 * Scenarios: each brings a small cluster quickly to where one guard of the operator matters. Run with the guard nothing breaks;
 * run without it (mutations.ts) an invariant is broken.
 */
import { corruptionScenarios } from './scenarios-of-corruption.ts';
import { adviceScenarios } from './scenarios-of-advice.ts';
import { creationScenarios } from './scenarios-of-creation.ts';
import { deathScenarios } from './scenarios-of-death.ts';
import { deletionScenarios } from './scenarios-of-deletion.ts';
import { evictionScenarios } from './scenarios-of-evictions.ts';
import { incarnationScenarios } from './scenarios-of-incarnations.ts';
import { gateScenarios } from './scenarios-of-gates.ts';
import { learnerScenarios } from './scenarios-of-learners.ts';
import { membershipScenarios } from './scenarios-of-membership.ts';
import { userScenarios } from './scenarios-of-users.ts';
import { refusalScenarios } from './scenarios-of-refusals.ts';
import { recoveryScenarios } from './scenarios-of-recovery.ts';
import { secondStoreScenarios } from './scenarios-of-second-stores.ts';
import { restoreScenarios } from './scenarios-of-restores.ts';
import { specificationScenarios } from './scenarios-of-specification.ts';
import { pauseScenarios } from './scenarios-of-pauses.ts';
import { stepScenarios } from './scenarios-of-steps.ts';
import { tlsScenarios } from './scenarios-of-tls.ts';
import { downgradeScenarios } from './scenarios-of-downgrades.ts';
import { spaceScenarios } from './scenarios-of-space.ts';
import { upgradeScenarios } from './scenarios-of-upgrades.ts';
import { volumeScenarios } from './scenarios-of-volumes.ts';
import { watchingScenarios } from './scenarios-of-watching.ts';
import { widerScenarios } from './scenarios-of-the-wider-world.ts';
import { prepareTls } from './sim-tls.ts';
import { ScriptedWorld } from './scripted-world.ts';

const SCENARIOS = {
  ...membershipScenarios,
  ...volumeScenarios,
  ...stepScenarios,
  ...userScenarios,
  ...spaceScenarios,
  ...learnerScenarios,
  ...creationScenarios,
  ...specificationScenarios,
  ...tlsScenarios,
  ...gateScenarios,
  ...upgradeScenarios,
  ...downgradeScenarios,
  ...adviceScenarios,
  ...recoveryScenarios,
  ...restoreScenarios,
  ...deathScenarios,
  ...deletionScenarios,
  ...refusalScenarios,
  ...watchingScenarios,
  ...evictionScenarios,
  ...widerScenarios,
  ...pauseScenarios,
  ...corruptionScenarios,
  ...incarnationScenarios,
  ...secondStoreScenarios,
};
export type ScenarioName = keyof typeof SCENARIOS;
export const SCENARIO_NAMES = Object.keys(SCENARIOS) as ScenarioName[];

/** Plays a scenario. The breach that it ended with, in words; undefined when everything held. */
export async function play(name: ScenarioName, seed: number): Promise<string | undefined> {
  await prepareTls();
  const scripted = new ScriptedWorld(seed);
  try {
    await SCENARIOS[name](scripted);
    return undefined;
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return error.message;
  } finally {
    scripted.world.end();
    await new Promise(resolve => setImmediate(resolve));
  }
}
