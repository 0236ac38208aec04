/** The types of the failures that the operator makes itself; others carry the reason of the API server, or the code of a store or of etcd. */
export type FailureType =
  /** The world is not as it was planned for: not retried, the planner looks again. */
  | 'PreconditionChanged'
  /** What was written is changed back by something else. */
  | 'ChangedBack'
  /** What is to be made in the place of what would be stopped is not taken by the API server. */
  | 'WouldBeRefused'
  /** An image that a restore needs cannot be pulled, or does not run. */
  | 'ImageNotUsable'
  /** The backup cannot be put onto the volume. */
  | 'SeedFailed'
  /** The data of a member could not be inspected. */
  | 'InspectionFailed'
  /** A member refuses a write although its alarm of space was disarmed. */
  | 'WriteRefused'
  /** A member reads a lower revision after its defragmentation than before. */
  | 'RevisionLost'
  /** The members require a user that the operator is not. */
  | 'AuthenticationAsked'
  /** A backup cannot be made. */
  | 'BackupFailure'
  /** It waits for its turn at a store, or at the node of the member that it is read from. */
  | 'WaitsForTurn'
  /** A pass failed; it is retried. */
  | 'PassFailed'
  /** An update is refused. */
  | 'Refused';
