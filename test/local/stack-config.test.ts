import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { silentProgress } from '../../local/progress.ts';
import { MAXIMUM_NODES } from '../../local/stack/addresses.ts';
import { baseObjects } from '../../local/stack/base-objects.ts';
import { contextOf } from '../../local/stack/context.ts';
import {
  apiserverProgram,
  controllerManagerProgram,
  etcdProgram,
  schedulerProgram,
} from '../../local/stack/control-plane.ts';
import { renderCorefile } from '../../local/stack/coredns.ts';
import { deviceNumber } from '../../local/stack/disk.ts';
import { mayDrop } from '../../local/stack/firewall.ts';
import { layoutOf } from '../../local/stack/layout.ts';
import { parseMountPoints } from '../../local/stack/mounts.ts';
import { nodeCable, renderNetwork } from '../../local/stack/network.ts';
import {
  renderCni,
  renderContainerd,
  renderKubelet,
  renderKubeProxy,
} from '../../local/stack/node-config.ts';
import { newState } from '../../local/stack/state.ts';
import { temporalProgram } from '../../local/stack/temporal.ts';
import type { Toolchain } from '../../local/toolchain/index.ts';

const parent = mkdtempSync(join(tmpdir(), 'stack-config-'));
afterAll(() => rmSync(parent, { recursive: true }));

const toolchain: Toolchain = {
  path: tool => `/tools/${tool}`,
  cniBinDir: '/tools/cni',
  versions: {
    kubernetes: '1.35.4',
    etcd: ['3.5.3', '3.6.5', '3.6.16', '3.7.3'],
    temporal: '1.9.1',
    node: '24',
  },
};

const ports = {
  etcd: 2379,
  etcdPeer: 2380,
  apiserver: 6444,
  controllerManager: 10257,
  scheduler: 10259,
  dns: 1054,
  dnsHealth: 8085,
  dnsReady: 8185,
};

const context = contextOf({
  layout: layoutOf('demo', parent),
  state: { ...newState('demo', '10.200.0.0/16'), ports, nodes: [{ index: 2, disconnected: true }] },
  toolchain,
  progress: silentProgress,
});

describe('a node', () => {
  test('has a kubelet with a cgroup root of its own that bears cgroup v1 and a lack of capabilities', () => {
    const config = parse(renderKubelet(context, 2)) as Record<string, unknown>;
    expect(config).toMatchObject({
      cgroupRoot: context.layout.nodeCgroup(2),
      failCgroupV1: false,
      featureGates: { KubeletInUserNamespace: true },
      clusterDNS: ['10.200.64.10'],
      authentication: { anonymous: { enabled: false } },
      authorization: { mode: 'Webhook' },
      imageGCHighThresholdPercent: 100,
    });
    expect(context.layout.nodeCgroup(1)).not.toBe(context.layout.nodeCgroup(2));
  });

  test('has a kube-proxy that leaves the conntrack settings of the machine alone', () => {
    const config = parse(renderKubeProxy(context, 2)) as Record<string, unknown>;
    expect(config).toMatchObject({
      clusterCIDR: '10.200.128.0/17',
      hostnameOverride: 'demo-2',
      conntrack: { maxPerCore: 0, min: 0, tcpEstablishedTimeout: '0s', tcpCloseWaitTimeout: '0s' },
    });
  });

  test('does not hide its pods behind its own address', () => {
    const config = JSON.parse(renderCni('10.200.130.0/24')) as { plugins: Record<string, unknown>[] };
    expect(config.plugins[0]).toMatchObject({ type: 'bridge', ipMasq: false, hairpinMode: true });
    expect(JSON.stringify(config.plugins[0])).toContain('"subnet":"10.200.130.0/24"');
  });

  test('has a containerd whose strings cannot break out of its configuration', () => {
    const config = renderContainerd({
      root: '/a "quoted" root',
      pauseImage: 'docker.io/library/pause:local',
      runc: '/tools/runc',
      cniBinDir: '/tools/cni',
      cniConfDir: '/cni',
    });
    expect(config).toContain('root = "/a \\"quoted\\" root"\n');
    expect(config).toContain('sandbox_image = "docker.io/library/pause:local"\n');
    expect(config).toContain('restrict_oom_score_adj = true\n');
    expect(config).toContain('BinaryName = "/tools/runc"\n');
  });

  test('knows the way to the pods of every other node, present or future', () => {
    const lines = renderNetwork(context.addresses, context.addresses.node(2)).trim().split('\n');
    const routes = lines.filter(line => line.includes(' onlink '));
    expect(routes).toHaveLength(MAXIMUM_NODES - 1);
    expect(lines).toContain('addr add 10.200.0.12/24 dev eth0');
    expect(lines).toContain('route add 10.200.129.0/24 via 10.200.0.11 onlink dev eth0');
    expect(lines.some(line => line.includes('10.200.130.0/24'))).toBe(false);
    expect(renderNetwork(context.addresses, context.addresses.temporal)).toContain('10.200.130.0/24');
  });

  test('keeps its cable pulled', () => {
    expect(nodeCable(context, 2).position).toBe('down');
    expect(nodeCable(context, 1).position).toBe('up');
  });
});

