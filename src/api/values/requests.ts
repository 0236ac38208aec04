/** Who asks and why. */
export interface Request {
  readonly by?: string;
  readonly reason?: string;
}

/** What users can ask of a running cluster, and the operation that carries it out. */
export const OPERATION_OF = {
  replaceMember: 'replaceMember',
  moveLeader: 'moveLeader',
  restart: 'rolloutCluster',
} as const;

export type RequestKind = keyof typeof OPERATION_OF;

/** A stored backup that is to be verified. */
export interface WantedVerification {
  /** As the history of the EtcdBackup names it; absent: the newest. */
  readonly location?: string;
  /** Absent: as the EtcdBackup says. */
  readonly level?: 'Structure' | 'Restore';
  /** The cluster that the backup must be of, if one is named. */
  readonly cluster?: string;
}
