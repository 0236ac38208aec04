/**
 * What stands behind an endpoint that a resource names. The operator reaches the etcd of every namespace, its author does not:
 * so without an administrator's word only what runs in the resource's own namespace is dialled, found through Kubernetes and not
 * through DNS, and pods instead of the addresses of Services, since anyone who may write EndpointSlices decides where those lead.
 */
import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import type { KubeClient, KubeObject } from '../../kube/port.ts';
import { dialledHost, type Endpoint, ownName } from '../../api/derived/endpoints.ts';
import { type AllowedAddresses, isSpecial } from '../../store/addresses.ts';
import { POD } from '../runtime/kinds.ts';

const SERVICE = { apiVersion: 'v1', kind: 'Service' } as const;

/** Of one endpoint: pods of a Service, or addresses of a name. */
const MOST_ADDRESSES = 9;

export type Found =
  | { readonly kind: 'addresses'; readonly isOwn: boolean; readonly addresses: readonly Address[] }
  /** It may be dialled, but there is nothing there now. */
  | { readonly kind: 'nothing'; readonly why: string }
  /** It is not this resource's to name. */
  | { readonly kind: 'foreign' };

interface Address {
  readonly ip: string;
  readonly port: number;
}

/** Never throws but for a failing API server. What is foreign is neither looked up nor dialled. */
export async function addressesOf(
  { kube, allowed }: { readonly kube: KubeClient; readonly allowed: AllowedAddresses },
  endpoint: Endpoint,
  namespace: string,
): Promise<Found> {
  const outside = await allowedAddresses(allowed, dialledHost(endpoint.host, namespace));
  if (outside !== undefined) {
    const addresses = outside.slice(0, MOST_ADDRESSES).map(ip => ({ ip, port: endpoint.port }));
    const why = 'it is not reachable';
    return addresses.length > 0 ? { kind: 'addresses', isOwn: false, addresses } : { kind: 'nothing', why };
  }
  const { host, port } = endpoint;
  if (isIP(host) !== 0) return ofOwnIp(kube, { ip: host, port, namespace });
  const own = ownName(host, namespace);
  if (own === undefined) return { kind: 'foreign' };
  const service = await kube.get({ ...SERVICE, namespace, name: own.service });
  if (service === undefined) return { kind: 'nothing', why: `Service ${own.service} does not exist` };
  return ofService(kube, service, { port, hostname: own.hostname });
}

/** Where an administrator lets everybody connect to; undefined: nowhere. */
async function allowedAddresses(
  allowed: AllowedAddresses,
  host: string,
): Promise<readonly string[] | undefined> {
  if (isIP(host) !== 0) return allowed.coversAddress(host) ? [host] : undefined;
  const byName = allowed.coversName(host);
  if (!byName && !allowed.hasBlocks) return undefined;
  const found = await lookup(host, { all: true }).catch(() => []);
  const addresses = found
    .map(({ address }) => address)
    .filter(address => allowed.coversAddress(address) || (byName && !isSpecial(address)));
  return byName || addresses.length > 0 ? addresses : undefined;
}

async function ofOwnIp(
  kube: KubeClient,
  { ip, port, namespace }: Address & { readonly namespace: string },
): Promise<Found> {
  const { items: pods } = await kube.list(POD, { namespace, fieldSelector: `status.podIP=${ip}` });
  const addresses = pods.map(readPod).filter(isDialled);
  if (addresses.length > 0) return { kind: 'addresses', isOwn: true, addresses: [{ ip, port }] };
  const { items: services } = await kube.list(SERVICE, { namespace });
  const service = services.find(each => readService(each).ips.includes(ip));
  return service === undefined ? { kind: 'foreign' } : ofService(kube, service, { port });
}

async function ofService(
  kube: KubeClient,
  service: KubeObject,
  { port, hostname }: { readonly port: number; readonly hostname?: string | undefined },
): Promise<Found> {
  const { namespace, name } = service.metadata;
  const { selector, isHeadless, isExternal, ports } = readService(service);
  // A Service without a selector leads where its author says, as with ExternalName.
  if (isExternal || selector === '') return { kind: 'foreign' };
  const served = ports.find(each => each.port === port);
  if (!isHeadless && served === undefined)
    return { kind: 'nothing', why: `Service ${name} has no port ${port}` };
  const { items } = await kube.list(POD, { namespace, labelSelector: selector });
  const addresses = items
    .map(readPod)
    .filter(isDialled)
    .filter(pod => hostname === undefined || (pod.hostname === hostname && pod.subdomain === name))
    .toSorted((one, other) => Number(other.isReady) - Number(one.isReady) || (one.name < other.name ? -1 : 1))
    .slice(0, MOST_ADDRESSES)
    .map(pod => ({ ip: pod.ip, port: isHeadless ? port : targetOf(served, pod) }));
  const why = `Service ${name} has no running pod without hostNetwork${hostname === undefined ? '' : ` as ${hostname}`}`;
  return addresses.length > 0 ? { kind: 'addresses', isOwn: true, addresses } : { kind: 'nothing', why };
}

interface PodFacts {
  readonly name: string;
  readonly ip: string;
  readonly hostname: string;
  readonly subdomain: string | undefined;
  readonly isReady: boolean;
  readonly ports: readonly { readonly name?: string; readonly containerPort: number }[];
  readonly runs: boolean;
  /** Its addresses are its node's, at which others listen too. */
  readonly isOnNode: boolean;
}

function isDialled({ ip, runs, isOnNode }: PodFacts): boolean {
  return isIP(ip) !== 0 && !isSpecial(ip) && runs && !isOnNode;
}

function readPod({ metadata, ...pod }: KubeObject): PodFacts {
  const spec = (pod['spec'] ?? {}) as {
    readonly hostNetwork?: boolean;
    readonly hostname?: string;
    readonly subdomain?: string;
    readonly containers?: readonly { readonly ports?: PodFacts['ports'] }[];
  };
  const status = (pod['status'] ?? {}) as {
    readonly phase?: string;
    readonly podIP?: string;
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
  };
  return {
    name: metadata.name,
    ip: status.podIP ?? '',
    hostname: spec.hostname ?? metadata.name,
    subdomain: spec.subdomain,
    isReady: status.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') ?? false,
    ports: spec.containers?.flatMap(container => container.ports ?? []) ?? [],
    runs: status.phase === 'Running' && metadata.deletionTimestamp === undefined,
    isOnNode: spec.hostNetwork === true,
  };
}

interface ServicePort {
  readonly port: number;
  readonly targetPort?: number | string;
}

function readService(service: KubeObject) {
  const spec = (service['spec'] ?? {}) as {
    readonly type?: string;
    readonly clusterIP?: string;
    readonly clusterIPs?: readonly string[];
    readonly selector?: Readonly<Record<string, string>>;
    readonly ports?: readonly ServicePort[];
  };
  const { type, clusterIP = '', clusterIPs = [clusterIP], selector = {}, ports = [] } = spec;
  return {
    ips: clusterIPs,
    isHeadless: clusterIP === 'None',
    isExternal: type === 'ExternalName',
    ports,
    selector: Object.entries(selector)
      .map(([key, value]) => `${key}=${value}`)
      .join(','),
  };
}

function targetOf(served: ServicePort | undefined, pod: PodFacts): number {
  const { port = 0, targetPort = port } = served ?? {};
  if (typeof targetPort === 'number') return targetPort;
  return pod.ports.find(({ name }) => name === targetPort)?.containerPort ?? port;
}
