/** The operator killed with -9 at ten moments of a creation, one after the other. */
import { killedCreations } from '../../stack/drill/killed-creations.ts';
import type { World } from '../../stack/e2e.ts';
import { useNamespace } from '../../stack/e2e-namespace.ts';

const NAMESPACE = 'killed-ten-times';
let world: World;

useNamespace(NAMESPACE, opened => void (world = opened));

killedCreations({ world: () => world, namespace: NAMESPACE, kills: 10, clusters: 1 });
