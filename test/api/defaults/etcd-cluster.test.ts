import { describe, expect, test } from 'vitest';
import { withDefaults } from '../../../src/api/defaults/etcd-cluster.ts';
import type { EtcdClusterSpec } from '../../../src/api/schemas/types.ts';
import { customResourceDefinitions } from '../../../src/api/schemas/crd.ts';
import type { StructuralSchema } from '../../../src/api/schemas/structural.schema.ts';

const GIB = 2 ** 30;

describe('an empty specification', () => {
  const config = withDefaults({});

  test('is three members of the newest 3.6', () => {
    expect(config).toMatchObject({
      size: 3,
      version: '3.6.16',
      image: 'gcr.io/etcd-development/etcd:v3.6.16',
      paused: false,
      hibernated: false,
      profile: 'Default',
      storage: { retain: 'Delete', retainDeadMemberSeconds: 86_400 },
    });
  });

  test('leaves storage open and asks for no TLS', () => {
    expect(config.storage).not.toHaveProperty('volumeClaimTemplate');
    expect(config).not.toHaveProperty('TLS');
  });

  test('is the same for zero values, as Go clients write them', () => {
    const pod = { resources: {}, ClusterDomain: '', DNSTimeoutInSecond: 0, busyboxImage: '' };
    const zero = withDefaults({ size: 0, version: '', repository: '', paused: false, pod });
    expect({ ...zero, pod: { ...zero.pod, ...pod } }).toEqual({ ...config, pod: { ...config.pod, ...pod } });
  });
});

describe('the quota', () => {
  const quota = (value: string | undefined, etcd = {}): number =>
    withDefaults({ etcd, pod: { etcdEnv: [{ name: 'ETCD_QUOTA_BACKEND_BYTES', value }] } } as EtcdClusterSpec)
      .etcd.quotaBackendBytes;

  test('is what etcd gets by its environment, unless the specification names one or the value is none', () => {
    expect(quota('4294967296')).toBe(4 * GIB);
    expect(quota('4294967296', { quotaBackendBytes: '1Gi' })).toBe(GIB);
    expect([undefined, '', '0', '-1', 'much'].map(value => quota(value))).toEqual(Array(5).fill(2 * GIB));
  });
});

describe('the version', () => {
  test.each([
    ['v3.5.3', undefined, '3.5.3'],
    ['3.5.3', '3.6.16', '3.5.3'],
    // A new operator has another default, and must not upgrade a cluster that never named a version.
    ['', '3.5.3', '3.5.3'],
    ['', '', '3.6.16'],
    [undefined, undefined, '3.6.16'],
  ])('spec %j and recorded %j give %s', (version, recorded, expected) => {
    const spec = version === undefined ? {} : { version };
    expect(withDefaults(spec, { version: recorded }).version).toBe(expected);
  });
});

describe('storage', () => {
  const claim = { resources: { requests: { storage: '8Gi' } } };

  test('takes a claim in either form', () => {
    const policy = withDefaults({ pod: { persistentVolumeClaimSpec: claim } }).storage.volumeClaimTemplate;
    const template = withDefaults({ storage: { volumeClaimTemplate: { spec: claim } } }).storage
      .volumeClaimTemplate;
    expect(policy).toEqual({ spec: claim });
    expect(template).toEqual(policy);
  });

  test.each([
    ['24h', 86_400],
    ['90m', 5400],
    ['1h30m', 5400],
    ['nonsense', 86_400],
  ])('keeps the claim of a dead member for %s', (retainDeadMemberFor, seconds) => {
    expect(withDefaults({ storage: { retainDeadMemberFor } }).storage.retainDeadMemberSeconds).toBe(seconds);
  });
});

describe('TLS', () => {
  test.each([
    [{}, false],
    [{ static: {} }, false],
    [{ static: { member: { peerSecret: '' } } }, false],
    [{ static: { member: { peerSecret: 'p' } } }, true],
    [{ auto: {} }, true],
    [{ certManager: { issuerRef: { name: 'ca' } } }, true],
  ])('%j asks for it: %s', (TLS, asked) => {
    expect('TLS' in withDefaults({ TLS })).toBe(asked);
  });
});

describe('etcd', () => {
  test.each([
    ['2Gi', 2 * GIB],
    [1_000_000_000, 1_000_000_000],
    ['0', 2 * GIB],
    ['nonsense', 2 * GIB],
  ])('a quota of %j is %i bytes', (quotaBackendBytes, bytes) => {
    expect(withDefaults({ etcd: { quotaBackendBytes } }).etcd.quotaBackendBytes).toBe(bytes);
  });

  test('the election timeout follows the heartbeat', () => {
    expect(withDefaults({ etcd: { heartbeatIntervalMs: 200 } }).etcd.electionTimeoutMs).toBe(2000);
  });

  test('the profile Kubernetes compacts nothing and has room, unless the specification says otherwise', () => {
    expect(withDefaults({ profile: 'Kubernetes' }).etcd).toMatchObject({
      quotaBackendBytes: 8 * GIB,
      autoCompaction: { mode: 'off', retention: '0' },
    });
    const etcd = { quotaBackendBytes: '4Gi', autoCompaction: { retention: '2h' } };
    expect(withDefaults({ profile: 'Kubernetes', etcd }).etcd).toMatchObject({
      quotaBackendBytes: 4 * GIB,
      autoCompaction: { mode: 'periodic', retention: '2h' },
    });
  });

  test('a retention of revisions may be written as a number', () => {
    const etcd = { autoCompaction: { mode: 'revision', retention: 1000 } } as const;
    expect(withDefaults({ etcd }).etcd.autoCompaction).toEqual({ mode: 'revision', retention: '1000' });
  });
});

test('every default of the schema is the default of the code', () => {
  const schema = customResourceDefinitions()[0]?.spec.versions[0].schema.openAPIV3Schema;
  const spec = schema?.properties?.['spec'] as StructuralSchema;
  const stored = storedFrom(spec);
  expect(withDefaults(stored)).toEqual(withDefaults({}));
});

/** What the API server makes of `{pod: {}, storage: {}, …}`: one level of optional blocks, each with its defaults. */
function storedFrom(schema: StructuralSchema): Record<string, unknown> {
  const blocks = ['pod', 'storage', 'etcd', 'upgrade', 'repair', 'recovery', 'service'];
  const entries = Object.entries(schema.properties ?? {}).flatMap(([key, node]): [string, unknown][] => {
    if ('default' in node) return [[key, node.default]];
    return blocks.includes(key) ? [[key, storedFrom(node)]] : [];
  });
  return Object.fromEntries(entries);
}
