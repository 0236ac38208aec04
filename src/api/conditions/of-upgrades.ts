/** The conditions about another version of etcd. Pure data; see catalogue.ts. */
import { rows } from './rows.ts';

const WAIT = 'Nothing; the operator goes on by itself.';

/** Is the version changing? There only while it is. */
const UPGRADING = rows('Upgrading', {
  RollingUpgrade: ['True', 'Members are being moved to a newer version one at a time.', WAIT],
  RollingDowngrade: ['True', 'Members are being moved to an older version one at a time.', WAIT],
  RollingBack: ['True', 'An upgrade failed; members go back to the old version.', WAIT],
  AwaitingApproval: ['True', 'The upgrade waits for a person.', 'Read the message; approve or abort.'],
  Blocked: ['False', 'An upgrade is not safe now.', 'Read the message.'],
});

/** Can the version asked for not be brought to the cluster? There only while that is so; nothing is changed for it. */
const UPGRADE_BLOCKED = rows('UpgradeBlocked', {
  SkipsMinor: [
    'True',
    'The version asked for is more than one minor away.',
    'Set spec.version to the version that the message names, or spec.upgrade.allowIntermediateVersions to true.',
  ],
  BelowFloor: [
    'True',
    'The members run a release from which the next minor must not be entered.',
    'Set spec.version to the version that the message names, or spec.upgrade.allowIntermediateVersions to true.',
  ],
  AcrossMinorDown: [
    'True',
    'The version asked for is of an older minor than the members.',
    'Set spec.version to a release of the minor that the members run.',
  ],
  ForbiddenVersion: [
    'True',
    'The version asked for can lose data.',
    'Set spec.version to the version that the message names.',
  ],
  VersionUnsupported: [
    'True',
    'This operator does not run the version asked for.',
    'Set spec.version to a supported one.',
  ],
  VersionsDiffer: [
    'True',
    'The members were found on different versions, and it is not clear where they are to go.',
    'Set spec.version to one of the versions that the message names.',
  ],
  AuthEnabled: [
    'True',
    'The next minor cannot read what the log says of users and roles.',
    'Disable authentication in etcd, upgrade, and enable it again.',
  ],
  SettingsGone: [
    'True',
    'spec.pod.etcdEnv sets variables of flags that the next minor does not have.',
    'Remove them, or write those that took their place.',
  ],
  ClusterVersionBehind: ['True', 'The cluster has not arrived in its present minor yet.', WAIT],
  EphemeralMembers: [
    'True',
    'The members keep their data in their pods, and the new version needs new pods.',
    'Make a new cluster with volumes and restore a backup into it.',
  ],
  BackupFailed: [
    'True',
    'The backup that is to come before the upgrade was asked for and not made.',
    'Read the message and the status of the EtcdBackup that it names; send it the message backup, or set spec.upgrade.snapshotBefore to Never.',
  ],
  BackupMissing: [
    'True',
    'spec.upgrade.snapshotBefore is Required, and no verified backup is younger than an hour.',
    'Take a backup: send the message backup to an EtcdBackup of this cluster, or make one.',
  ],
  RolledBack: [
    'True',
    'A member did not come up with the new version and was taken back; the others were left as they are.',
    'Read the message. Correct the cause, then change spec.version, also back to the old one: any change of the specification starts anew.',
  ],
  UpgradeFailed: [
    'True',
    'A member did not come up with the new version, and is left as it is.',
    'Read the message; correct the cause, or set spec.version to the old version while the message says that this is possible.',
  ],
});

export const UPGRADE_CONDITIONS = [...UPGRADING, ...UPGRADE_BLOCKED] as const;
