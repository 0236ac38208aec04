import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { StackContext } from './context.ts';
import { portsOf } from './context.ts';
import type { Cable } from './network.ts';
import { pkiFile } from './pki.ts';

/** Host processes of a stack, in the order in which they start. */
export const HOST_COMPONENTS = [
  'etcd',
  'apiserver',
  'postgres',
  'temporal',
  'controller-manager',
  'scheduler',
  'coredns',
  'provisioner',
] as const;
export type HostComponent = (typeof HOST_COMPONENTS)[number];

/** Name under which StorageClasses find the stack's volume provisioner. */
export const PROVISIONER_NAME = 'etcd-operator.local/volumes';

export interface Program {
  command: string;
  args: readonly string[];
  /** A program with a cable runs in a network namespace of its own, which `network` (for `ip -batch`) sets up. */
  isolation?: { cable: Cable; network: string };
  /** It is started again when it ends. */
  keepRunning?: boolean;
}

/** The cluster's own etcd. It does not sync to disk: losing the last second to a power cut is worth the speed. */
export function etcdProgram(context: StackContext): Program {
  const { layout, addresses, toolchain } = context;
  const ports = portsOf(context);
  const version = toolchain.versions.etcd.filter(found => found.startsWith('3.6.')).at(-1);
  if (version === undefined) throw new Error('the toolchain has no etcd 3.6 for the cluster');
  const client = `https://${addresses.host}:${ports.etcd}`;
  const peer = `https://${addresses.host}:${ports.etcdPeer}`;
  const certificate = [
    `--cert-file=${pkiFile(context, 'etcd.crt')}`,
    `--key-file=${pkiFile(context, 'etcd.key')}`,
    `--trusted-ca-file=${pkiFile(context, 'etcd-ca.crt')}`,
    '--client-cert-auth',
    `--peer-cert-file=${pkiFile(context, 'etcd.crt')}`,
    `--peer-key-file=${pkiFile(context, 'etcd.key')}`,
    `--peer-trusted-ca-file=${pkiFile(context, 'etcd-ca.crt')}`,
    '--peer-client-cert-auth',
  ];
  mkdirSync(layout.etcdData, { recursive: true, mode: 0o700 });
  return {
    command: toolchain.path(`etcd@${version}`),
    args: [
      '--name=control-plane',
      `--data-dir=${layout.etcdData}`,
      '--unsafe-no-fsync',
      `--listen-client-urls=${client}`,
      `--advertise-client-urls=${client}`,
      `--listen-peer-urls=${peer}`,
      `--initial-advertise-peer-urls=${peer}`,
      `--initial-cluster=control-plane=${peer}`,
      '--auto-compaction-mode=periodic',
      '--auto-compaction-retention=10m',
      '--log-level=warn',
      ...certificate,
    ],
  };
}

/** How the API server proves itself to aggregated API servers. */
function frontProxyFlags(context: StackContext): string[] {
  return [
    `--requestheader-client-ca-file=${pkiFile(context, 'front-proxy-ca.crt')}`,
    '--requestheader-allowed-names=front-proxy',
    '--requestheader-username-headers=X-Remote-User',
    '--requestheader-group-headers=X-Remote-Group',
    '--requestheader-extra-headers-prefix=X-Remote-Extra-',
    `--proxy-client-cert-file=${pkiFile(context, 'front-proxy.crt')}`,
    `--proxy-client-key-file=${pkiFile(context, 'front-proxy.key')}`,
  ];
}

/**
 * Every request of a service account of a pod is recorded, with the decision of the authorizer and without its body: `npm run audit:rbac`
 * compares them with the operator's roles.
 */
const AUDIT_POLICY = {
  apiVersion: 'audit.k8s.io/v1',
  kind: 'Policy',
  omitStages: ['RequestReceived', 'ResponseStarted'],
  rules: [
    { level: 'None', userGroups: ['system:serviceaccounts:kube-system'] },
    { level: 'Metadata', userGroups: ['system:serviceaccounts'] },
    { level: 'None' },
  ],
};

function auditFlags({ layout }: StackContext): string[] {
  const policy = join(layout.directory, 'audit-policy.json');
  mkdirSync(layout.logs, { recursive: true });
  writeFileSync(policy, JSON.stringify(AUDIT_POLICY));
  return [
    `--audit-policy-file=${policy}`,
    `--audit-log-path=${layout.auditLog}`,
    '--audit-log-mode=batch',
    '--audit-log-maxsize=64',
    '--audit-log-maxbackup=8',
  ];
}

/**
 * The API server. Aggregator routing lets it reach webhooks at their pods' addresses: the host has no
 * kube-proxy. It takes ten seconds to end on SIGTERM, so it is killed.
 */
