/** Every path and every refusal, as tables; and what holds for all versions, generated. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DEPARTURES, NEWEST_KNOWN } from '../../../../src/api/versions/table.ts';
import { isAtLeast, minorOf, parseVersion } from '../../../../src/api/versions/compare.ts';
import {
  type MemberVersions,
  type UpgradeQuestion,
  upgradePath,
} from '../../../../src/planner/operations/upgrade/path.ts';

/** What a member says that has run this version for a while. */
function settled(server: string, serial = 0, given: Partial<MemberVersions> = {}): MemberVersions {
  const minor = `${minorOf(server)}.0`;
  const storage = isAtLeast(minor, '3.6.0') ? minor : undefined;
  return { name: `example-${serial}`, server, cluster: minor, storage, ...given };
}

function variables(...names: readonly string[]): UpgradeQuestion['environment'] {
  return names.map(name => ({ name, value: 'x' }));
}

function asked(from: string | readonly MemberVersions[], given: Partial<UpgradeQuestion>): UpgradeQuestion {
  return {
    members: typeof from === 'string' ? [0, 1, 2].map(serial => settled(from, serial)) : from,
    target: '3.6.16',
    allowIntermediate: false,
    authEnabled: false,
    environment: [],
    ...given,
  };
}

it('no path leads away from what is no release, or from members that do not answer', () => {
  const odd = ['3.6.15', 'main'].map((server, serial) => settled('3.6.15', serial, { server }));
  expect(upgradePath(asked(odd, {}))).toMatchObject({
    kind: 'refused',
    message: expect.stringMatching(/^a member runs main, which is not a release of etcd/),
  });
  expect(upgradePath(asked([], {}))).toMatchObject({
    kind: 'refused',
    message: expect.stringMatching(/^no member reports its version/),
  });
});

describe('one step', () => {
  it.each([
    ['3.5.3', '3.5.35', 'a patch'],
    ['3.5.35', '3.6.16', 'a minor'],
    ['3.5.36', '3.6.16', 'a minor from a release newer than known'],
    ['3.6.11', '3.7.3', 'a minor from its floor'],
    ['3.6.16', '3.6.15', 'a patch back'],
    ['3.6.16', '3.6.99', 'a patch newer than known'],
    ['3.4.45', '3.5.35', 'out of a minor that is not run any more'],
  ])('%s → %s: %s', (from, target) => {
    expect(upgradePath(asked(from, { target }))).toMatchObject({ kind: 'path', hops: [target] });
  });

  it.each([
    ['3.6.16', '3.6.99', '3.6.99 is newer than 3.6.16'],
    ['3.6.16', '3.6.15', '3.6.15 is older than 3.6.16'],
    ['3.6.16', '3.6.13', 'has known faults'],
  ])('%s → %s says %j', (from, target, note) => {
    const answer = upgradePath(asked(from, { target }));
    expect(answer.kind === 'path' && answer.notes.join()).toContain(note);
  });

  it('is none when every member runs the target', () => {
    expect(upgradePath(asked('3.6.16', {}))).toEqual({ kind: 'there' });
  });
});

describe('several steps', () => {
  const cases: readonly [string, string, readonly string[], string][] = [
    ['3.5.3', '3.6.16', ['3.5.35', '3.6.16'], 'BelowFloor'],
    ['3.5.34', '3.6.16', ['3.5.35', '3.6.16'], 'BelowFloor'],
    ['3.6.5', '3.7.3', ['3.6.16', '3.7.3'], 'BelowFloor'],
    ['3.5.35', '3.7.3', ['3.6.16', '3.7.3'], 'SkipsMinor'],
    ['3.5.3', '3.7.1', ['3.5.35', '3.6.16', '3.7.1'], 'BelowFloor'],
    ['3.4.45', '3.6.16', ['3.5.35', '3.6.16'], 'SkipsMinor'],
  ];
  it.each(cases)('%s → %s are refused, and planned when that is allowed', (from, target, hops, reason) => {
    const answer = upgradePath(asked(from, { target }));
    expect(answer).toMatchObject({ kind: 'refused', reason });
    const message = answer.kind === 'refused' ? answer.message : '';
    expect(message).toContain(
      `Set spec.version to ${hops[0]} first, or spec.upgrade.allowIntermediateVersions`,
    );
    expect(message).toContain('https://etcd.io/');
    expect(upgradePath(asked(from, { target, allowIntermediate: true }))).toMatchObject({
      kind: 'path',
      hops,
    });
  });
});

