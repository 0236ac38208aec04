import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { withDefaults } from '../../src/api/defaults/etcd-cluster.ts';
import { reservedEnvReason } from '../../src/api/values/reserved-environment.ts';
import type { EnvVar, EtcdClusterSpec } from '../../src/api/schemas/types.ts';
import {
  etcdArguments,
  type EtcdCommandLine,
  type MemberIdentity,
} from '../../src/objects/etcd-arguments.ts';

const IDENTITY: MemberIdentity = {
  name: 'example-0',
  peerUrl: 'http://example-0.example.shop.svc:2380',
  clientUrl: 'http://example-0.example.shop.svc:2379',
  token: 'token-1',
};

const VERSIONS = ['3.5.0', '3.5.3', '3.5.35', '3.6.0', '3.6.16', '3.7.0', '3.7.3'];

function render(spec: EtcdClusterSpec, env: readonly EnvVar[] = []): EtcdCommandLine {
  return etcdArguments(IDENTITY, withDefaults(spec), { etcd: spec.etcd, env });
}

/** The value of a flag; undefined when it is absent. */
function flag(line: EtcdCommandLine, name: string): string | undefined {
  return line.args.find(arg => arg.startsWith(`--${name}=`))?.slice(name.length + 3);
}

function flagNames(line: EtcdCommandLine): readonly string[] {
  return line.args.map(arg => arg.slice(2, arg.indexOf('=')));
}

const variable = (flagName: string) => `ETCD_${flagName.toUpperCase().replaceAll('-', '_')}`;

describe('names that changed between versions', () => {
  test.each(VERSIONS)('%s gets the corruption check by the name it knows', version => {
    const line = render({ version });
    const old = flag(line, 'experimental-initial-corrupt-check');
    const gate = flag(line, 'feature-gates');
    const expected = version.startsWith('3.5')
      ? ['true', undefined]
      : [undefined, 'InitialCorruptCheck=true,CompactHashCheck=true'];
    expect([old, gate]).toEqual(expected);
  });

  test.each([
    ['3.5.3', undefined],
    ['3.5.15', undefined],
    ['3.5.16', 'true'],
    ['3.5.35', 'true'],
    ['3.6.16', undefined],
  ])('%s has the leader compare hashes of compactions only where all compact alike', (version, expected) => {
    expect(flag(render({ version }), 'experimental-compact-hash-check-enabled')).toBe(expected);
  });

  test('3.7 gets no experimental flag, whatever is asked for', () => {
    const line = render({ version: '3.7.3', profile: 'Kubernetes' });
    expect(flagNames(line).filter(name => name.startsWith('experimental-'))).toEqual([]);
    expect(flag(line, 'watch-progress-notify-interval')).toBe('5s');
  });

  test('an old variable of a renamed check stands in for the gate, because 3.6 refuses both', () => {
    const env = [{ name: 'ETCD_EXPERIMENTAL_INITIAL_CORRUPT_CHECK', value: 'true' }];
    const line = render({ version: '3.6.16' }, env);
    expect(flag(line, 'feature-gates')).toBe('CompactHashCheck=true');
    expect(line.env).toEqual(env);
  });

  test('old variables of both checks leave no gate, and a variable with the gates stands in for all of them', () => {
    const both = ['INITIAL_CORRUPT_CHECK', 'COMPACT_HASH_CHECK_ENABLED'].map(name => ({
      name: `ETCD_EXPERIMENTAL_${name}`,
      value: 'false',
    }));
    expect(flag(render({ version: '3.6.16' }, both), 'feature-gates')).toBeUndefined();
    const gates = [{ name: 'ETCD_FEATURE_GATES', value: 'LeaseCheckpoint=true' }];
    expect(flag(render({ version: '3.7.3' }, gates), 'feature-gates')).toBeUndefined();
  });

  test('3.7 no longer reads the old variable, so that it does not switch the check off', () => {
    const env = [{ name: 'ETCD_EXPERIMENTAL_INITIAL_CORRUPT_CHECK', value: 'true' }];
    expect(flag(render({ version: '3.7.3' }, env), 'feature-gates')).toBe(
      'InitialCorruptCheck=true,CompactHashCheck=true',
    );
  });
});

describe('settings', () => {
  test('the Kubernetes profile leaves compaction to the kube-apiserver', () => {
    const line = render({ profile: 'Kubernetes' });
    expect(flag(line, 'auto-compaction-retention')).toBe('0');
    expect(flag(line, 'quota-backend-bytes')).toBe(String(8 * 2 ** 30));
  });

  test('the count between snapshots is etcd’s own unless asked for', () => {
    expect(flag(render({}), 'snapshot-count')).toBeUndefined();
    expect(flag(render({ etcd: { snapshotCount: 5000 } }), 'snapshot-count')).toBe('5000');
  });

  test('a variable beats a default, in whole groups', () => {
    const env = [{ name: 'ETCD_AUTO_COMPACTION_MODE', value: 'revision' }];
    const line = render({}, env);
    expect(flag(line, 'auto-compaction-mode')).toBeUndefined();
    expect(flag(line, 'auto-compaction-retention')).toBeUndefined();
    expect(line.env).toEqual(env);
  });

  test('the specification beats a variable', () => {
    const line = render({ etcd: { quotaBackendBytes: '4Gi' } }, [
      { name: 'ETCD_QUOTA_BACKEND_BYTES', value: '1' },
    ]);
    expect(flag(line, 'quota-backend-bytes')).toBe(String(4 * 2 ** 30));
    expect(line.env).toEqual([]);
  });
});

describe('any environment at all', () => {
  const everyFlag = [
    ...new Set(VERSIONS.flatMap(version => flagNames(render({ version, profile: 'Kubernetes' })))),
  ];
  const dangerous = [
    'force-new-cluster',
    'unsafe-no-fsync',
    'strict-reconfig-check',
    'config-file',
    'discovery',
  ];
  const environments = fc.array(
    fc.record({
      name: fc.oneof(
        fc.constantFrom(...everyFlag, ...dangerous).map(variable),
        fc.stringMatching(/^[A-Z][A-Z0-9_]{0,20}$/),
      ),
      value: fc.string(),
    }),
    { maxLength: 12 },
  );
  const specs = fc.record(
    {
      version: fc.constantFrom(...VERSIONS),
      profile: fc.constantFrom('Default' as const, 'Development' as const, 'Kubernetes' as const),
      etcd: fc.record(
        {
          quotaBackendBytes: fc.constant('4Gi'),
          snapshotCount: fc.constant(10),
          heartbeatIntervalMs: fc.constant(50),
        },
        { requiredKeys: [] },
      ),
    },
    { requiredKeys: ['version'] },
  );

  test('never repeats a flag, which would be fatal to etcd, and never moves the identity', () => {
    fc.assert(
      fc.property(specs, environments, (spec, env) => {
        const line = render(spec, env);
        const names = flagNames(line);
        expect(new Set(names).size).toBe(names.length);
        const variables = line.env.map(entry => entry.name);
        expect(variables.filter(name => names.map(variable).includes(name))).toEqual([]);
        expect(variables.filter(name => reservedEnvReason(name) !== undefined)).toEqual([]);
        expect(line.args.slice(0, 10)).toEqual(render({ version: '3.5.3' }).args.slice(0, 10));
      }),
      { numRuns: 300 },
    );
  });
});
