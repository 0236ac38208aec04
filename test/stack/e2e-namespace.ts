import { afterAll, beforeAll } from 'vitest';
import { createNamespace, leaveNamespace, openWorld, type World } from './e2e.ts';

/** Gives a file the world and a namespace of its own, before its first test and until its last. */
export function useNamespace(name: string, use: (world: World) => void): void {
  let world: World;
  beforeAll(async () => {
    world = await openWorld();
    use(world);
    await createNamespace(world, name);
  });
  afterAll(() => leaveNamespace(world, name));
}