describe('refused', () => {
  it.each([
    ['3.5.35', { target: '3.5.2' }, 'ForbiddenVersion', 'Set spec.version to 3.5.35'],
    ['3.6.16', { target: '3.8.0' }, 'VersionUnsupported', 'Set spec.version to 3.6.16 or 3.7.3'],
    ['3.6.5', { target: '3.8.0' }, 'VersionUnsupported', 'Set spec.version to 3.6.16 ('],
    ['3.7.3', { target: '3.4.45' }, 'VersionUnsupported', 'Set spec.version to 3.7.3 ('],
    ['3.6.16', { target: 'latest' }, 'VersionUnsupported', '"latest" is not an etcd release'],
    ['3.4.45', { target: '3.5.35', authEnabled: true }, 'AuthEnabled', 'Disable authentication'],
    ['3.4.45', { target: '3.5.35', authEnabled: undefined }, 'AuthEnabled', 'not known'],
    [
      '3.6.16',
      { target: '3.7.3', environment: variables('GOGC', 'ETCD_EXPERIMENTAL_COMPACTION_BATCH_LIMIT') },
      'SettingsGone',
      'replace ETCD_EXPERIMENTAL_COMPACTION_BATCH_LIMIT with ETCD_COMPACTION_BATCH_LIMIT',
    ],
    [
      '3.6.16',
      { target: '3.7.3', environment: variables('ETCD_EXPERIMENTAL_INITIAL_CORRUPT_CHECK') },
      'SettingsGone',
      'add InitialCorruptCheck=true to ETCD_FEATURE_GATES',
    ],
    [
      '3.5.35',
      { target: '3.6.16', environment: variables('ETCD_ENABLE_V2') },
      'SettingsGone',
      'remove ETCD_ENABLE_V2',
    ],
    ['3.3.27', { target: '3.5.35' }, 'SkipsMinor', 'too old'],
  ] as const)('%s → %j: %s', (from, given, reason, words) => {
    const answer = upgradePath(asked(from, given));
    expect(answer).toMatchObject({ kind: 'refused', reason });
    expect(answer.kind === 'refused' && answer.message).toContain(words);
  });

  it.each([
    ['cluster version', { cluster: '3.5.0' }],
    ['storage version', { storage: undefined }],
    ['cluster version that is not known', { cluster: undefined }],
  ] as const)('a minor is not left while one member is behind in its %s', (_, given) => {
    const members = [settled('3.6.16', 0), settled('3.6.16', 1, given), settled('3.6.16', 2)];
    const answer = upgradePath(asked(members, { target: '3.7.3' }));
    expect(answer).toMatchObject({ kind: 'refused', reason: 'ClusterVersionBehind' });
    expect(answer.kind === 'refused' && answer.message).toContain('example-1');
    expect(upgradePath(asked(members, { target: '3.6.15' }))).toMatchObject({ kind: 'path' });
  });

  it('settings that stay do not hold up an upgrade within the minor, nor later ones before their turn', () => {
    const environment = variables('ETCD_EXPERIMENTAL_COMPACTION_BATCH_LIMIT');
    expect(upgradePath(asked('3.6.15', { environment }))).toMatchObject({ kind: 'path' });
    const far = asked('3.5.35', { target: '3.7.3', allowIntermediate: true, environment });
    expect(upgradePath(far)).toMatchObject({ kind: 'path', hops: ['3.6.16', '3.7.3'] });
  });
});

describe('members that were found on different versions', () => {
  const cluster = '3.5.0';
  const half = [
    settled('3.5.35', 0),
    settled('3.6.16', 1, { cluster, storage: undefined }),
    settled('3.5.35', 2),
  ];
  it.each([
    ['finished', half, '3.6.16'],
    ['taken back before the cluster has agreed', half, '3.5.35'],
    ['finished within a minor', [settled('3.6.15', 0), settled('3.6.16', 1)], '3.6.16'],
  ])('are %s', (_, members, target) => {
    expect(upgradePath(asked(members, { target }))).toMatchObject({ kind: 'path', hops: [target] });
  });
  it.each([
    ['to a third version', half, '3.6.15', ['3.5.35', '3.6.16']],
    [
      'back after the cluster has agreed',
      [settled('3.5.35', 0, { cluster: '3.6.0' }), settled('3.6.16', 1)],
      '3.5.35',
      ['3.6.16'],
    ],
    ['from below the floor', [settled('3.5.21', 0), settled('3.6.16', 1, { cluster })], '3.6.16', ['3.5.21']],
    ['when one skipped a minor', [settled('3.5.35', 0), settled('3.7.3', 1, { cluster })], '3.7.3', []],
  ])('are not guessed about: %s', (_, members, target, advised) => {
    const answer = upgradePath(asked(members, { target }));
    expect(answer).toMatchObject({ kind: 'refused', reason: 'VersionsDiffer' });
    const message = answer.kind === 'refused' ? answer.message : '';
    const [, advice = ''] = message.split(/Set spec\.version to /);
    expect(advice.match(/3\.\d\.\d+/g) ?? []).toEqual(advised);
    expect(message.includes('manually, or create a new cluster')).toBe(advised.length === 0);
    for (const version of advised)
      expect(upgradePath(asked(members, { target: version }))).toMatchObject({ kind: 'path' });
  });
});