export function apiserverProgram(context: StackContext): Program {
  const { addresses, toolchain, layout } = context;
  const ports = portsOf(context);
  const issuer = 'https://kubernetes.default.svc.cluster.local';
  return {
    command: toolchain.path('kube-apiserver'),
    args: [
      `--etcd-servers=https://${addresses.host}:${ports.etcd}`,
      `--etcd-cafile=${pkiFile(context, 'etcd-ca.crt')}`,
      `--etcd-certfile=${pkiFile(context, 'apiserver-etcd-client.crt')}`,
      `--etcd-keyfile=${pkiFile(context, 'apiserver-etcd-client.key')}`,
      `--bind-address=${addresses.host}`,
      `--advertise-address=${addresses.host}`,
      `--secure-port=${ports.apiserver}`,
      `--service-cluster-ip-range=${addresses.serviceNetwork}`,
      `--client-ca-file=${pkiFile(context, 'ca.crt')}`,
      `--tls-cert-file=${pkiFile(context, 'apiserver.crt')}`,
      `--tls-private-key-file=${pkiFile(context, 'apiserver.key')}`,
      `--service-account-issuer=${issuer}`,
      `--service-account-key-file=${pkiFile(context, 'service-account.pub')}`,
      `--service-account-signing-key-file=${pkiFile(context, 'service-account.key')}`,
      `--kubelet-client-certificate=${pkiFile(context, 'apiserver-kubelet-client.crt')}`,
      `--kubelet-client-key=${pkiFile(context, 'apiserver-kubelet-client.key')}`,
      `--kubelet-certificate-authority=${pkiFile(context, 'ca.crt')}`,
      '--kubelet-preferred-address-types=InternalIP',
      '--authorization-mode=Node,RBAC',
      // The latter is on in OpenShift: who names an owner that it blocks needs the right to its finalizers.
      '--enable-admission-plugins=NodeRestriction,OwnerReferencesPermissionEnforcement',
      '--allow-privileged=true',
      '--enable-aggregator-routing=true',
      ...frontProxyFlags(context),
      ...auditFlags(context),
      `--cert-dir=${join(layout.pki, 'apiserver')}`,
      '--profiling=false',
      '--v=1',
    ],
  };
}

/**
 * The controller manager, tuned to call a node lost after 12 s and to look every second. The twenty calls a second that it
 * allows itself by default would be what many clusters wait for that are created at once.
 */
export function controllerManagerProgram(context: StackContext): Program {
  const { addresses, toolchain, layout } = context;
  const kubeconfig = pkiFile(context, 'controller-manager.conf');
  return {
    keepRunning: true,
    command: toolchain.path('kube-controller-manager'),
    args: [
      `--kubeconfig=${kubeconfig}`,
      `--authentication-kubeconfig=${kubeconfig}`,
      `--authorization-kubeconfig=${kubeconfig}`,
      `--bind-address=${addresses.host}`,
      `--secure-port=${portsOf(context).controllerManager}`,
      `--cert-dir=${join(layout.pki, 'controller-manager')}`,
      `--service-account-private-key-file=${pkiFile(context, 'service-account.key')}`,
      `--root-ca-file=${pkiFile(context, 'ca.crt')}`,
      '--use-service-account-credentials=true',
      `--cluster-signing-cert-file=${pkiFile(context, 'ca.crt')}`,
      `--cluster-signing-key-file=${pkiFile(context, 'ca.key')}`,
      '--leader-elect=false',
      '--kube-api-qps=200',
      '--kube-api-burst=400',
      '--node-monitor-period=1s',
      '--node-monitor-grace-period=12s',
      '--profiling=false',
      '--v=1',
    ],
  };
}

/** The scheduler. */
export function schedulerProgram(context: StackContext): Program {
  const kubeconfig = pkiFile(context, 'scheduler.conf');
  return {
    keepRunning: true,
    command: context.toolchain.path('kube-scheduler'),
    args: [
      `--kubeconfig=${kubeconfig}`,
      `--authentication-kubeconfig=${kubeconfig}`,
      `--authorization-kubeconfig=${kubeconfig}`,
      `--bind-address=${context.addresses.host}`,
      `--secure-port=${portsOf(context).scheduler}`,
      `--cert-dir=${join(context.layout.pki, 'scheduler')}`,
      '--leader-elect=false',
      '--profiling=false',
      '--v=1',
    ],
  };
}

/** Makes volumes for claims: folders and loop images below the stack's volumes folder. */
export function provisionerProgram(context: StackContext): Program {
  return {
    command: context.toolchain.path('local-provisioner'),
    args: [
      `--kubeconfig=${context.layout.kubeconfig}`,
      `--base=${context.layout.volumes}`,
      `--provisioner-name=${PROVISIONER_NAME}`,
    ],
  };
}
