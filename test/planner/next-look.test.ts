import { describe, expect, it } from 'vitest';
import { nextPassSeconds } from '../../src/planner/next-look.ts';
import type { Observation } from '../../src/planner/model/observation.ts';
import { situationOf } from '../../src/planner/situation.ts';
import {
  aClaim,
  aCluster,
  aMembership,
  aPod,
  aProbe,
  aRunningCluster,
  aRunningStatus,
  NOW,
  UNKNOWN_MEMBERSHIP,
} from '../worlds/builders.ts';

const MINUTE = 60;
const HALF_A_DAY = 12 * 3_600;
const now = Date.parse(NOW);
const inSeconds = (seconds: number) => new Date(now + seconds * 1_000).toISOString();

const next = (given: Partial<Observation>) => nextPassSeconds(situationOf(aRunningCluster(given)));
const running = aRunningCluster();
const certificate = (notAfter: string | undefined) => ({
  certificates: [
    {
      role: 'peer' as const,
      secret: 'example-peer',
      keys: 'Standard' as const,
      exists: true,
      owned: true,
      missing: [],
      faults: [],
      notAfter,
      expiresSoon: false,
    },
  ],
  toIssue: [],
  taken: [],
  authoritiesLost: [],
});
const backup = (nextRun: string) => ({
  name: 'nightly',
  uid: 'backup',
  newest: undefined,
  lastRun: undefined,
  nextRun,
  timeoutSeconds: 600,
});

describe('a cluster that nothing is to be done for', () => {
  it('is left alone for half a day when every member is well', () => {
    expect(next({})).toBe(HALF_A_DAY);
  });

  it.each<[string, Partial<Observation>]>([
    ['the members are not known', { membership: UNKNOWN_MEMBERSHIP }],
    [
      'a member is not ready',
      { pods: [aPod({ name: 'example-0', ready: false }), ...running.pods.slice(1)] },
    ],
    ['a member is ending', { pods: [aPod({ name: 'example-0', deleting: true }), ...running.pods.slice(1)] }],
    ['a member has no pod', { pods: running.pods.slice(1) }],
    [
      'a member raises an alarm',
      { probes: { ...running.probes, 'example-1': aProbe({ name: 'example-1', errors: ['alarm'] }) } },
    ],
    [
      'there are more members than are asked for',
      { membership: aMembership(['example-0', 'example-1', 'example-2', 'example-3']) },
    ],
    ['a pod is no member', { pods: [...running.pods, aPod({ name: 'example-7' })] }],
    [
      'a claim is no member and not put aside',
      { claims: [...running.claims, aClaim({ name: 'example-7' })] },
    ],
    [
      'a volume grows',
      { claims: [aClaim({ name: 'example-0', resizing: 'Resizing' }), ...running.claims.slice(1)] },
    ],
    [
      'a volume is to grow and its StorageClass does not let it',
      { claims: [aClaim({ name: 'example-0', expandable: false }), ...running.claims.slice(1)] },
    ],
    [
      'it sleeps and no quorum shows how the recorded operation has ended',
      {
        cluster: aCluster({
          spec: { size: 3, hibernated: true },
          status: { ...aRunningStatus(), operation: { type: 'scaleCluster' } },
        }),
        pods: [],
        membership: UNKNOWN_MEMBERSHIP,
      },
    ],
    [
      'a restore is about to begin',
      { restores: [{ name: 'back', uid: 'r', createdAt: NOW, confirmClusterId: '', revisionBump: 0 }] },
    ],
    ['a certificate cannot be read', { tls: certificate(undefined) }],
    [
      'a certificate is not valid yet',
      {
        tls: {
          ...certificate(undefined),
          certificates: certificate(inSeconds(9e6)).certificates.map(each => ({
            ...each,
            faults: [{ key: 'tls.crt', kind: 'NotYetValid' as const, detail: 'its clock is ahead' }],
          })),
        },
      },
    ],
    [
      'the status contains hashes that were compared',
      {
        cluster: aCluster({
          spec: { size: 3 },
          status: { ...aRunningStatus(), keyHashes: { comparedAt: NOW, revision: '10', members: [] } },
        }),
      },
    ],
  ])('is looked at each minute while %s', (_, given) => {
    expect(next(given)).toBe(MINUTE);
  });

  it('is looked at when the volume of a former member is to go', () => {
    const kept = aClaim({ name: 'example-7', keptUntil: now + 3_600_000 });
    expect(next({ claims: [...running.claims, kept] })).toBe(3_600);
  });

  it('is looked at often enough to renew a certificate of a day, and at last each minute', () => {
    expect(next({ tls: certificate(inSeconds(86_400)) })).toBe(8_640);
    expect(next({ tls: certificate(inSeconds(300)) })).toBe(MINUTE);
    expect(next({ tls: certificate(inSeconds(-300)) })).toBe(MINUTE);
    expect(next({ tls: certificate(inSeconds(90 * 86_400)) })).toBe(HALF_A_DAY);
  });

  it('is looked at each hour when others make its certificates: not all of them are watched', () => {
    const [own] = certificate(inSeconds(90 * 86_400)).certificates;
    const certificates = own === undefined ? [] : [{ ...own, owned: false }];
    expect(next({ tls: { ...certificate(undefined), certificates } })).toBe(3_600);
  });

  it.each<[string, Partial<Observation>]>([
    [
      'a volume that a restore put aside',
      { claims: [...running.claims, aClaim({ name: 'example-7', keptByRestore: true })] },
    ],
    [
      'a volume of a former cluster',
      { claims: [...running.claims, aClaim({ name: 'example-7', owned: false })] },
    ],
    [
      'an operation whose end this pass reports',
      {
        cluster: aCluster({
          spec: { size: 3 },
          status: { ...aRunningStatus(), operation: { type: 'scaleCluster' } },
        }),
      },
    ],
    ['a pod of somebody else', { pods: [...running.pods, aPod({ name: 'visitor', owned: false })] }],
    [
      'a volume that is kept for good',
      {
        cluster: aCluster({ spec: { size: 3, storage: { retain: 'Retain' } }, status: aRunningStatus() }),
        claims: [...running.claims, aClaim({ name: 'example-7', keptUntil: now - 1 })],
      },
    ],
  ])('is left alone beside %s', (_, given) => {
    expect(next(given)).toBe(HALF_A_DAY);
  });

  it('is looked at when a backup could have been made and was not, and not again and again after that', () => {
    expect(next({ backups: [backup(inSeconds(3_000))] })).toBe(3_601);
    expect(next({ backups: [backup(inSeconds(-3_000))] })).toBe(HALF_A_DAY);
  });

  it('is left alone while it sleeps', () => {
    const cluster = aCluster({ spec: { hibernated: true }, status: aRunningStatus() });
    const asleep = { cluster, pods: [], probes: {}, membership: UNKNOWN_MEMBERSHIP };
    expect(next(asleep)).toBe(HALF_A_DAY);
  });
});
