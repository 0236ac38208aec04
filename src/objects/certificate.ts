/** What is asked of cert-manager: one Certificate for each Secret, and of the same name. Pure. */
import { ISSUER_DEFAULTS } from '../api/schemas/default-values.ts';
import { clusterLabels } from '../api/names.ts';
import type { EtcdCluster } from '../api/schemas/types.ts';
import { type Leaf, leafCertificatesOf } from './leaf-certificates.ts';
import { type ManifestObject, ownerReference } from './manifest.ts';

/** As long as those of TLS.auto, and renewed when a third of it is left. */
const LASTS = '2160h0m0s';
const RENEWED_BEFORE = '720h0m0s';

/**
 * The Certificates of a cluster with TLS.certManager; none for any other. Fields of cert-manager.io/v1 (its API reference:
 * CertificateSpec). A new key with every renewal, which cert-manager before 1.18 does only on request.
 */
export function certificates(cluster: EtcdCluster): readonly ManifestObject[] {
  const issuer = cluster.spec.TLS?.certManager?.issuerRef;
  if (issuer === undefined) return [];
  const { namespace, name } = cluster.metadata;
  const labels = clusterLabels(name);
  const { name: issuerName, kind, group } = { ...ISSUER_DEFAULTS, ...issuer };
  return leafCertificatesOf(cluster).map(leaf => ({
    apiVersion: 'cert-manager.io/v1',
    kind: 'Certificate',
    metadata: { name: leaf.secret, namespace, labels, ownerReferences: [ownerReference(cluster)] },
    spec: {
      secretName: leaf.secret,
      // By these the watcher knows whose Secret has changed.
      secretTemplate: { labels },
      ...named(leaf),
      duration: LASTS,
      renewBefore: RENEWED_BEFORE,
      privateKey: { algorithm: 'ECDSA', size: 256, rotationPolicy: 'Always' },
      issuerRef: { name: issuerName, kind, group },
    },
  }));
}

function named({ request }: Leaf): Readonly<Record<string, unknown>> {
  const { commonName, dnsNames, addresses, usages } = request;
  return {
    commonName,
    ...(dnsNames.length > 0 && { dnsNames }),
    ...(addresses.length > 0 && { ipAddresses: addresses }),
    usages: ['digital signature', ...usages.map(usage => `${usage} auth`)],
  };
}
