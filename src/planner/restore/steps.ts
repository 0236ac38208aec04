/** Every kind of step of the workflow of an EtcdRestore, one row each. Each is an activity of the same name. */
import {
  ACTION_TIMING,
  TRANSFER_TIMING,
  WAIT_TIMING,
  resourceRow,
  type ResourceStep,
} from '../model/steps/row.ts';

/** An EtcdBackup, and when it was asked (RFC 3339). */
interface SavingStep {
  readonly backup: string;
  readonly uid: string;
  readonly asked: string;
}

export const ETCD_RESTORE_STEPS = {
  /** Reads the backup from end to end, and records what it is. */
  examineBackup: resourceRow<{ readonly generation: number; readonly location: string }>({
    timing: () => TRANSFER_TIMING,
    summary: ({ location }) => `read ${location} from end to end`,
  }),
  /** Asks the survivor what it has, and records that in the place of a backup. */
  examineSurvivor: resourceRow<{ readonly generation: number; readonly member: string }>({
    timing: () => ACTION_TIMING,
    summary: ({ member }) => `examine the data of ${member}`,
  }),
  /** Looks at the incarnation that is gone back to and at the cluster that is given up, and records both. */
  examineIncarnation: resourceRow<{ readonly generation: number; readonly token: string }>({
    timing: () => ACTION_TIMING,
    summary: ({ token }) => `examine what is kept of incarnation ${token}`,
  }),
  /** Asks an EtcdBackup for a backup of what the cluster holds now. */
  requestSaving: resourceRow<SavingStep>({
    timing: () => ACTION_TIMING,
    summary: ({ backup }) => `request a backup of the data as it is now from EtcdBackup ${backup}`,
  }),
  /** Waits until that is made, or has failed. */
  awaitSaving: resourceRow<SavingStep>({
    timing: () => WAIT_TIMING,
    summary: ({ backup }) => `wait for EtcdBackup ${backup}, which saves the data as it is now`,
  }),
  /** Makes the cluster that the template describes, to be restored into. */
  createRestored: resourceRow<{ readonly cluster: string }>({
    timing: () => ACTION_TIMING,
    summary: ({ cluster }) => `create EtcdCluster ${cluster} from spec.clusterTemplate`,
  }),
};

/** One thing to do. */
export type RestoreStep = ResourceStep<typeof ETCD_RESTORE_STEPS>;

export type RestoreStepOf<Kind extends RestoreStep['kind']> = Extract<RestoreStep, { readonly kind: Kind }>;
