/** The certificates of a cluster as its status describes them: the plugin never reads a Secret. Pure. */
import { securityOf } from '../../api/derived/tls.ts';
import type { EtcdCluster } from '../../api/schemas/types.ts';
import type { TlsFacts } from '../../planner/model/tls-facts.ts';

/** All of them are taken to be in order; {@link notSeenOfTls} says so. Undefined for a cluster in plain text. */
export function recordedTls(cluster: EtcdCluster): TlsFacts | undefined {
  const security = securityOf(cluster);
  if (security === undefined) return undefined;
  const recorded = cluster.status?.tls?.certificates ?? [];
  const certificates = security.certificates.map(source => ({
    ...source,
    exists: true,
    owned: true,
    missing: [],
    faults: [],
    notAfter: recorded.find(({ role, secret }) => role === source.role && secret === source.secret)?.notAfter,
    expiresSoon: false,
  }));
  return { certificates, toIssue: [], taken: [], authoritiesLost: [] };
}

/** What a plan does not know of the certificates, each as a sentence. */
export function notSeenOfTls(cluster: EtcdCluster): readonly string[] {
  const security = securityOf(cluster);
  if (security === undefined) return [];
  const names = security.certificates.map(({ secret }) => secret).join(', ');
  const ready = cluster.status?.conditions?.find(({ type }) => type === 'TLSReady');
  const said = ready === undefined || ready.status === 'True' ? '' : `; TLSReady says: ${ready.message}`;
  return [
    `the Secrets ${names}: the plan assumes that the certificates in them are in order, and contains no step that issues one${said}`,
  ];
}
