import { join } from 'node:path';
import { stringify } from 'yaml';
import type { StackContext } from './context.ts';
import { pkiFile } from './pki.ts';

/** Where a node's containerd listens, inside the node. */
export const CONTAINERD_SOCKET = '/run/containerd/containerd.sock';

/** Plugins that need modules or file systems nobody uses here; each would log an error at every start. */
const UNUSED_SNAPSHOTTERS = ['aufs', 'blockfile', 'btrfs', 'devmapper', 'native', 'zfs'];

const text = (value: string): string => JSON.stringify(value);

/** The configuration of a containerd that keeps images in `root` and has no CRI; the node's one adds its CRI. */
export function renderContainerdBase(root: string, state: string, socket: string): string {
  const disabled = UNUSED_SNAPSHOTTERS.map(name => text(`io.containerd.snapshotter.v1.${name}`)).join(', ');
  return `version = 2
root = ${text(root)}
state = ${text(state)}
disabled_plugins = [${disabled}]
[grpc]
  address = ${text(socket)}
[plugins."io.containerd.internal.v1.opt"]
  path = ${text(join(state, 'opt'))}
`;
}

export interface ContainerdInput {
  root: string;
  pauseImage: string;
  runc: string;
  cniBinDir: string;
  cniConfDir: string;
}

/**
 * A node's containerd: OOM scores are not lowered (a machine may lack CAP_SYS_RESOURCE), no AppArmor profile is
 * loaded into the host, cgroups are driven without systemd.
 */
export function renderContainerd(input: ContainerdInput): string {
  return `${renderContainerdBase(input.root, '/run/containerd/state', CONTAINERD_SOCKET)}
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = ${text(input.pauseImage)}
  restrict_oom_score_adj = true
  disable_apparmor = true
  [plugins."io.containerd.grpc.v1.cri".containerd]
    snapshotter = "overlayfs"
    default_runtime_name = "runc"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
      runtime_type = "io.containerd.runc.v2"
      [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
        SystemdCgroup = false
        BinaryName = ${text(input.runc)}
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = ${text(input.cniBinDir)}
    conf_dir = ${text(input.cniConfDir)}
`;
}

/**
 * Pod network of a node: a bridge with routes, and no masquerading, so that a pod is seen under its own address
 * by other pods and by the host (etcd checks a peer's address against its certificate).
 */
export function renderCni(podSubnet: string): string {
  return `${JSON.stringify(
    {
      cniVersion: '0.4.0',
      name: 'pods',
      plugins: [
        {
          type: 'bridge',
          bridge: 'cni0',
          isGateway: true,
          ipMasq: false,
          hairpinMode: true,
          ipam: { type: 'host-local', ranges: [[{ subnet: podSubnet }]], routes: [{ dst: '0.0.0.0/0' }] },
        },
        { type: 'portmap', capabilities: { portMappings: true } },
      ],
    },
    null,
    2,
  )}\n`;
}

/**
 * The kubelet's configuration. It reports often enough that a lost node is noticed within about 12 s (see the
 * controller manager's grace period). KubeletInUserNamespace makes it bear what a machine without
 * CAP_SYS_RESOURCE refuses: rlimits, some sysctls, OOM scores.
 */
export function renderKubelet(context: StackContext, index: number): string {
  const { addresses, layout } = context;
  return stringify({
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    kind: 'KubeletConfiguration',
    failCgroupV1: false,
    failSwapOn: false,
    cgroupDriver: 'cgroupfs',
    cgroupRoot: layout.nodeCgroup(index),
    featureGates: { KubeletInUserNamespace: true },
    containerRuntimeEndpoint: `unix://${CONTAINERD_SOCKET}`,
    authentication: {
      anonymous: { enabled: false },
      webhook: { enabled: true },
      x509: { clientCAFile: pkiFile(context, 'ca.crt') },
    },
    authorization: { mode: 'Webhook' },
    tlsCertFile: pkiFile(context, `node-${index}-server.crt`),
    tlsPrivateKeyFile: pkiFile(context, `node-${index}-server.key`),
    clusterDNS: [addresses.dnsService],
    clusterDomain: 'cluster.local',
    resolvConf: join(layout.nodeDirectory(index), 'resolv.conf'),
    evictionHard: {
      'memory.available': '100Mi',
      'nodefs.available': '1%',
      'imagefs.available': '1%',
      'nodefs.inodesFree': '1%',
    },
    imageGCHighThresholdPercent: 100,
    imageGCLowThresholdPercent: 99,
    // What is killed again and again starts again within seconds, not minutes: so tests can continue killing.
    crashLoopBackOff: { maxContainerRestartPeriod: '2s' },
    nodeStatusUpdateFrequency: '2s',
    nodeStatusReportFrequency: '10s',
    nodeLeaseDurationSeconds: 8,
    // Changed Secrets reach their pods, and grown volumes are measured, six times as often as by default.
    syncFrequency: '10s',
    volumeStatsAggPeriod: '10s',
  });
}

/** kube-proxy's configuration; its conntrack settings are left alone, they belong to the whole machine. */
export function renderKubeProxy(context: StackContext, index: number): string {
  return stringify({
    apiVersion: 'kubeproxy.config.k8s.io/v1alpha1',
    kind: 'KubeProxyConfiguration',
    mode: 'iptables',
    clientConnection: { kubeconfig: pkiFile(context, 'kube-proxy.conf') },
    clusterCIDR: context.addresses.podNetwork,
    hostnameOverride: context.layout.nodeName(index),
    conntrack: { maxPerCore: 0, min: 0, tcpEstablishedTimeout: '0s', tcpCloseWaitTimeout: '0s' },
    iptables: { minSyncPeriod: '100ms' },
  });
}
