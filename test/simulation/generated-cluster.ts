/** The cluster itself, field by field, for generated observations: what is asked for, what is recorded, what users said. */
import type { RequestKind } from '../../src/api/actions.ts';
import * as fc from 'fast-check';
import { CALAMITIES, type Calamity } from './generated-calamities.ts';
import { mostly } from './generated-members.ts';

/** What members run, where an upgrade goes, and what is asked for. */
const VERSIONS: readonly {
  readonly current: string;
  readonly target: string;
  readonly asked: string | undefined;
}[] = [
  { current: '3.6.15', target: '', asked: '3.6.16' },
  { current: '3.6.15', target: '3.6.16', asked: '3.6.16' },
  { current: '3.5.35', target: '', asked: '3.6.16' },
  { current: '3.5.35', target: '3.6.16', asked: '3.6.16' },
  { current: '3.5.35', target: '3.6.16', asked: '3.5.35' },
  { current: '3.5.3', target: '', asked: '3.6.16' },
  { current: '3.5.35', target: '', asked: '3.7.3' },
  { current: '3.6.16', target: '', asked: '3.7.3' },
  { current: '3.6.16', target: '3.7.3', asked: '3.7.3' },
  { current: '3.6.16', target: '3.7.3', asked: '3.6.16' },
  { current: '3.7.3', target: '', asked: '3.6.16' },
  { current: '3.7.3', target: '3.6.16', asked: '3.6.16' },
  { current: '3.7.3', target: '3.6.16', asked: '3.7.3' },
  { current: '3.6.16', target: '3.5.35', asked: '3.5.35' },
  { current: '3.6.5', target: '', asked: '3.7.3' },
  { current: '3.6.16', target: '', asked: '3.5.35' },
  { current: '3.7.3', target: '', asked: '3.6.16' },
  { current: '3.6.16', target: '', asked: undefined },
  { current: '3.6.16', target: '', asked: '3.6' },
];
const USUAL = { current: '3.6.16', target: '', asked: '3.6.16' } as (typeof VERSIONS)[number];

const UNDER_WAY = [
  'createCluster',
  'restoreCluster',
  'repairCluster',
  'scaleCluster',
  'replaceMember',
  'rolloutCluster',
  'upgradeCluster',
  'hibernateCluster',
  'wakeCluster',
] as const;

/** As a record, so that a new kind is not forgotten, and the order and with it the meaning of seeds stays. */
const ASKED = Object.keys({
  replaceMember: true,
  restart: true,
  moveLeader: true,
  defragment: true,
} satisfies Record<RequestKind, true>) as RequestKind[];

/** What is generated of the cluster. */
export function clusterDraw(wild: number) {
  const rarely = <const T>(first: T, ...others: readonly T[]) => mostly(wild, first, ...others);
  // What is wanted differs more often than what is wrong.
  const often = <const T>(first: T, ...others: readonly T[]) => mostly(Math.ceil(wild / 5), first, ...others);
  return fc.record({
    spec: fc.record({
      surplus: often(0, 1, -1, 2, -2),
      versions: often(USUAL, ...VERSIONS),
      isOtherDomain: rarely(false, true),
      hibernated: rarely(false, true, true),
      paused: rarely(false, true),
      retain: often<'Delete' | 'Retain'>('Delete', 'Retain'),
      totalLoss: often<'Report' | 'RestoreLatestBackup'>('Report', 'RestoreLatestBackup'),
      replaceAfterSeconds: often(600, 0, 60),
      maxReplacementsPerHour: often(2, 0, 1),
      strategy: often<'Automatic' | 'Supervised'>('Automatic', 'Supervised'),
      snapshotBefore: often<'IfPossible' | 'Required' | 'Never'>('Never', 'Required', 'IfPossible'),
      allowIntermediateVersions: often(false, true),
      isTls: rarely(false, true),
    }),
    status: fc.record({
      phase: rarely<'Running' | 'Creating' | 'Failed' | ''>('Running', 'Creating', 'Failed', ''),
      incarnation: rarely('recorded', 'none', 'rebuilt', 'seeding', 'seeded', 'restored'),
      clusterId: rarely(true, false),
      isEphemeral: rarely(false, true, true),
      lastSerial: rarely<number | undefined>(undefined, 0, 40),
      isCurrentKnown: rarely(true, false),
      underWay: often<(typeof UNDER_WAY)[number] | undefined>(undefined, ...UNDER_WAY),
      replaced: rarely(false, true),
      givenUp: rarely<number | undefined>(undefined, 30, 3_000),
      hasSlept: rarely(false, true),
      hasFailed: rarely(false, true),
      hasLowered: rarely(false, true),
      stamps: rarely('own', 'none', 'foreign'),
    }),
    deleting: rarely(false, true),
    hasFinalizer: rarely(true, false),
    membership: mostly(6, true, false),
    calamity: mostly<Calamity | undefined>(20, undefined, ...CALAMITIES),
    services: fc.record({
      peer: rarely<'ours' | 'absent' | 'foreign'>('ours', 'absent', 'foreign'),
      client: rarely<'ours' | 'absent' | 'foreign'>('ours', 'absent', 'foreign'),
      budget: rarely<'ours' | 'absent' | 'foreign'>('ours', 'absent', 'foreign'),
    }),
    asksForKeys: fc.boolean(),
    restores: fc.array(
      fc.record({
        proved: often(true, false),
        confirms: fc.constantFrom('nobody', 'own', 'other'),
        age: fc.constantFrom(10, 1_000),
        onlyAfterTotalLoss: rarely(false, true),
        // It goes back to what is kept instead of a backup.
        back: often(false, true),
      }),
      { maxLength: 3 },
    ),
    // Of so many claims of the three that an incarnation had.
    kept: often<number>(3, 0, 1, 2),
    hasBackup: fc.boolean(),
    users: fc.record({
      paused: rarely(false, true),
      aborted: rarely<(typeof UNDER_WAY)[number] | undefined>(undefined, ...UNDER_WAY),
      asked: often<'nothing' | RequestKind>('nothing', ...ASKED),
      isAccepted: mostly(4, true, false),
      approved: often<'nothing' | 'member' | 'begin' | 'finish'>('nothing', 'member', 'begin', 'finish'),
      whom: fc.nat({ max: 4 }),
    }),
  });
}

export type ClusterDraw = ReturnType<typeof clusterDraw> extends fc.Arbitrary<infer T> ? T : never;
