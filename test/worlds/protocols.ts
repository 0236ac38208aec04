/** The entities of each kind of resource and their operations in memory: the rules that run in Temporal, and what they tell each other. */
import { type BackupKind, backupRules, backupRunRules, endingOf } from '../../src/workflows/backup/rules.ts';
import { operationRules } from '../../src/workflows/cluster/operation-rules.ts';
import { type ClusterKind, clusterRules } from '../../src/workflows/cluster/rules.ts';
import { type RestoreKind, restoreRules } from '../../src/workflows/restore/rules.ts';
import type { Protocol } from './workflows-in-memory.ts';

export const clusterProtocol: Protocol<ClusterKind> = {
  entity: clusterRules,
  ending: ({ operation }, outcome, runId) => ({ operation, runId, ...outcome }),
  operations: {
    rules: operationRules,
    control: control => control ?? { paused: undefined, abort: undefined },
    reports: true,
    used: ids => ({ kind: 'used', ids }),
    inRun: (actor, { operation }, runId) => ({ ...actor, ran: { operation, runId } }),
  },
};

export const backupProtocol: Protocol<BackupKind> = {
  entity: backupRules,
  ending: endingOf,
  operations: {
    rules: backupRunRules,
    control: abort => ({ abort }),
    reports: false,
  },
};

/** It has no operations. */
export const restoreProtocol: Protocol<RestoreKind> = {
  entity: restoreRules,
  ending: (_, { message }) => ({ failure: message }),
};
