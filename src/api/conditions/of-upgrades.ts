/** The conditions about another version of etcd. Pure data; see catalogue.ts. */
import { rows } from './rows.ts';

const WAIT = 'Nothing; the operator continues automatically.';

/** Is the version changing? There only while it is. */
const UPGRADING = rows('Upgrading', {
  RollingUpgrade: ['True', 'Members are being upgraded to a newer version, one at a time.', WAIT],
  RollingDowngrade: ['True', 'Members are being downgraded to an older version, one at a time.', WAIT],
  RollingBack: ['True', 'An upgrade failed; members return to the old version.', WAIT],
  AwaitingApproval: ['True', 'The upgrade waits for a person.', 'Read the message; approve or abort.'],
  Blocked: ['False', 'An upgrade is not safe now.', 'Read the message.'],
});

/** Can the version asked for not be brought to the cluster? There only while that is so; nothing is changed for it. */
const UPGRADE_BLOCKED = rows('UpgradeBlocked', {
  SkipsMinor: [
    'True',
    'The requested version is more than one minor away.',
    'Set spec.version to the version that the message names, or spec.upgrade.allowIntermediateVersions to true.',
  ],
  BelowFloor: [
    'True',
    'The members run a release from which an upgrade to the next minor is not safe.',
    'Set spec.version to the version that the message names, or spec.upgrade.allowIntermediateVersions to true.',
  ],
  AcrossMinorDown: [
    'True',
    'The requested version is of an older minor than the members.',
    'Set spec.version to a release of the minor that the members run.',
  ],
  ForbiddenVersion: [
    'True',
    'The requested version can lose data.',
    'Set spec.version to the version that the message names.',
  ],
  VersionUnsupported: [
    'True',
    'This operator does not support the requested version.',
    'Set spec.version to a supported one.',
  ],
  VersionsDiffer: [
    'True',
    'The members run different versions, and the target is not clear.',
    'Set spec.version to one of the versions that the message names.',
  ],
  AuthEnabled: [
    'True',
    'The next minor cannot read the log entries about users and roles.',
    'Disable authentication in etcd, upgrade, and enable it again.',
  ],
  SettingsGone: [
    'True',
    'spec.pod.etcdEnv sets variables of flags that the next minor does not have.',
    'Remove them, or write the variables that replaced them.',
  ],
  ClusterVersionBehind: ['True', 'The cluster has not completed the upgrade to its current minor yet.', WAIT],
  EphemeralMembers: [
    'True',
    'The members keep their data in their pods, and the new version needs new pods.',
    'Create a new cluster with volumes and restore a backup into it.',
  ],
  BackupFailed: [
    'True',
    'The backup before the upgrade was requested and failed.',
    'Read the message and the status of the EtcdBackup that it names; send it the message backup, or set spec.upgrade.snapshotBefore to Never.',
  ],
  BackupMissing: [
    'True',
    'spec.upgrade.snapshotBefore is Required, and no verified backup is younger than an hour.',
    'Take a backup: send the message backup to an EtcdBackup of this cluster, or create one.',
  ],
  RolledBack: [
    'True',
    'A member did not start with the new version and was rolled back; the others were not changed.',
    'Read the message. Correct the cause, then change spec.version, or set it back to the old version: any change of the specification retries.',
  ],
  UpgradeFailed: [
    'True',
    'A member did not start with the new version, and was not changed further.',
    'Read the message; correct the cause, or set spec.version to the old version while the message says that this is possible.',
  ],
});

export const UPGRADE_CONDITIONS = [...UPGRADING, ...UPGRADE_BLOCKED] as const;
