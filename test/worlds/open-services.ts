/** Which Services lead clients to members, from their selectors as they stand. */
import type { KubeObject } from '../../src/kube/port.ts';

const CLIENTS = 'etcd.database.coreos.com/clients';

/** Whether it selects members that admit clients. */
export function letsClientsIn(service: KubeObject | undefined): boolean {
  const { selector = {} } = (service?.['spec'] ?? {}) as { readonly selector?: Record<string, string> };
  return service !== undefined && [undefined, 'admitted'].includes(selector[CLIENTS]);
}

/** Their names, of all Services that there are. */
export function openServices(world: {
  readonly kube: { all(kind: string): readonly KubeObject[] };
}): string[] {
  return world.kube
    .all('Service')
    .filter(letsClientsIn)
    .map(({ metadata }) => metadata.name)
    .toSorted();
}
