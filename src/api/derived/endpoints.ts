/** What the endpoints of a specification mean. Pure. */
import { CLIENT_PORT, clientServiceName } from '../names.ts';
import type { EtcdBackupSpec } from '../schemas/types.ts';

export interface Endpoint {
  readonly tls: boolean;
  /** A name or an address, without brackets. */
  readonly host: string;
  readonly port: number;
}

/** An endpoint as etcd's tools write it: a URL, or `host:port`. Undefined when it is neither. */
export function parseEndpoint(text: string): Endpoint | undefined {
  const match = /^(?:(https?|unixs?):\/\/)?(?:\[([0-9A-Fa-f:.]+)\]|([^\s/:[\]@?#]+))(?::(\d{1,5}))?\/?$/.exec(
    text.trim(),
  );
  const [, scheme, six, name, port] = match ?? [];
  const host = six ?? name;
  if (match === null || host === undefined || scheme?.startsWith('unix') === true) return undefined;
  return { tls: scheme === 'https', host, port: port === undefined ? CLIENT_PORT : Number(port) };
}

/**
 * The cluster of this namespace whose client Service the host would be, if there is a cluster of that name. Services
 * of other namespaces are nobody's here: the operator's credentials for them are not this resource's to use.
 */
export function clusterOfService(host: string, namespace: string): string | undefined {
  const [service = '', ...rest] = host.split('.');
  const [inNamespace = namespace, svc = 'svc'] = rest;
  const suffix = clientServiceName('');
  if (inNamespace !== namespace || svc !== 'svc' || !service.endsWith(suffix)) return undefined;
  return service.slice(0, -suffix.length) || undefined;
}

/** Where a host is looked up: a Service's short name means one of the resource's namespace, wherever the operator runs. */
export function dialledHost(host: string, namespace: string): string {
  const isShort = !host.includes('.') && !host.includes(':') && host !== 'localhost';
  return isShort ? `${host}.${namespace}.svc` : host;
}

/**
 * The Service of this namespace, and the pod behind it, that a name means in the DNS of Kubernetes, however much of the name is
 * written; undefined for a name of anything else. Whether there are such is another question.
 */
export function ownName(
  host: string,
  namespace: string,
): { readonly service: string; readonly hostname?: string } | undefined {
  const labels = host.toLowerCase().replace(/\.$/, '').split('.');
  const svc = labels.indexOf('svc', 2);
  const written = svc === -1 ? labels : labels.slice(0, svc);
  const [first = '', second = '', third] = written;
  if (written.length === 1 || (written.length === 2 && second === namespace)) return { service: first };
  if (written.length === 3 && third === namespace) return { service: second, hostname: first };
  return undefined;
}

/** What an EtcdBackup says of its cluster. */
export type ClusterOfBackup = Pick<EtcdBackupSpec, 'clusterRef' | 'etcdEndpoints'>;

/** The EtcdCluster of the specification, or the one whose client Service all its endpoints name. */
export function clusterOfBackup(
  { clusterRef, etcdEndpoints = [] }: ClusterOfBackup,
  namespace: string,
): string | undefined {
  if (clusterRef !== undefined) return clusterRef.name;
  const services = etcdEndpoints.map(text => {
    const endpoint = parseEndpoint(text);
    return endpoint === undefined ? undefined : clusterOfService(endpoint.host, namespace);
  });
  return new Set(services).size === 1 ? services[0] : undefined;
}
