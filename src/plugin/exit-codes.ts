/** What the plugin's process ends with: scripts decide by it. Stable; docs/operations/kubectl-etcd.md has the same table. */

/** Name to exit code. */
export const EXIT = {
  /** What was asked for is shown or done. */
  done: 0,
  /** Something failed: no such object, no kubeconfig, no answer of the API server. */
  error: 1,
  /** The command line is wrong, or a confirmation is missing. Nothing was sent. */
  usage: 2,
  /** The request was refused, failed, was aborted or has expired. */
  refused: 3,
  /** The user lacks a right; the message names the verb and the resource. */
  forbidden: 4,
  /** The time of --timeout is over; the request continues. */
  timedOut: 5,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];
