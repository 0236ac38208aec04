/**
 * Reads the Secrets of a cluster's certificates. What is read stays within the activity that reads it: no key and no
 * certificate is ever an argument, a result, a log field or part of a message.
 */
import { type CertificateSource, type KeyStyle, secretKeys, securityOf } from '../../api/derived/tls.ts';
import { SECRET } from '../runtime/kinds.ts';
import type { EtcdCluster } from '../../api/schemas/types.ts';
import type { ClientTls } from '../../etcd/port.ts';
import type { KubeClient, KubeObject } from '../../kube/port.ts';
import type { Material, Part } from '../../tls/inspect.ts';
import { isControlledBy } from './object-facts.ts';
import { whyUnusable } from './usable-certificate.ts';

/** One Secret as read. Never to be serialized. */
export interface TlsSecret {
  readonly source: CertificateSource;
  readonly exists: boolean;
  /** Made by the operator for this very cluster. */
  readonly owned: boolean;
  /** Keys that it lacks, as they have to be called. */
  readonly missing: readonly string[];
  /** All three parts, when none is missing. */
  readonly material: Material | undefined;
}

/** The Secrets that the cluster's specification names or implies; none for a cluster in plain text. */
export async function readTlsSecrets(kube: KubeClient, cluster: EtcdCluster): Promise<readonly TlsSecret[]> {
  const security = securityOf(cluster);
  const begun = cluster.status?.incarnation !== undefined;
  const recorded = cluster.status?.tls?.certificates ?? [];
  return Promise.all(
    (security?.certificates ?? []).map(async source => {
      const { namespace, uid } = cluster.metadata;
      const object = await kube.get({ ...SECRET, namespace, name: source.secret });
      // Pods mount the keys that they were made with, so those of a living cluster are not chosen again.
      const isFixed =
        begun && recorded.some(({ role, secret }) => role === source.role && secret === source.secret);
      const keys = isFixed || security?.mode !== 'static' ? source.keys : styleOf(object, source);
      return asRead(object, { ...source, keys }, uid);
    }),
  );
}

/** How the operator reaches the client port: in plain text, with a certificate, or not at all and why. */
export type ClientAccess = { readonly tls: ClientTls | undefined } | { readonly unusable: string };

export function clientAccess(secrets: readonly TlsSecret[]): ClientAccess {
  const own = secrets.find(({ source }) => source.role === 'operator');
  if (own === undefined) return { tls: undefined };
  const { secret, role, keys } = own.source;
  if (own.material === undefined) {
    const why = own.exists ? `has no ${own.missing.join(', ')}` : 'does not exist';
    return { unusable: `the operator has no client certificate: Secret ${secret} ${why}` };
  }
  const fault = whyUnusable(own.material);
  if (fault === undefined) return { tls: own.material };
  const key = secretKeys(role, keys)[fault.part];
  return {
    unusable: `the client certificate of the operator in Secret ${secret} cannot be used: ${key}: ${fault.detail}`,
  };
}

/** The text under a key of a Secret; undefined when it is not there or empty. */
export function secretText(object: KubeObject | undefined, key: string): string | undefined {
  const encoded = (object?.['data'] as Record<string, string> | undefined)?.[key];
  return encoded === undefined || encoded === ''
    ? undefined
    : Buffer.from(encoded, 'base64').toString('utf8');
}

function asRead(object: KubeObject | undefined, source: CertificateSource, uid: string): TlsSecret {
  const named = secretKeys(source.role, source.keys);
  const parts = (['cert', 'key', 'ca'] as const satisfies readonly Part[]).map(
    part => [part, secretText(object, named[part])] as const,
  );
  const missing = parts.filter(([, text]) => text === undefined).map(([part]) => named[part]);
  const whole = Object.fromEntries(parts.filter(([, text]) => text !== undefined));
  return {
    source,
    exists: object !== undefined,
    owned: object !== undefined && isControlledBy(object, uid),
    missing,
    material: missing.length === 0 ? (whole as unknown as Material) : undefined,
  };
}

/** The names of which the Secret has more; the CoreOS operator's when it has none. */
function styleOf(object: KubeObject | undefined, { role }: CertificateSource): KeyStyle {
  const has = (style: KeyStyle) =>
    Object.values(secretKeys(role, style)).filter(key => secretText(object, key) !== undefined).length;
  return has('Standard') > has('CoreOS') ? 'Standard' : 'CoreOS';
}
