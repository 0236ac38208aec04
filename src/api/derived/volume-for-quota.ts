/** How large a volume has to be for a quota. Pure. */

const GIB = 1024 ** 3;

/**
 * Bytes of a volume on which a database may fill its quota: the file, a whole copy of it while it is defragmented or sent, the log and snapshots.
 * @param quota of the database, in bytes
 */
export function volumeForQuota(quota: number): number {
  return 3 * quota + 2 * GIB;
}

/** So many bytes, rounded up, as a quantity of Kubernetes, such as `26Gi`. */
export function inGibibytes(size: number): string {
  return `${Math.ceil(size / GIB)}Gi`;
}