describe('on the way down', () => {
  const said = (server: string, minor: string, downgrade = '') =>
    settled(server, 0, { cluster: `${minor}.0`, storage: `${minor}.0`, downgrade });

  it.each([
    ['3.7.3', '3.6.16', ['3.6.16']],
    ['3.7.3', '3.6.11', ['3.6.11']],
    ['3.6.16', '3.5.35', ['3.5.35']],
    ['3.7.3', '3.5.35', ['3.6.16', '3.5.35']],
  ])('%s → %s goes through %j', (from, target, hops) => {
    const answer = upgradePath(asked(from, { target, allowIntermediate: true }));
    expect(answer).toMatchObject({ kind: 'path', hops });
    expect(answer.kind === 'path' && answer.notes.join()).toContain(`${target} is older than ${from}`);
  });

  it.each([
    ['3.7.3', { target: '3.5.35' }, 'SkipsMinor', 'Set spec.version to 3.6.16 first'],
    ['3.6.16', { target: '3.5.34' }, 'AcrossMinorDown', 'Set spec.version to 3.5.35'],
    ['3.7.3', { target: '3.6.10' }, 'AcrossMinorDown', 'Set spec.version to 3.6.16'],
    ['3.5.35', { target: '3.4.45' }, 'VersionUnsupported', 'Set spec.version to 3.5.35'],
    ['3.8.0', { target: '3.7.3' }, 'AcrossMinorDown', 'Set spec.version to a release of 3.8'],
    [
      '3.6.16',
      { target: '3.5.35', environment: [{ name: 'ETCD_FEATURE_GATES', value: 'CompactHashCheck=true' }] },
      'SettingsGone',
      'CompactHashCheck is ETCD_EXPERIMENTAL_COMPACT_HASH_CHECK_ENABLED',
    ],
    [
      '3.6.16',
      { target: '3.5.35', environment: variables('ETCD_COMPACTION_BATCH_LIMIT') },
      'SettingsGone',
      'replace ETCD_COMPACTION_BATCH_LIMIT with ETCD_EXPERIMENTAL_COMPACTION_BATCH_LIMIT',
    ],
    [
      '3.6.16',
      { target: '3.5.35', environment: variables('ETCD_MAX_LEARNERS') },
      'SettingsGone',
      'remove ETCD_MAX_LEARNERS',
    ],
    [
      '3.7.3',
      {
        target: '3.6.16',
        environment: [{ name: 'ETCD_FEATURE_GATES', value: 'A=true,PriorityRequest=true' }],
      },
      'SettingsGone',
      'Remove PriorityRequest from ETCD_FEATURE_GATES',
    ],
  ] as const)('%s → %j: %s', (from, given, reason, words) => {
    const answer = upgradePath(asked(from, given));
    expect(answer).toMatchObject({ kind: 'refused', reason });
    expect(answer.kind === 'refused' && answer.message).toContain(words);
  });

  it('a downgrade by hand to a minor that is not run any more can only be cancelled', () => {
    const members = [0, 1, 2].map(serial => ({ ...settled('3.6.16', serial), downgrade: '3.4.0' }));
    const answer = upgradePath(asked(members, { target: '3.6.15' }));
    expect(answer).toMatchObject({ kind: 'refused', reason: 'DowngradeEnabled' });
    expect(answer.kind === 'refused' && answer.message).toMatch(
      /\. Cancel it: kubectl exec \S+ -c etcd -- etcdctl downgrade cancel$/,
    );
  });

  it('gates and flags that the older minor knows do not hold it up', () => {
    const environment = [
      { name: 'ETCD_FEATURE_GATES', value: 'CompactHashCheck=true' },
      ...variables('GOGC'),
    ];
    expect(upgradePath(asked('3.7.3', { target: '3.6.16', environment }))).toMatchObject({ kind: 'path' });
    const older = variables('ETCD_EXPERIMENTAL_COMPACTION_BATCH_LIMIT');
    expect(upgradePath(asked('3.6.16', { target: '3.5.35', environment: older }))).toMatchObject({
      kind: 'path',
    });
  });

  it('does not begin before the cluster has arrived in the minor that is left, unless the downgrade is enabled', () => {
    expect(upgradePath(asked([said('3.7.3', '3.6')], { target: '3.6.16' }))).toMatchObject({
      reason: 'ClusterVersionBehind',
    });
    expect(upgradePath(asked([said('3.7.3', '3.6', '3.6.0')], { target: '3.6.16' }))).toMatchObject({
      kind: 'path',
      hops: ['3.6.16'],
    });
  });

  it.each([
    ['another minor up', '3.7.3', 'Set spec.version to 3.5.35 to continue it, or cancel it'],
    ['a patch', '3.6.15', 'kubectl exec example-0 -c etcd -- etcdctl downgrade cancel'],
  ])('somebody has enabled a downgrade: %s is not done', (_, target, words) => {
    const members = [said('3.6.16', '3.5', '3.5.0')];
    const answer = upgradePath(asked(members, { target }));
    expect(answer).toMatchObject({ kind: 'refused', reason: 'DowngradeEnabled' });
    expect(answer.kind === 'refused' && answer.message).toContain(words);
    // One that this operator has enabled it cancels.
    expect(upgradePath(asked(members, { target: '3.6.15', ownDowngrade: '3.5.0' }))).toMatchObject({
      kind: 'path',
    });
  });

  it('one that etcd is about to end is waited for', () => {
    const members = [said('3.6.16', '3.6', '3.6.0')];
    expect(upgradePath(asked(members, { target: '3.7.3' }))).toMatchObject({
      reason: 'ClusterVersionBehind',
    });
    expect(upgradePath(asked(members, { target: '3.5.35' }))).toMatchObject({
      reason: 'ClusterVersionBehind',
    });
  });

  it('members that were found halfway go on, or wait for a person who wants them back', () => {
    const members = [said('3.6.16', '3.6', '3.6.0'), said('3.7.3', '3.6', '3.6.0')];
    expect(upgradePath(asked(members, { target: '3.6.16' }))).toMatchObject({ kind: 'path' });
    expect(upgradePath(asked(members, { target: '3.7.3' }))).toMatchObject({ reason: 'DowngradeEnabled' });
    expect(upgradePath(asked(members, { target: '3.7.3', ownDowngrade: '3.6.0' }))).toMatchObject({
      kind: 'path',
    });
  });
});

