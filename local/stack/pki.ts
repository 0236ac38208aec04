import { join } from 'node:path';
import type { Authority, CertificateRequest } from './certificates.ts';
import { ensureCertificate, ensureSigningKey, openAuthority } from './certificates.ts';
import type { StackContext, StoredStack } from './context.ts';
import { portsOf } from './context.ts';
import { writeKubeconfig } from './kubeconfig.ts';

/** Clients of the API server that get a kubeconfig `<file>.conf`, with the user names Kubernetes' own RBAC expects. */
const CLIENTS: readonly CertificateRequest[] = [
  { file: 'admin', commonName: 'admin', organization: 'system:masters', usage: ['client'] },
  { file: 'controller-manager', commonName: 'system:kube-controller-manager', usage: ['client'] },
  { file: 'scheduler', commonName: 'system:kube-scheduler', usage: ['client'] },
  { file: 'kube-proxy', commonName: 'system:kube-proxy', usage: ['client'] },
];

/** Path of a certificate file of the stack, for example `pki(context, 'ca.crt')`. */
export function pkiFile(context: StoredStack, file: string): string {
  return join(context.layout.pki, file);
}

function writeConfig(context: StackContext, file: string, target: string): void {
  writeKubeconfig(target, {
    context: context.layout.name,
    server: `https://${context.addresses.host}:${portsOf(context).apiserver}`,
    certificateAuthorityFile: pkiFile(context, 'ca.crt'),
    clientCertificate: pkiFile(context, file),
  });
}

async function ensureApiserverCertificates(context: StackContext, authority: Authority): Promise<void> {
  const { addresses } = context;
  const service = 'kubernetes.default.svc';
  await ensureCertificate(authority, {
    file: 'apiserver',
    commonName: 'kube-apiserver',
    usage: ['server'],
    dnsNames: ['kubernetes', 'kubernetes.default', service, `${service}.cluster.local`, 'localhost'],
    addresses: [addresses.kubernetesService, addresses.host],
  });
  await ensureCertificate(authority, {
    file: 'apiserver-kubelet-client',
    commonName: 'apiserver-kubelet-client',
    organization: 'system:masters',
    usage: ['client'],
  });
}

/**
 * Makes what is missing or out of date of the stack's certificates and kubeconfigs, but for those of nodes. The
 * authorities and the ServiceAccount signing key are kept for the life of the stack. The cluster's etcd and the
 * aggregation layer have authorities of their own: no cluster certificate opens etcd or fakes a front proxy.
 */
export async function ensurePki(context: StackContext): Promise<void> {
  const { layout, addresses } = context;
  const authority = await openAuthority(layout.pki, 'ca');
  const etcd = await openAuthority(layout.pki, 'etcd-ca');
  const frontProxy = await openAuthority(layout.pki, 'front-proxy-ca');
  await ensureSigningKey(layout.pki, 'service-account');
  await ensureApiserverCertificates(context, authority);
  await ensureCertificate(etcd, {
    file: 'etcd',
    commonName: 'etcd',
    usage: ['server', 'client'],
    addresses: [addresses.host],
  });
  await ensureCertificate(etcd, {
    file: 'apiserver-etcd-client',
    commonName: 'kube-apiserver',
    usage: ['client'],
  });
  await ensureCertificate(frontProxy, { file: 'front-proxy', commonName: 'front-proxy', usage: ['client'] });
  for (const client of CLIENTS) {
    await ensureCertificate(authority, client);
    writeConfig(context, client.file, pkiFile(context, `${client.file}.conf`));
  }
  writeConfig(context, 'admin', layout.kubeconfig);
}

/** Makes the two certificates of a node (client of the API server, server of its own API) and its kubeconfig. */
export async function ensureNodeCertificates(context: StackContext, index: number): Promise<void> {
  const { layout, addresses } = context;
  const authority = await openAuthority(layout.pki, 'ca');
  const node = layout.nodeName(index);
  await ensureCertificate(authority, {
    file: `node-${index}`,
    commonName: `system:node:${node}`,
    organization: 'system:nodes',
    usage: ['client'],
  });
  await ensureCertificate(authority, {
    file: `node-${index}-server`,
    commonName: node,
    usage: ['server'],
    dnsNames: [node],
    addresses: [addresses.node(index)],
  });
  writeConfig(context, `node-${index}`, pkiFile(context, `node-${index}.conf`));
}
