/**
 * Whether a full quota has room again when pods have gone. A dry run counts what exists now: a quota that fits a cluster exactly refuses
 * what is made of it in the place of what is stopped. Pure.
 */
import { parseQuantity } from '../../../api/values/quantity.ts';
import type { KubeObject } from '../../../kube/port.ts';

type Amounts = ReadonlyMap<string, number>;

/**
 * What the admission plugin of quotas says: the resources of which there is too little, each with what is requested, used and allowed
 * (plugin/pkg/admission/resourcequota/controller.go).
 */
const EXCEEDED = /exceeded quota: \S+, requested: (\S+), used: (\S+), limited: (\S+)/;

/** @param gone objects that will be gone by then */
export function hasRoomWithout(message: string, gone: readonly KubeObject[]): boolean {
  const [, requested, used, limited] = EXCEEDED.exec(message) ?? [];
  if (requested === undefined || used === undefined || limited === undefined) return false;
  const [wanted, now, most] = [requested, used, limited].map(amountsOf);
  const names = [...(wanted?.keys() ?? [])];
  return names.every(name => {
    const freed = gone.reduce((sum, object) => sum + usageOf(object, name), 0);
    const then = (now?.get(name) ?? Number.NaN) - freed + (wanted?.get(name) ?? Number.NaN);
    // Quantities are fractions, such as 100m.
    return then <= (most?.get(name) ?? Number.NaN) + 1e-9;
  });
}

function amountsOf(text: string): Amounts {
  const pairs = text.split(',').map(pair => pair.split('='));
  return new Map(
    pairs.map(([name = '', quantity = '']) => [name, parseQuantity(quantity) ?? Number.NaN] as const),
  );
}

/** How much of a quota's resource an object takes; 0 of what is not known. */
function usageOf(object: KubeObject, resource: string): number {
  const { kind } = object;
  if (resource === `${kind.toLowerCase()}s` || resource === `count/${kind.toLowerCase()}s`) return 1;
  if (kind !== 'Pod') return 0;
  const [, list = 'requests', name = resource] = /^(requests|limits)\.(.+)$/.exec(resource) ?? [];
  return containersOf(object).reduce((sum, { resources }) => {
    const amount = resources?.[list as 'requests' | 'limits']?.[name];
    return sum + (amount === undefined ? 0 : (parseQuantity(amount) ?? 0));
  }, 0);
}

interface Container {
  readonly restartPolicy?: string;
  readonly resources?: Readonly<
    Partial<Record<'requests' | 'limits', Readonly<Record<string, string | number>>>>
  >;
}

/** Those that run side by side. A pod that has ended takes nothing. */
function containersOf(pod: KubeObject): readonly Container[] {
  const { phase } = (pod['status'] ?? {}) as { readonly phase?: string };
  if (phase === 'Succeeded' || phase === 'Failed') return [];
  const { containers = [], initContainers = [] } = (pod['spec'] ?? {}) as Readonly<
    Partial<Record<'containers' | 'initContainers', readonly Container[]>>
  >;
  return [...containers, ...initContainers.filter(({ restartPolicy }) => restartPolicy === 'Always')];
}
