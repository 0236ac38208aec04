/** The values of fields that are absent, as the schemas state them and the code applies them. Pure. */

export const DEFAULT_SIZE = 3;
export const MAX_SIZE = 7;
export const DEFAULT_REPOSITORY = 'gcr.io/etcd-development/etcd';
export const DEFAULT_GRACE_SECONDS = 60;
export const DEFAULT_RETAIN_DEAD_MEMBER = '24h';
/** The size of a claim when the specification asks for none. */
export const DEFAULT_CLAIM_SIZE = '8Gi';
export const DEFAULT_REVISION_BUMP = 1_000_000_000;

export const UPGRADE_DEFAULTS = {
  strategy: 'Automatic',
  soakSeconds: 10,
  snapshotBefore: 'IfPossible',
  allowIntermediateVersions: false,
  rollbackOnFailure: true,
} as const;

export const REPAIR_DEFAULTS = {
  replaceAfterSeconds: 600,
  maxReplacementsPerHour: 2,
  corruption: 'Ask',
} as const;

/** How often the data of the members is compared. */
export const DEFAULT_COMPARE_DATA_EVERY = '24h';

/** cert-manager's own. */
export const ISSUER_DEFAULTS = { kind: 'Issuer', group: 'cert-manager.io' } as const;

export const RECOVERY_DEFAULTS = { totalLoss: 'Report' } as const;
