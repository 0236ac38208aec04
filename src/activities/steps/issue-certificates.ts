import { mayHaveNewAuthority } from '../observe/authority-anew.ts';
import { authoritySecret } from '../../api/derived/tls.ts';
import { clusterLabels } from '../../api/names.ts';
import type { EtcdCluster } from '../../api/schemas/types.ts';
import { type Authority, type Leaf, leafCertificatesOf } from '../../objects/leaf-certificates.ts';
import { ownerReference } from '../../objects/manifest.ts';
import type { KubeClient } from '../../kube/port.ts';
import type { Pair } from '../../tls/issue.ts';
import { recordClusterEvent } from '../runtime/cluster-events.ts';
import type { Dependencies } from '../runtime/dependencies.ts';
import { preconditionChanged } from '../runtime/failures.ts';
import { isControlledBy } from '../observe/object-facts.ts';
import { readLivingCluster } from '../resource/etcd-cluster.ts';
import { AUTHORITIES } from '../observe/certificates-to-issue.ts';
import { secretText } from '../observe/certificate-secrets.ts';
import { SECRET } from '../runtime/kinds.ts';
import type { Perform } from './shared/perform.ts';

const DAY_MS = 24 * 3600 * 1000;
const AUTHORITY_LASTS = 10 * 365 * DAY_MS;
const LEAF_LASTS = 90 * DAY_MS;

/**
 * Makes the certificates that the step names, authorities first. Keys go from here into Secrets and nowhere else. A Secret is
 * written as a whole, so that certificate and key never disagree in what the kubelet brings to the members.
 */
export const issueCertificates: Perform<'issueCertificates'> = async (deps, ref, step) => {
  const cluster = await readLivingCluster(deps.kube, ref);
  for (const authority of AUTHORITIES) {
    const secret = authoritySecret(ref.name, authority);
    if (step.secrets.includes(secret)) await makeAuthority(deps, cluster, { authority, secret });
  }
  for (const leaf of leafCertificatesOf(cluster)) {
    if (step.secrets.includes(leaf.secret)) await makeLeaf(deps, cluster, leaf);
  }
  const message = `issued ${step.secrets.join(', ')}`;
  recordClusterEvent(deps, ref, { reason: 'CertificatesIssued', message });
};

async function makeAuthority(
  deps: Dependencies,
  cluster: EtcdCluster,
  { authority, secret }: { readonly authority: Authority; readonly secret: string },
): Promise<void> {
  if (!(await mayHaveNewAuthority(deps.kube, cluster))) {
    throw preconditionChanged(
      `the cluster has formed: its members would not trust a new authority ${secret}`,
    );
  }
  const { name, namespace } = cluster.metadata;
  const { createAuthority } = await issuer();
  const commonName = `${authority} authority of ${namespace}/${name}`;
  const pair = await createAuthority(commonName, { now: deps.now(), lasts: AUTHORITY_LASTS });
  await put(deps.kube, cluster, { secret, data: { 'tls.crt': pair.cert, 'tls.key': pair.key } });
}

async function makeLeaf(deps: Dependencies, cluster: EtcdCluster, leaf: Leaf): Promise<void> {
  const { name, namespace } = cluster.metadata;
  const authority = await readPair(deps.kube, { namespace, name: authoritySecret(name, leaf.authority) });
  const { issueLeaf } = await issuer();
  const pair = await issueLeaf(authority, leaf.request, { now: deps.now(), lasts: LEAF_LASTS });
  await put(deps.kube, cluster, {
    secret: leaf.secret,
    data: { 'tls.crt': pair.cert, 'tls.key': pair.key, 'ca.crt': authority.cert },
  });
}

/** Loaded when it is first needed: most clusters never do, and the library is large. */
const issuer = async () => import('../../tls/issue.ts');

async function readPair(kube: KubeClient, at: { namespace: string; name: string }): Promise<Pair> {
  const object = await kube.get({ ...SECRET, ...at });
  const cert = secretText(object, 'tls.crt');
  const key = secretText(object, 'tls.key');
  if (cert === undefined || key === undefined)
    throw preconditionChanged(`authority ${at.name} does not exist`);
  return { cert, key };
}

/** Creates the Secret, or replaces what one of ours holds; never touches one that belongs to something else. */
async function put(
  kube: KubeClient,
  cluster: EtcdCluster,
  { secret, data }: { readonly secret: string; readonly data: Readonly<Record<string, string>> },
): Promise<void> {
  const { namespace, name, uid } = cluster.metadata;
  const ref = { ...SECRET, namespace, name: secret };
  const encoded = Object.fromEntries(
    Object.entries(data).map(([key, text]) => [key, Buffer.from(text).toString('base64')]),
  );
  const found = await kube.get(ref);
  if (found === undefined) {
    const metadata = {
      namespace,
      name: secret,
      labels: clusterLabels(name),
      ownerReferences: [ownerReference(cluster)],
    };
    await kube.create({ ...SECRET, metadata, type: 'kubernetes.io/tls', data: encoded });
    return;
  }
  if (!isControlledBy(found, uid)) {
    throw preconditionChanged(`Secret ${secret} is not owned by this EtcdCluster; delete or rename it`);
  }
  const { uid: secretUid, resourceVersion } = found.metadata;
  await kube.patch(ref, { metadata: { uid: secretUid, resourceVersion }, data: encoded }, { type: 'merge' });
}
