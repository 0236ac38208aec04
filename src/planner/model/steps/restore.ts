/** The steps of a cluster's workflow that put a backup in the place of the cluster's data. */
import type { Incarnation, StorageStatus } from '../../../api/schemas/types.ts';
import type { Alarm } from '../alarms.ts';
import { ACTION_TIMING, list, TRANSFER_TIMING, namesOf, type NamedObject, row, WAIT_TIMING } from './row.ts';

/** An EtcdRestore. */
export type RestoreIdentity = NamedObject;

interface Seeding {
  readonly restore: RestoreIdentity;
  readonly token: string;
  readonly member: string;
}

/** An incarnation that is recorded again: its members start on their own claims. */
export interface Recorded {
  readonly clusterId: string;
  readonly members: readonly {
    readonly name: string;
    readonly id?: string;
    readonly learner?: true;
    readonly node?: string;
  }[];
}

export const RESTORE_STEPS = {
  /** Clients are kept out, then the pods are stopped and seen gone. */
  fenceMembers: row<{
    readonly pods: readonly NamedObject[];
    /** What is begun then: what it makes is tried before anything is stopped. Absent: they are stopped whatever comes. */
    readonly trial?: {
      readonly restore: RestoreIdentity;
      readonly incarnation: Incarnation;
      readonly storage: StorageStatus;
      /** As of `switchIncarnation`. */
      readonly version: string;
    };
  }>({
    timing: WAIT_TIMING,
    plannedAgain: true,
    summary: ({ pods }) => `withdraw all clients and stop ${namesOf(pods) || 'no pods'}`,
  }),
  /** From then on the cluster is another one. What it was is kept. */
  switchIncarnation: row<{
    readonly restore: RestoreIdentity;
    /** The token that is recorded; absent: none. */
    readonly from?: string;
    readonly incarnation: Incarnation;
    readonly storage: StorageStatus;
    /** What its members begin with. */
    readonly version: string;
    /** The members that there were, and claims that hold data. */
    readonly members: readonly string[];
    readonly keep: readonly NamedObject[];
    /** It is one that was kept, and these claims are its members' again. Absent: a new one. */
    readonly back?: Recorded & { readonly claims: readonly NamedObject[] };
  }>({
    timing: ACTION_TIMING,
    plannedAgain: true,
    summary: ({ incarnation, version, keep, back }) =>
      `record incarnation ${incarnation.token}${back === undefined ? '' : ' again'} with etcd ${version}, and keep ${namesOf(keep) || 'no claims'}`,
  }),
  /** Brings the backup onto the volume of the first member. */
  fillVolume: row<Seeding>({
    timing: TRANSFER_TIMING,
    plannedAgain: true,
    summary: ({ member }) => `copy the backup to the volume of ${member}`,
  }),
  /** Makes a database of it. */
  unpackBackup: row<Seeding>({
    timing: WAIT_TIMING,
    plannedAgain: true,
    summary: ({ member }) => `restore the database of ${member} from the backup`,
  }),
  /** Of members that are none any more: the snapshot has brought them. Ids in hexadecimal. */
  disarmAlarms: row<{ readonly alarms: readonly Alarm[] }>({
    timing: ACTION_TIMING,
    plannedAgain: true,
    summary: ({ alarms }) => `disarm ${list(alarms.map(({ alarm, memberId }) => `${alarm} of ${memberId}`))}`,
  }),
  startSeed: row<Seeding & { readonly claimUid: string }>({
    timing: ACTION_TIMING,
    plannedAgain: true,
    summary: ({ member }) => `start ${member} alone with the restored data`,
  }),
  /** Every volume is proved lost: makes an EtcdRestore of the newest verified backup, which is of this time and revision. */
  requestRestore: row<{
    readonly name: string;
    readonly backup: string;
    readonly time: string;
    /** The object itself, and its checksum: another backup may be the newest by then. */
    readonly location?: string;
    readonly sha256?: string;
    readonly revision?: number;
  }>({
    timing: ACTION_TIMING,
    plannedAgain: true,
    summary: ({ name, backup, time }) =>
      `create EtcdRestore ${name} to restore the backup of ${time} that EtcdBackup ${backup} made`,
  }),
  /** A person approved of it: makes an EtcdRestore from the member that has the newest data of those that are left. */
  requestRecovery: row<{
    readonly name: string;
    readonly clusterId: string;
    readonly survivor: { readonly name: string; readonly id: string; readonly claimUid: string };
    /** Of the survivor's store. */
    readonly revision: number;
    /** The highest that was observed. */
    readonly lastRevision: number;
    readonly givenUp: readonly { readonly name: string; readonly id: string }[];
    readonly by: string;
    /** What may be lost, in words. */
    readonly window: string;
  }>({
    timing: ACTION_TIMING,
    plannedAgain: true,
    summary: ({ name, survivor, givenUp }) =>
      `create EtcdRestore ${name} to recover the quorum from ${survivor.name}, and give up ${namesOf(givenUp)}`,
  }),
  /** Has a pod replay the log of a copy of a member's data, which it cannot write to, and records what the data is. */
  inspectSurvivor: row<{
    readonly member: string;
    readonly claimUid: string;
    /** Where its own pod runs. */
    readonly node: string;
  }>({
    timing: WAIT_TIMING,
    plannedAgain: true,
    summary: ({ member }) =>
      `inspect the data of ${member}, which does not answer without a quorum, in a pod of its own`,
  }),
  /** Brings what the survivor knew to be committed onto the volume of the first member. Its own volume is only read. */
  copySurvivor: row<
    Seeding & {
      readonly survivor: { readonly name: string; readonly claimUid: string; readonly revision: number };
    }
  >({
    timing: WAIT_TIMING,
    plannedAgain: true,
    summary: ({ survivor, member }) =>
      `copy the data of ${survivor.name} to the volume of ${member}, and replay its log`,
  }),
  concludeRestore: row<{
    readonly restore: RestoreIdentity;
    /** Claims that were kept until it was gone back to them: they say so no more. */
    readonly release?: readonly NamedObject[];
  }>({
    timing: ACTION_TIMING,
    plannedAgain: true,
    summary: ({ restore }) => `record that EtcdRestore ${restore.name} has succeeded`,
  }),
  /** It has failed, and is not begun again. */
  abandonRestore: row<{ readonly restore: RestoreIdentity; readonly because: string }>({
    timing: ACTION_TIMING,
    plannedAgain: true,
    summary: ({ restore, because }) => `record that EtcdRestore ${restore.name} is abandoned: ${because}`,
  }),
  /** What was before is recorded again. */
  revertRestore: row<{
    readonly restore: RestoreIdentity;
    readonly because: string;
    /** Those of the member that it was restored onto: deleted. */
    readonly claims: readonly NamedObject[];
    /** Those that it put aside and that are the members' again. Absent in plans of a release before. */
    readonly kept?: readonly NamedObject[];
    /** Those that stayed until now because only they show that their volumes are empty. */
    readonly pods: readonly NamedObject[];
    /** The restore had gone back to an incarnation that was kept, and is kept again: none of its claims is deleted. */
    readonly again?: { readonly keep: readonly NamedObject[] };
  }>({
    timing: ACTION_TIMING,
    plannedAgain: true,
    summary: ({ restore }) => `return to the state before EtcdRestore ${restore.name}`,
  }),
};
