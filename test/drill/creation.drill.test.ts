/** The operator killed with -9 in the middle of creations. */
import { killedCreations } from '../stack/drill/killed-creations.ts';
import type { World } from '../stack/e2e.ts';
import { useNamespace } from '../stack/e2e-namespace.ts';

const NAMESPACE = 'killed';
let world: World;

useNamespace(NAMESPACE, opened => void (world = opened));

killedCreations({ world: () => world, namespace: NAMESPACE, kills: 1, clusters: 3 });