describe('host processes', () => {
  const programs = [etcdProgram, apiserverProgram, controllerManagerProgram, schedulerProgram];

  test('listen on the address of the bridge and nowhere else', () => {
    const all = programs.flatMap(program => program(context).args).join('\n');
    expect(all).not.toMatch(/0\.0\.0\.0|127\.0\.0\.1|localhost/);
    expect(apiserverProgram(context).args).toContain('--bind-address=10.200.0.1');
    expect(apiserverProgram(context).args).toContain('--secure-port=6444');
  });

  test('take the newest etcd 3.6 that there is', () => {
    expect(etcdProgram(context).command).toBe('/tools/etcd@3.6.16');
    const without = {
      ...context,
      toolchain: { ...toolchain, versions: { ...toolchain.versions, etcd: ['3.7.3'] } },
    };
    expect(() => etcdProgram(without)).toThrow('no etcd 3.6');
  });

  test('do not start before ports were chosen', () => {
    const fresh = { ...context, state: newState('demo', '10.200.0.0/16') };
    expect(() => apiserverProgram(fresh)).toThrow('has never been started');
  });

  test('leave Temporal untuned, in a network of its own', () => {
    const { args, isolation } = temporalProgram(context);
    expect(args.join(' ')).not.toContain('dynamic-config');
    expect(isolation?.cable.link).toBe(context.layout.temporalLink);
    expect(isolation?.network).toContain('addr add 10.200.0.2/24 dev eth0');
  });

  test('answer for cluster names, and for other names only that they do not exist', () => {
    const [cluster = '', rest = ''] = renderCorefile(context).split('\n.:');
    expect(cluster).toContain('cluster.local:1054 ');
    expect(cluster).toContain('kubernetes cluster.local in-addr.arpa ip6.arpa');
    // CoreDNS asks its template plugin first: in one block it would deny every name of the cluster.
    expect(cluster).not.toContain('template');
    expect(rest).toContain('rcode NXDOMAIN');
  });
});

test('base objects: one default storage class, and Services that point at the stack', () => {
  const objects = baseObjects(context);
  const text = JSON.stringify(objects);
  expect(text.match(/is-default-class/g)).toHaveLength(1);
  const find = (path: string): unknown => objects.find(object => object.path === path)?.object;
  expect(find('/apis/storage.k8s.io/v1/storageclasses/fixed')).toMatchObject({ allowVolumeExpansion: false });
  expect(find('/api/v1/namespaces/kube-system/services/kube-dns')).toMatchObject({
    spec: { clusterIP: '10.200.64.10', ports: [{ port: 53, targetPort: 1054 }, { protocol: 'TCP' }] },
  });
  expect(
    find('/apis/discovery.k8s.io/v1/namespaces/temporal/endpointslices/temporal-frontend-host'),
  ).toMatchObject({
    metadata: { labels: { 'kubernetes.io/service-name': 'temporal-frontend' } },
    endpoints: [{ addresses: ['10.200.0.2'] }],
    ports: [{ port: 7233 }],
  });
});

test('mount points with blanks in them are read as they are', () => {
  const mountinfo =
    '27 1 254:0 / / rw,relatime - ext4 /dev/vda rw\n40 27 0:5 / /a\\040b/c\\134d rw shared:1 - tmpfs x rw\n';
  expect(parseMountPoints(mountinfo)).toEqual(['/', '/a b/c\\d']);
});

test.each([
  ['-P INPUT ACCEPT\n', false],
  ['-P INPUT DROP\n', true],
  ['-P FORWARD ACCEPT\n-A FORWARD -j DOCKER-USER\n', true],
  ['-P INPUT ACCEPT\n-A INPUT -i br0 -m comment --comment demo-1234567 -j ACCEPT\n', false],
])('a firewall chain %j may drop: %s', (listing, expected) => {
  expect(mayDrop(listing, 'demo-1234567')).toBe(expected);
});

test.each([
  [65024, '254:0'],
  [0xfe01, '254:1'],
  [0x100800 + 0x03, '8:259'],
  [43, '0:43'],
])('device %d is %s', (packed, expected) => {
  expect(deviceNumber(packed)).toBe(expected);
});