describe('for all versions', () => {
  const versions = fc
    .tuple(fc.constantFrom('3.3', '3.4', '3.5', '3.6', '3.7', '3.8'), fc.integer({ min: 0, max: 50 }))
    .map(([minor, patch]) => `${minor}.${patch}`);
  const questions = fc.record({
    from: versions,
    target: fc.oneof(versions, fc.constantFrom('', 'latest', 'v3.6.1')),
    allowIntermediate: fc.boolean(),
    authEnabled: fc.constantFrom(true, false, undefined),
  });

  it('a path ends at the target, enters minors one at a time, and leaves each from its floor on, or comes to it', () => {
    fc.assert(
      fc.property(questions, ({ from, ...given }) => {
        const answer = upgradePath(asked(from, given));
        if (answer.kind !== 'path') return;
        expect(answer.hops.at(-1)).toBe(given.target);
        expect(given.allowIntermediate || answer.hops.length === 1).toBe(true);
        let at = from;
        for (const hop of answer.hops) {
          const step = (parseVersion(hop)?.minor ?? 0) - (parseVersion(at)?.minor ?? 0);
          expect([-1, 0, 1]).toContain(step);
          // What is left, or, on the way down, what is come to and could be left again.
          const below = step < 0 ? hop : at;
          const departure = DEPARTURES.find(candidate => candidate.from === minorOf(below));
          expect(step === 0 || isAtLeast(below, departure?.floor ?? '9.9.9')).toBe(true);
          expect(hop).not.toBe(at);
          expect([given.target, ...Object.values(NEWEST_KNOWN)]).toContain(hop);
          at = hop;
        }
      }),
      { numRuns: 500 },
    );
  });

  it('a refusal says what to write instead', () => {
    fc.assert(
      fc.property(questions, ({ from, ...given }) => {
        const answer = upgradePath(asked(from, given));
        if (answer.kind !== 'refused') return;
        expect(answer.message).toMatch(
          /spec\.version|write one of|Disable authentication|Create a new cluster/,
        );
        expect(answer.message).toMatch(/https:\/\/etcd\.io\/|etcd issue|docs\/reference/);
      }),
      { numRuns: 500 },
    );
  });

  it('who follows the first hop by hand arrives where the path would have led', () => {
    fc.assert(
      fc.property(questions, ({ from, ...given }) => {
        const whole = upgradePath(asked(from, { ...given, allowIntermediate: true }));
        if (whole.kind !== 'path') return;
        let at = from;
        for (const hop of whole.hops) {
          const answer = upgradePath(asked(at, { ...given, target: hop, authEnabled: false }));
          expect(answer).toMatchObject({ kind: 'path', hops: [hop] });
          at = hop;
        }
      }),
      { numRuns: 300 },
    );
  });
});
