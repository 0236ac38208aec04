import { describe, expect, test } from 'vitest';
import type { EtcdClusterSpec } from '../../src/api/schemas/types.ts';
import type { ManifestObject } from '../../src/objects/manifest.ts';
import { memberPod, type PodMember } from '../../src/objects/pod.ts';
import { stampOf } from '../../src/objects/rendered.ts';
import { startArguments } from '../fakes/kubernetes/container-arguments.ts';
import { BOOTSTRAP, cluster, member, TOKEN } from './clusters.ts';

type Container = {
  readonly args: readonly string[];
  readonly env?: readonly { readonly name: string; readonly value?: string }[];
  readonly image: string;
  readonly startupProbe: Probe;
  readonly livenessProbe: Probe;
  readonly readinessProbe: Probe;
};
type Probe = {
  readonly httpGet?: { readonly path: string };
  readonly tcpSocket?: object;
  readonly periodSeconds: number;
  readonly failureThreshold: number;
};
type PodSpec = {
  readonly containers: readonly [Container];
  readonly affinity?: Readonly<Record<string, unknown>>;
  readonly tolerations: readonly { readonly key: string; readonly tolerationSeconds?: number }[];
};

function podSpec(spec: EtcdClusterSpec, asked: PodMember = member(BOOTSTRAP)): PodSpec {
  return memberPod(cluster(spec), asked).spec as PodSpec;
}

function container(spec: EtcdClusterSpec, asked?: PodMember): Container {
  return podSpec(spec, asked).containers[0];
}

describe('how a member starts', () => {
  const initial = (asked: PodMember) =>
    startArguments(memberPod(cluster({}), asked)).filter(arg => /^--initial-cluster(-state)?=/.test(arg));

  test('bootstrap names every initial member', () => {
    expect(initial(member(BOOTSTRAP))).toEqual([
      '--initial-cluster=example-0=http://example-0.example.shop.svc:2380,example-1=http://example-1.example.shop.svc:2380,example-2=http://example-2.example.shop.svc:2380',
      '--initial-cluster-state=new',
    ]);
  });

  test('a restart names only itself, so that it cannot start on an empty disk', () => {
    expect(initial(member({ state: 'restart' }))).toEqual([
      '--initial-cluster=example-0=http://example-0.example.shop.svc:2380',
      '--initial-cluster-state=existing',
    ]);
  });

  test('a learner gets the member list as it was read', () => {
    const members = [
      { name: 'example-0', peerUrl: 'http://example-0.example.shop.svc:2380' },
      { name: 'example-7', peerUrl: 'http://elsewhere:2380' },
    ];
    expect(initial(member({ state: 'join', members }))[0]).toBe(
      '--initial-cluster=example-0=http://example-0.example.shop.svc:2380,example-7=http://elsewhere:2380',
    );
  });

  test('a list without the member itself is refused, and so is one with another URL of it', () => {
    const without = { state: 'new', members: ['example-1'] } as const;
    const other = { state: 'join', members: [{ name: 'example-0', peerUrl: 'http://other:2380' }] } as const;
    expect(() => memberPod(cluster({}), member(without))).toThrow(/does not contain example-0=http/);
    expect(() => memberPod(cluster({}), member(other))).toThrow(/does not contain example-0=http/);
  });

  test('a name without a serial is refused', () => {
    const asked = member({ state: 'restart' }, 'PersistentVolumeClaim', 'example');
    expect(() => memberPod(cluster({}), asked)).toThrow(/not a member name/);
  });
});

describe('versions', () => {
  test('an absent version is the recorded one, never the default of a newer operator', () => {
    const recorded = cluster({}, 'example', { currentVersion: '3.5.21' });
    const built = memberPod(recorded, member(BOOTSTRAP));
    expect((built.spec as PodSpec).containers[0].image).toBe('gcr.io/etcd-development/etcd:v3.5.21');
  });

  test('a member’s own version rules its image, its flags, its probes and its annotation', () => {
    const asked = { ...member(BOOTSTRAP), version: '3.5.3' };
    const built = memberPod(cluster({ version: '3.6.16' }), asked);
    const { image, args, startupProbe } = (built.spec as PodSpec).containers[0];
    expect(image).toBe('gcr.io/etcd-development/etcd:v3.5.3');
    expect(args).toContain('--experimental-initial-corrupt-check=true');
    expect(startupProbe.tcpSocket).toBeDefined();
    expect(built.metadata.annotations?.['etcd.version']).toBe('3.5.3');
  });
});

describe('probes', () => {
  test.each(['3.5.11', '3.5.35', '3.6.0', '3.7.3'])('%s: alive without quorum, ready with it', version => {
    const { startupProbe, livenessProbe, readinessProbe } = container({ version });
    expect([startupProbe, livenessProbe, readinessProbe].map(probe => probe.httpGet?.path)).toEqual([
      '/livez',
      '/livez',
      '/readyz',
    ]);
  });

  test.each(['3.5.0', '3.5.3', '3.5.10'])(
    '%s has no /livez: a connection is all that may kill it',
    version => {
      const { startupProbe, livenessProbe, readinessProbe } = container({ version });
      expect([startupProbe.tcpSocket, livenessProbe.tcpSocket]).toEqual([
        { port: 'metrics' },
        { port: 'metrics' },
      ]);
      expect(readinessProbe.httpGet?.path).toBe('/health?exclude=NOSPACE');
    },
  );

  test('startup has ten minutes, and neither of them waits long to notice', () => {
    const { startupProbe, readinessProbe } = container({});
    expect(startupProbe.periodSeconds * startupProbe.failureThreshold).toBeGreaterThanOrEqual(600);
    expect([startupProbe.periodSeconds, readinessProbe.periodSeconds]).toEqual([1, 1]);
  });
});

