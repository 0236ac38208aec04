/** Where Temporal is, as the Deployment of the operator says. Pure. */
import type { KubeObject } from '../../../kube/port.ts';
import { OPERATOR_CONTAINER } from '../../../api/names.ts';

export interface TemporalPlace {
  /** `host:port` of its frontend, as the operator's pods reach it. */
  readonly address: string;
  /** The Temporal namespace. */
  readonly namespace: string;
  readonly tls: boolean;
  /** The name in the server's certificate. */
  readonly serverName: string;
}

/** The defaults of the operator (src/main/config/variables.ts; a test ties the two together). */
export const DEFAULTS = {
  TEMPORAL_ADDRESS: 'temporal-frontend.temporal.svc:7233',
  TEMPORAL_NAMESPACE: 'etcd-operator',
} as const;

/** Each of these lets the operator use TLS. */
const OF_TLS = [
  'TEMPORAL_API_KEY_PATH',
  'TEMPORAL_TLS_SERVER_CA_CERT_PATH',
  'TEMPORAL_TLS_CLIENT_CERT_PATH',
  'TEMPORAL_TLS_CLIENT_KEY_PATH',
  'TEMPORAL_TLS_SERVER_NAME',
] as const;

interface Variable {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: unknown;
}
interface PodOwner {
  readonly template?: {
    readonly spec?: {
      readonly containers?: readonly { readonly name?: string; readonly env?: Variable[] }[];
    };
  };
}

/** What the variables of its Deployment say to the operator. @throws RangeError when they stand in another object */
export function placeOf(deployment: KubeObject): TemporalPlace {
  const { template } = (deployment['spec'] ?? {}) as PodOwner;
  const { containers = [] } = template?.spec ?? {};
  const own = containers.filter(({ name }) => name === OPERATOR_CONTAINER);
  const variables = (own.length > 0 ? own : containers).flatMap(({ env = [] }) => env);
  const valueOf = (name: string): string | undefined => {
    const variable = variables.findLast(each => each.name === name);
    if (variable?.valueFrom === undefined) return variable?.value;
    throw new RangeError(`${name} of Deployment ${deployment.metadata.name} stands in another object`);
  };
  const address = valueOf('TEMPORAL_ADDRESS') ?? DEFAULTS.TEMPORAL_ADDRESS;
  const switched = valueOf('TEMPORAL_TLS');
  return {
    address,
    namespace: valueOf('TEMPORAL_NAMESPACE') ?? DEFAULTS.TEMPORAL_NAMESPACE,
    tls: switched === undefined ? OF_TLS.some(name => valueOf(name) !== undefined) : switched === 'true',
    serverName: valueOf('TEMPORAL_TLS_SERVER_NAME') ?? hostOf(address),
  };
}

/** Without its port. */
export const hostOf = (address: string): string => address.replace(/:\d+$/, '').replace(/^\[(.*)\]$/, '$1');

export interface ServicePort {
  readonly namespace: string;
  readonly name: string;
  readonly port: string;
}

/**
 * The Service that an address names; undefined when it leads out of the cluster.
 * @param namespace of the operator: what a name without one is looked for in
 */
export function serviceOf(address: string, namespace: string): ServicePort | undefined {
  const form = /^(?<name>[a-z0-9-]+)(?:\.(?<of>[a-z0-9-]+))?(?:\.svc(?:\.[a-z0-9.-]+)?)?\.?:(?<port>\d+)$/i;
  const found = form.exec(address)?.groups;
  // An IPv4 address has four parts, and `localhost` is the pod itself.
  if (found === undefined || found['name'] === 'localhost') return undefined;
  const { name = '', of = namespace, port = '' } = found;
  return { namespace: of, name, port };
}
