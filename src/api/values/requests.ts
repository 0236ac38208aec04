/** Who asks and why. */
export interface Request {
  readonly by?: string;
  readonly reason?: string;
}

/** A stored backup that is to be verified. */
export interface WantedVerification {
  /** As the history of the EtcdBackup names it; absent: the newest. */
  readonly location?: string;
  /** Absent: as the EtcdBackup says. */
  readonly level?: 'Structure' | 'Restore';
  /** The cluster that the backup must be of, if one is named. */
  readonly cluster?: string;
}
