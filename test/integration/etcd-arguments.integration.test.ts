/** The command lines and probes of member pods, given to the real etcd of every version in the toolchain. */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { networkInterfaces } from 'node:os';
import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { etcdVersions } from '../../local/toolchain/versions.ts';
import { podFacts } from '../../src/activities/observe/pod-facts.ts';
import type { EtcdClusterSpec } from '../../src/api/schemas/types.ts';
import type { KubeObject } from '../../src/kube/port.ts';
import { DATA_DIR } from '../../src/objects/etcd-arguments.ts';
import type { MemberStart } from '../../src/objects/first-start.ts';
import { memberPod } from '../../src/objects/pod.ts';
import { cluster, member } from '../objects/clusters.ts';
import { startArguments } from '../fakes/kubernetes/container-arguments.ts';
import { etcdBinary, type EtcdProcess, EtcdProcessCluster } from '../stack/etcd-process.ts';

type Probe = {
  readonly httpGet?: { readonly path: string };
  readonly tcpSocket?: { readonly port: string };
};
type Container = {
  readonly command: readonly string[];
  readonly args: readonly string[];
  readonly env?: readonly { readonly name: string; readonly value: string }[];
  readonly startupProbe: Probe;
  readonly livenessProbe: Probe;
  readonly readinessProbe: Probe;
};

const EVERY_SETTING: EtcdClusterSpec = {
  profile: 'Kubernetes',
  etcd: {
    quotaBackendBytes: '1Gi',
    autoCompaction: { mode: 'revision', retention: '1000' },
    snapshotCount: 5000,
    heartbeatIntervalMs: 50,
    electionTimeoutMs: 500,
    logLevel: 'debug',
    maxRequestBytes: '2Mi',
  },
};
const SPECS: readonly EtcdClusterSpec[] = [
  {},
  { profile: 'Development' },
  { profile: 'Kubernetes' },
  EVERY_SETTING,
  { etcd: { autoCompaction: { mode: 'off' } } },
];
const ALONE: MemberStart = { state: 'new', members: ['example-0'] };
const OF_THREE: MemberStart = { state: 'new', members: ['example-0', 'example-1', 'example-2'] };

function containerOf(spec: EtcdClusterSpec, start: MemberStart): Container {
  const pod = memberPod(cluster(spec), member(start));
  const [container] = pod.spec['containers'] as [Container];
  // What stays in its environment is the user's: the rest went into the arguments.
  const env = container.env?.filter(({ value }) => value !== undefined);
  return { ...container, args: startArguments(pod), ...(env === undefined ? {} : { env }) };
}

/** A pod as its kubelet reports it when its container ended with this log: the last 2 KiB are kept. */
function crashedPod(log: string): KubeObject {
  const waiting = { reason: 'CrashLoopBackOff', message: 'back-off' };
  const terminated = { message: log.slice(-2048) };
  const status = { containerStatuses: [{ name: 'etcd', state: { waiting }, lastState: { terminated } }] };
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'example-0' }, status };
}

/** The arguments as they are, but for what this machine cannot offer: the names, the ports and the volume. */
function onThisMachine(args: readonly string[], target: EtcdProcess): readonly string[] {
  return args.map(arg =>
    arg
      .replace(DATA_DIR, target.dataDir)
      .replaceAll('example-0.example.shop.svc', '127.0.0.1')
      .replaceAll(/example-[12]\.example\.shop\.svc:2380/g, name => `127.0.0.1:${name[8]}`)
      .replaceAll(':2379', `:${target.clientPort}`)
      .replaceAll(':2380', `:${target.peerPort}`)
      .replaceAll(':2381', `:${target.metricsPort}`),
  );
}

/** Whether a probe succeeds as kubelet would see it. */
async function passes(probe: Probe, target: EtcdProcess): Promise<boolean> {
  if (probe.httpGet === undefined) return connects(target.metricsPort);
  try {
    const url = `http://127.0.0.1:${target.metricsPort}${probe.httpGet.path}`;
    return (await fetch(url, { signal: AbortSignal.timeout(3_000) })).ok;
  } catch {
    return false;
  }
}

function connects(port: number, host = '127.0.0.1'): Promise<boolean> {
  return new Promise(resolve => {
    const socket = connect(port, host, () => socket.end(() => resolve(true)));
    socket.once('error', () => resolve(false));
  });
}

const patience = { timeout: 15_000, interval: 50 };
/** The loopback addresses of the families that this machine has. */
const loopbacks = Object.values(networkInterfaces())
  .flatMap(list => list ?? [])
  .map(entry => entry.address)
  .filter(address => address === '127.0.0.1' || address === '::1');

