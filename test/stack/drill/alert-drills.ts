/** Which drill sees which alert firing. test/scripts/alerts.test.ts looks whether every alert stands here. */

import { ALERTS } from '../../../scripts/alerts/catalogue.ts';

/** By a file of test/drill/long. */
export const PROVOKED = {
  'alerts.drill.test.ts': [
    'EtcdClusterVersionLosesData',
    'EtcdClusterVersionVulnerable',
    'EtcdClusterSpecRefused',
    'EtcdClusterVolumeNotResized',
    'EtcdClusterDatabaseNearQuota',
    'EtcdClusterAlarm',
    'EtcdMemberDatabaseFragmented',
    'EtcdClusterApprovalWaiting',
    'EtcdClusterBlocked',
    'EtcdClusterPausedForLong',
    'EtcdRestoreWaiting',
    'EtcdRestoreFailed',
    'EtcdBackupScheduleInvalid',
    'EtcdBackupFailed',
    'EtcdBackupLate',
    'EtcdClusterNoVerifiedBackup',
    'EtcdCertificateExpiresSoon',
    'EtcdCertificateExpiresNow',
    'EtcdCertificateInvalid',
  ],
  'alerts-outages.drill.test.ts': [
    'EtcdClusterNotCreated',
    'EtcdClusterMembersUnhealthy',
    'EtcdClusterQuorumAtRisk',
    'EtcdClusterQuorumLost',
    'EtcdClusterUnavailable',
    'EtcdMemberNoLeader',
    'EtcdMemberProposalsFailing',
    'EtcdMemberLeaderChanges',
    'EtcdMemberPeerSlow',
    'EtcdRequestWaiting',
    'EtcdOperatorTemporalUnreachable',
    'EtcdOperatorForbidden',
    'EtcdOperatorPassFailing',
    'EtcdOperatorNotWatching',
    'EtcdOperatorDown',
  ],
  'alerts-damage.drill.test.ts': [
    'EtcdMemberFsyncSlow',
    'EtcdMemberCommitSlow',
    'EtcdBackupNotVerified',
    'EtcdClusterPodMayStartEmpty',
    'EtcdClusterPodsOutdated',
    'EtcdOperatorTemporalCertificatesOutdated',
    'EtcdOperatorTemporalKeysOutdated',
    'EtcdOperatorTaskQueueShared',
    'EtcdOperatorWorkflowStuck',
    'EtcdOperatorUncaughtErrors',
  ],
} as const;

/** Alerts that no drill provokes, and why: promtool alone has seen them fire. */
export const NOT_PROVOKED: Readonly<Record<string, string>> = {
  EtcdBackupNotCopied:
    'second-store.drill.test.ts sees the condition that it is about, and six hours are too long for a drill',
  EtcdOperatorRetrying: 'test/e2e/backup sees the condition that it is about',
};

/** Queries of dashboards that return nothing while nothing fails, by what makes them return data; `long/alerts-outages` sees them do so. */
export const EMPTY_WHEN_WELL: Readonly<Record<string, string>> = {
  'fleet: Calls to the API server that were refused or failed (1)': 'the operator has no rights',
  'fleet: Requests that fail (1)': 'Temporal is away',
};

/** What stands in backquotes under "Do" of the alert's runbook and begins with a program. */
export function commandsToDo(name: string): readonly string[] {
  const lines = ALERTS.find(alert => alert.name === name)?.runbook.act ?? [];
  return lines.flatMap(line =>
    [...line.matchAll(/`((?:kubectl|temporal) [^`]+)`/g)].map(([, command = '']) => command),
  );
}
