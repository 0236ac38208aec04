/** The steps that go back to an incarnation that is kept, and that take it back, killed at each of their calls. */
import type { Step } from '../../src/planner/model/decision.ts';
import { askedBack } from '../worlds/gone-back.ts';
import { describeSteps, type PlannedWorld } from '../worlds/performed-again.ts';
import type { RestoreWorld } from '../worlds/restore-world.ts';

/** A cluster that was restored and is to be what it was before, when this step is the next. */
async function goingBack(next: Step['kind']): Promise<RestoreWorld> {
  const world = await askedBack();
  await world.settleUntil(next);
  return world;
}

async function until(kind: Step['kind'], world: RestoreWorld): Promise<PlannedWorld> {
  return { world, step: await world.runUntil(kind) };
}

describeSteps({
  'switchIncarnation to one that is kept': async () =>
    until('switchIncarnation', await goingBack('switchIncarnation')),
  'concludeRestore of one that is gone back to': async () =>
    until('concludeRestore', await goingBack('concludeRestore')),
  'revertRestore of one that is gone back to': async () => {
    const world = await goingBack('ensureObjects');
    await world.deleteRestore();
    return until('revertRestore', world);
  },
});
