/** Obstacles that an upgrade of etcd meets. Pure data; see catalogue.ts. */
import { type ReasonRows, WAIT } from './rows.ts';

/** Why the requested version cannot be had. */
export const VERSION_REFUSALS = {
  SkipsMinor: [
    'The requested version is more than one minor away.',
    'Set spec.version to the version that the message names, or spec.upgrade.allowIntermediateVersions to true.',
  ],
  BelowFloor: [
    'The members run a release from which an upgrade to the next minor is not safe.',
    'Set spec.version to the version that the message names, or spec.upgrade.allowIntermediateVersions to true.',
  ],
  AcrossMinorDown: [
    'The requested version is of an older minor than the members, and etcd cannot downgrade them to it.',
    'Set spec.version to the version that the message names.',
  ],
  DowngradeEnabled: [
    "Somebody enabled etcd's downgrade, to another minor than spec.version.",
    'Set spec.version to a release of that minor to continue, or cancel the downgrade with the command of the message.',
  ],
  ForbiddenVersion: [
    'The requested version can lose data.',
    'Set spec.version to the version that the message names.',
  ],
  VersionUnsupported: [
    'This operator does not support the requested version.',
    'Set spec.version to a supported one.',
  ],
  VersionsDiffer: [
    'The members run different versions, and the target is not clear.',
    'Set spec.version to one of the versions that the message names.',
  ],
  AuthEnabled: [
    'The next minor cannot read the log entries about users and roles.',
    'Disable authentication in etcd, upgrade, and enable it again.',
  ],
  SettingsGone: [
    'spec.pod.etcdEnv sets variables of flags or gates that the minor of spec.version does not have.',
    'Remove them, or write the variables that the message names.',
  ],
  ClusterVersionBehind: ['The cluster has not arrived in its current minor yet.', WAIT],
} as const satisfies ReasonRows;

export const UPGRADE_OBSTACLES = {
  ...VERSION_REFUSALS,
  BackupFailed: [
    'The backup before the upgrade was requested and failed.',
    'Read the message and the status of the EtcdBackup that it names; send it the message backup, or set spec.upgrade.snapshotBefore to Never.',
  ],
  BackupMissing: [
    'spec.upgrade.snapshotBefore is Required, and no verified backup is younger than an hour.',
    'Take a backup: send the message backup to an EtcdBackup of this cluster, or create one.',
  ],
  RolledBack: [
    'A member did not start with the new version and was rolled back; the others were not changed.',
    'Read the message. Correct the cause, then change spec.version, or set it back to the old version: any change of the specification retries.',
  ],
  UpgradeFailed: [
    'A member did not start with the new version, and was not changed further.',
    'Read the message; correct the cause, or set spec.version to the old version while the message says that this is possible.',
  ],
} as const satisfies ReasonRows;
