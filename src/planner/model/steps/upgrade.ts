/** The steps that bring another version of etcd. */
import { minorOf } from '../../../api/versions/compare.ts';
import { ACTION_TIMING, row, WAIT_TIMING } from './row.ts';

interface DowngradeFields {
  /** Who is asked. */
  readonly member: string;
  /** As etcd names a minor: 3.6.0. */
  readonly version: string;
  /** All of the cluster. */
  readonly members: readonly string[];
}

export const UPGRADE_STEPS = {
  /** Another version in the pod that there is: its container starts again, everything else about it stays. */
  replaceImage: row<{
    readonly member: string;
    /** Of its pod. */
    readonly uid: string;
    readonly version: string;
    /** Where it is not the one that the specification names for this version, or only the image changes. */
    readonly image?: string | undefined;
    readonly because: string;
  }>({
    timing: ACTION_TIMING,
    plannedAgain: true,
    stopsMember: true,
    summary: ({ member, version, because }) => `restart ${member} with etcd ${version}: ${because}`,
  }),
  /** The EtcdBackup (by uid) is asked for a backup; the time of the question says which run is the answer. */
  requestBackup: row<{
    readonly backup: string;
    readonly uid: string;
    /** RFC 3339. */
    readonly asked: string;
    readonly because: string;
  }>({
    timing: ACTION_TIMING,
    plannedAgain: false,
    summary: ({ backup, because }) => `request a backup from EtcdBackup ${backup} before ${because}`,
  }),
  /** Until a run of the EtcdBackup that began since then has ended, well or not. */
  awaitBackup: row<{ readonly backup: string; readonly uid: string; readonly asked: string }>({
    timing: WAIT_TIMING,
    plannedAgain: false,
    summary: ({ backup }) => `wait until EtcdBackup ${backup} has made the backup`,
  }),
  /** etcd is asked to make the cluster and the data of all its members ready for this older minor; until they say that they are. */
  enableDowngrade: row<DowngradeFields>({
    timing: ACTION_TIMING,
    plannedAgain: true,
    summary: ({ version }) =>
      `enable etcd's downgrade to ${minorOf(version)}, and wait until every member has lowered its storage version`,
  }),
  /** etcd is asked to end the downgrade to this minor, so that it raises the version of the cluster again. */
  cancelDowngrade: row<DowngradeFields>({
    timing: ACTION_TIMING,
    plannedAgain: true,
    summary: ({ version }) => `cancel etcd's downgrade to ${minorOf(version)}`,
  }),
  /** Until the member is ready and says itself that it runs this version. */
  awaitVersion: row<{ readonly member: string; readonly version: string }>({
    timing: WAIT_TIMING,
    plannedAgain: false,
    bringsMembers: true,
    summary: ({ member, version }) => `wait until ${member} is ready and runs ${version}`,
  }),
  /** Until every member says that the cluster, and from 3.6 on its data, are of this minor. */
  awaitAgreement: row<{ readonly members: readonly string[]; readonly minor: string }>({
    timing: WAIT_TIMING,
    plannedAgain: false,
    summary: ({ minor }) => `wait until the cluster version and the storage version are ${minor}`,
  }),
};
