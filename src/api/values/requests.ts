/** Who asks and why. */
export interface Request {
  readonly by?: string;
  readonly reason?: string;
}

/** In the order in which they are carried out. @param requests `at`: when each was sent, in milliseconds since the epoch */
export function oldestFirst<One extends { readonly at?: number }>(requests: readonly One[]): One[] {
  return requests.toSorted((a, b) => (a.at ?? 0) - (b.at ?? 0));
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
