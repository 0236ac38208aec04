/** The operator killed with -9 in the middle of creations. */
import { afterAll, beforeAll } from 'vitest';
import { killedCreations } from '../support/drill/killed-creations.ts';
import { createNamespace, leaveNamespace, openWorld, type World } from '../support/e2e.ts';

const NAMESPACE = 'killed';
let world: World;

beforeAll(async () => {
  world = await openWorld();
  await createNamespace(world, NAMESPACE);
});
afterAll(() => leaveNamespace(world, NAMESPACE));

killedCreations({ world: () => world, namespace: NAMESPACE, kills: 1, clusters: 3 });