describe('placement', () => {
  const term = 'requiredDuringSchedulingIgnoredDuringExecution';

  test('a user’s affinity stands alone, also beside antiAffinity', () => {
    const affinity = { nodeAffinity: { [term]: { nodeSelectorTerms: [] } } };
    expect(podSpec({ pod: { affinity, antiAffinity: true } }).affinity).toEqual(affinity);
  });

  test('anti-affinity is a wish, a must when asked for, and nothing in development', () => {
    const kindOf = (spec: EtcdClusterSpec) => Object.keys(podSpec(spec).affinity?.['podAntiAffinity'] ?? {});
    expect(kindOf({})).toEqual(['preferredDuringSchedulingIgnoredDuringExecution']);
    expect(kindOf({ pod: { antiAffinity: false } })).toEqual(kindOf({}));
    expect(kindOf({ pod: { antiAffinity: true } })).toEqual([term]);
    expect(kindOf({ profile: 'Development' })).toEqual([]);
  });

  test('a node that is away evicts no pod, however long', () => {
    const tolerations = podSpec({ pod: { tolerations: [{ key: 'x', operator: 'Exists' }] } }).tolerations;
    expect(tolerations.map(toleration => toleration.key)).toEqual([
      'node.kubernetes.io/not-ready',
      'node.kubernetes.io/unreachable',
      'x',
    ]);
    expect(tolerations.some(toleration => toleration.tolerationSeconds !== undefined)).toBe(false);
  });
});

describe('the runtime’s view of its limits', () => {
  const environment = (limits: Record<string, unknown>, etcdEnv: { name: string; value: string }[] = []) =>
    container({ pod: { resources: { limits }, etcdEnv } }).env?.filter(
      ({ name }) => !name.startsWith('MEMBER_INITIAL_'),
    );

  test('threads are the CPU limit rounded up, two at least', () => {
    expect(environment({ cpu: '2500m' })).toEqual([{ name: 'GOMAXPROCS', value: '3' }]);
    expect(environment({ cpu: 0.1 })).toEqual([{ name: 'GOMAXPROCS', value: '2' }]);
  });

  test('the heap is four fifths of the memory limit', () => {
    expect(environment({ memory: '1000M' })).toEqual([{ name: 'GOMEMLIMIT', value: '800000000' }]);
  });

  test('a user’s own value stands', () => {
    const own = { name: 'GOMEMLIMIT', value: 'off' };
    expect(environment({ memory: '1Gi' }, [own])).toEqual([own]);
  });

  test('no limits, or none that can be read, mean no environment', () => {
    expect(environment({})).toEqual([]);
    expect(environment({ cpu: 'plenty', memory: null })).toEqual([]);
  });
});

describe('TLS of a pod', () => {
  const CLIENT_ONLY = { TLS: { static: { member: { serverSecret: 's' }, operatorSecret: 'o' } } };

  test('may be for clients alone', () => {
    const { args } = container(CLIENT_ONLY);
    expect(args).toContain('--listen-client-urls=https://0.0.0.0:2379');
    expect(args).toContain('--client-cert-auth=true');
    expect(args).toContain('--listen-peer-urls=http://0.0.0.0:2380');
    expect(args.filter(arg => arg.includes('peer-c'))).toEqual([]);
    expect(args).toContain('--listen-metrics-urls=http://0.0.0.0:2381');
  });

  test('is never mounted by subPath, and never the operator’s own', () => {
    const spec = JSON.stringify(podSpec(CLIENT_ONLY));
    expect(spec).not.toContain('subPath');
    expect(spec).not.toContain('"secretName":"o"');
  });

  test('is not switched: a living cluster in plain text gets no pod that speaks TLS', () => {
    const living = cluster(CLIENT_ONLY, 'example', { incarnation: { token: TOKEN, members: [] } });
    expect(() => memberPod(living, member(BOOTSTRAP))).toThrow(/made with plain text/);
  });

  test.each([
    ['3.5.35', '--experimental-peer-skip-client-san-verification=true'],
    ['3.6.16', '--peer-skip-client-san-verification=true'],
    ['3.7.3', '--peer-skip-client-san-verification=true'],
  ])('of %s looks peers up in DNS unless their authority is our own', (version, flag) => {
    expect(container({ version, TLS: { auto: {} } }).args).toContain(flag);
    const peers = { TLS: { static: { member: { peerSecret: 'p' } } } };
    expect(container({ version, ...peers }).args.join(' ')).not.toContain('san-verification');
  });
});

test('what old clients write for nothing changes nothing', () => {
  const zeros = {
    version: '',
    repository: '',
    size: 0,
    pod: { labels: {}, nodeSelector: {}, resources: {}, tolerations: [], etcdEnv: [], priorityClassName: '' },
  };
  const [given, absent] = [zeros, {}].map(spec => memberPod(cluster(spec), member(BOOTSTRAP)));
  expect(given?.spec).toEqual(absent?.spec);
  expect(stampOf(given as ManifestObject)).toBe(stampOf(absent as ManifestObject));
});
