/** Every kind of step of the workflow of an EtcdRestore, one row each. Each is an activity of the same name. */
import { ACTION_TIMING, TRANSFER_TIMING, resourceRow, type ResourceStep } from '../model/steps/row.ts';

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
  /** Makes the cluster that the template describes, to be restored into. */
  createRestored: resourceRow<{ readonly cluster: string }>({
    timing: () => ACTION_TIMING,
    summary: ({ cluster }) => `create EtcdCluster ${cluster} from spec.clusterTemplate`,
  }),
};

/** One thing to do. */
export type RestoreStep = ResourceStep<typeof ETCD_RESTORE_STEPS>;

export type RestoreStepOf<Kind extends RestoreStep['kind']> = Extract<RestoreStep, { readonly kind: Kind }>;
