/** Which drill sees which alert firing. test/scripts/alerts.test.ts looks whether every alert stands here. */

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
} as const;

/** Alerts that no drill provokes, and why: promtool alone has seen them fire. */
export const NOT_PROVOKED: Readonly<Record<string, string>> = {
  EtcdBackupNotVerified: 'needs an object that is damaged between its upload and its verification',
  EtcdClusterPodMayStartEmpty: 'needs pods that an operator before 0.2.0 has made',
  EtcdClusterPodsOutdated: 'needs another release of the operator',
  EtcdOperatorTemporalCertificatesOutdated: 'the Temporal of the stack has no TLS',
  EtcdOperatorTemporalKeysOutdated: 'the operator of the stack has no keys for payloads',
  EtcdOperatorWorkflowStuck: 'needs code that does not fit the history of a workflow',
  EtcdOperatorUncaughtErrors: 'needs a fault of the operator',
  EtcdMemberFsyncSlow: 'needs a disk that is slow, which not every machine can make',
  EtcdMemberCommitSlow: 'needs a disk that is slow, which not every machine can make',
};

/** Queries of dashboards that a cluster that is well answers with nothing, by what makes them return data. */
export const EMPTY_WHEN_WELL: Readonly<Record<string, string>> = {};