describe.each(etcdVersions)('etcd %s', version => {
  let binary: string;
  beforeAll(async () => {
    binary = await etcdBinary(version);
  });

  const started: EtcdProcessCluster[] = [];
  afterEach(() => Promise.all(started.splice(0).map(cluster => cluster.stop())));
  const unstarted = async () => {
    const fresh = await EtcdProcessCluster.unstarted({ version });
    started.push(fresh);
    return fresh.member(0);
  };

  test('knows every flag that it is given', () => {
    const { stdout, stderr } = spawnSync(binary, ['--help'], { encoding: 'utf8' });
    const known = new Set([...`${stdout}${stderr}`.matchAll(/--([a-z0-9-]+)/g)].map(match => match[1]));
    expect(known.size).toBeGreaterThan(50);
    const given = SPECS.flatMap(spec => containerOf({ ...spec, version }, ALONE).args).map(
      arg => /^--([a-z0-9-]+)=/.exec(arg)?.[1],
    );
    expect([...new Set(given)].filter(flag => !known.has(flag))).toEqual([]);
  });

  test('starts with every setting, and passes its probes on both families', async () => {
    const target = await unstarted();
    const container = containerOf({ ...EVERY_SETTING, version }, ALONE);
    target.startExactly(onThisMachine(container.args, target));
    await target.untilHealthy();
    for (const probe of [container.startupProbe, container.livenessProbe, container.readinessProbe]) {
      await vi.waitFor(async () => expect(await passes(probe, target)).toBe(true), patience);
    }
    for (const address of loopbacks) {
      expect(await connects(target.clientPort, address)).toBe(true);
      expect(await connects(target.peerPort, address)).toBe(true);
    }
    expect(execFileSync('stat', ['-c', '%a', target.dataDir], { encoding: 'utf8' }).trim()).toBe('700');
  });

  test('starts with an environment that tunes it as in the days of the CoreOS operator', async () => {
    const target = await unstarted();
    const etcdEnv = [
      { name: 'ETCD_AUTO_COMPACTION_RETENTION', value: '2' },
      { name: 'ETCD_QUOTA_BACKEND_BYTES', value: '1073741824' },
      { name: 'ETCD_ELECTION_TIMEOUT', value: '2000' },
      { name: 'ETCD_EXPERIMENTAL_INITIAL_CORRUPT_CHECK', value: 'true' },
      { name: 'ETCD_LOG_LEVEL', value: 'debug' },
    ];
    const { args, env = [] } = containerOf({ version, pod: { etcdEnv } }, ALONE);
    const environment = Object.fromEntries(env.map(entry => [entry.name, entry.value]));
    target.startExactly(onThisMachine(args, target), environment);
    await target.untilHealthy();
    const says = (pattern: RegExp) => pattern.test(target.log);
    expect(says(/"quota-(backend|size)-bytes":1073741824/)).toBe(true);
    expect(says(/"election-timeout":"2s"/)).toBe(true);
    expect(says(/"auto-compaction-retention":"2h0m0s"/)).toBe(true);
    expect(says(/"initial-corrupt-check":true|"feature-gates":"[^"]*InitialCorruptCheck=true/)).toBe(true);
  });

  test('without quorum it is alive and not ready', async () => {
    const target = await unstarted();
    const container = containerOf({ version }, OF_THREE);
    target.startExactly(onThisMachine(container.args, target));
    await vi.waitFor(async () => expect(await passes(container.startupProbe, target)).toBe(true), patience);
    expect(await passes(container.livenessProbe, target)).toBe(true);
    expect(await passes(container.readinessProbe, target)).toBe(false);
  });

  test('comes back on its disk with the arguments of a restart, and not on an empty one', async () => {
    const target = await unstarted();
    target.startExactly(onThisMachine(containerOf({ version }, ALONE).args, target));
    await target.untilHealthy();
    await target.stop('SIGTERM');
    const restart = onThisMachine(containerOf({ version }, { state: 'restart' }).args, target);
    target.startExactly(restart);
    await target.untilHealthy();
    await target.stop('SIGTERM');
    rmSync(target.dataDir, { recursive: true });
    target.startExactly(restart);
    expect(await target.untilExited()).not.toBe(0);
    const { trouble } = podFacts(crashedPod(target.log), 'u');
    expect(trouble?.message).toMatch(/could not retrieve cluster information from the given URLs/);
    expect(existsSync(`${target.dataDir}/member/wal`)).toBe(false);
  });
});
