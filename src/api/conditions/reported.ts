/**
 * The conditions that metrics report, while a resource has one: those that need attention when they last. Rules of alerts are
 * written on them (scripts/alerts). Pure data; most serious first, because a very large fleet is reported in this order.
 */
import type { Kind } from '../names.ts';
import type { Condition, ConditionType, ReasonOf } from './catalogue.ts';

/** The operator itself does not get on; on resources of every kind. */
const OF_OPERATOR = {
  TemporalUnavailable: { unreachable: ['Unreachable'] },
  WorkflowStuck: { stuck: ['WorkflowTaskFailing'] },
  PassFailing: { failing: ['PassFails', 'TasksNotCompleted', 'OtherTaskQueue'] },
  Retrying: { failing: ['ActivityFails'] },
} as const satisfies Reasons;

/** By kind, type and concern: the reasons that one alert is about. */
const REPORTED = {
  EtcdCluster: {
    QuorumAtRisk: {
      lost: ['QuorumLost', 'AllVolumesLost'],
      atRisk: ['NoMarginLeft', 'MembersUnreachable', 'AccessDenied'],
    },
    Available: {
      unavailable: [
        'NoQuorum',
        'AllVolumesLost',
        'NoMembers',
        'ReadFailed',
        'NoReadyMember',
        'NoEndpoint',
        'Unreachable',
        'AccessDenied',
        'NotLookedAt',
      ],
      notCreated: ['Creating', 'NotCreated'],
    },
    DataCorrupt: { differs: ['MemberDiffers', 'NoMajority'] },
    Healthy: {
      alarm: ['AlarmRaised'],
      members: ['MembersUnhealthy', 'MembersMissing', 'MembersUnreachable', 'AccessDenied'],
    },
    TLSReady: {
      invalid: [
        'Expired',
        'AuthorityExchanged',
        'AuthorityLost',
        'NotTrusted',
        'KeyMismatch',
        'Malformed',
        'SecretMissing',
        'KeyMissing',
        'WrongNames',
        'WrongUsage',
        'NotYetValid',
        'Unsupported',
        'CertManagerMissing',
        'ModeSwitched',
        'NameTaken',
      ],
      expiring: ['ExpiresSoon'],
    },
    ...OF_OPERATOR,
    Progressing: { approval: ['AwaitingApproval'], blocked: ['Blocked', 'Waiting'] },
    VersionOutdated: { losesData: ['BelowDataLossFloor'], vulnerable: ['BelowSecurityFloor'] },
    PodsOutdated: { mayStartEmpty: ['MayStartEmpty'], earlierRelease: ['MadeByEarlierRelease'] },
    StorageResized: { refused: ['ResizeFailed', 'ExpansionNotAllowed'] },
    SpecValid: { refused: ['Invalid'] },
    VersionSupported: { refused: ['TooOld', 'TooNew', 'Malformed'] },
    Paused: { paused: ['PausedBySpec', 'PausedByPerson'] },
    BackedUp: { never: ['NoBackup'] },
  },
  EtcdBackup: {
    Succeeded: { notVerified: ['BackupNotVerified'], failed: ['Failed'] },
    ScheduleValid: { invalid: ['Malformed'] },
    Copied: {
      behind: [
        'FirstStoreUnreadable',
        'ObjectDiffers',
        'SecondStoreInvalid',
        'SecondStoreRefuses',
        'SecondStoreFull',
        'SecondStoreUnavailable',
        'Copying',
      ],
    },
    ...OF_OPERATOR,
  },
  EtcdRestore: {
    Succeeded: { failed: ['Failed', 'Refused'] },
    Accepted: { waiting: ['Waiting'] },
    ...OF_OPERATOR,
  },
} as const satisfies Readonly<Record<Kind, Reasons>>;

type Reasons = {
  readonly [Type in ConditionType]?: Readonly<Record<string, readonly ReasonOf<Type>[]>>;
};
type Reported = typeof REPORTED;

/** The types that are reported of a kind, and the concerns of one. */
export type ReportedType<K extends Kind> = Extract<keyof Reported[K], string>;
export type Concern<K extends Kind, T extends ReportedType<K>> = Extract<keyof Reported[K][T], string>;

/** The reasons of a concern, most serious first. */
export function reasonsOf<K extends Kind, T extends ReportedType<K>>(
  kind: K,
  type: T,
  concern: Concern<K, T>,
): readonly string[] {
  const types: Reasons = REPORTED[kind];
  return types[type as ConditionType]?.[concern] ?? [];
}

export interface ReportedCondition {
  readonly kind: Kind;
  readonly type: string;
  readonly reason: string;
  /** The lower, the more serious. */
  readonly rank: number;
}

/** Most serious first, within a kind. */
export const REPORTED_CONDITIONS: readonly ReportedCondition[] = Object.entries<Reasons>(REPORTED).flatMap(
  ([kind, types]) =>
    Object.entries(types)
      .flatMap(([type, concerns]) =>
        Object.values<readonly string[]>(concerns)
          .flat()
          .map(reason => ({ type, reason })),
      )
      .map((row, rank) => ({ kind: kind as Kind, ...row, rank })),
);

/** Those of a resource that are reported. The rows themselves, so that a fleet of resources keeps nothing but references. */
export function reportedConditions(
  kind: string,
  conditions: readonly Pick<Condition, 'type' | 'reason'>[],
): readonly ReportedCondition[] {
  return REPORTED_CONDITIONS.filter(
    row =>
      row.kind === kind && conditions.some(({ type, reason }) => type === row.type && reason === row.reason),
  );
}
