/** The operator killed with -9 at ten moments of a creation, one after the other. */
import { afterAll, beforeAll } from 'vitest';
import { killedCreations } from '../../support/drill/killed-creations.ts';
import { createNamespace, leaveNamespace, openWorld, type World } from '../../support/e2e.ts';

const NAMESPACE = 'killed-ten-times';
let world: World;

beforeAll(async () => {
  world = await openWorld();
  await createNamespace(world, NAMESPACE);
});
afterAll(() => leaveNamespace(world, NAMESPACE));

killedCreations({ world: () => world, namespace: NAMESPACE, kills: 10, clusters: 1 });
