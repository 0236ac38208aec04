/** Activities for a real worker whose process dies when their world in memory says so. */
import { type Activities, createActivities, type Dependencies } from '../../src/activities/index.ts';
import { Killed } from './workflow-run.ts';

/** A world whose operator can be killed at any call. */
interface MortalWorld {
  readonly deps: Dependencies;
  act<Result>(call: (activities: Activities) => Promise<Result>): Promise<Result>;
  reboot(): void;
}

/** The attempt of an activity during which its process dies is lost, and another process makes the next. @param died called with each */
export function mortal(world: MortalWorld, died: () => void): Activities {
  const names = Object.keys(createActivities(world.deps));
  const through =
    (name: string) =>
    async (...args: unknown[]) => {
      try {
        return await world.act(activities => {
          const activity = Reflect.get(activities, name) as (...args: unknown[]) => Promise<unknown>;
          return activity(...args);
        });
      } catch (error) {
        if (error instanceof Killed) {
          died();
          world.reboot();
        }
        throw error;
      }
    };
  return Object.fromEntries(names.map(name => [name, through(name)])) as unknown as Activities;
}
