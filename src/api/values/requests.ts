/** Who asks and why: kept in the history, which is the audit log. */
export interface Request {
  readonly by?: string;
  readonly reason?: string;
}

/** What people can ask of a running cluster, and the operation that carries it out. */
export const OPERATION_OF = {
  replaceMember: 'replaceMember',
  moveLeader: 'moveLeader',
  restart: 'rolloutCluster',
} as const;

export type RequestKind = keyof typeof OPERATION_OF;

/** Beside what a message takes by itself, in its field `request`: the EtcdRequest that it was written as. */
export interface Given {
  /** Of the EtcdRequest: by that it is carried out once, however often and in whichever run it is delivered. */
  readonly uid: string;
  /** In milliseconds since the epoch: one that comes later is refused. */
  readonly expiresAt: number;
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

/** What became of an EtcdRequest. `waiting` and `accepted` are open; all others are final. */
type GivenState = 'waiting' | 'accepted' | 'done' | 'refused' | 'aborted' | 'failed' | 'expired';

/** What an entity remembers of an EtcdRequest, and answers to the query `request`. */
export interface GivenRequest extends Given {
  /** Of a request that passes judge: its number on the list. */
  readonly id?: number;
  /** Of a backup that was asked for: who asked, and the newest run before it. */
  readonly backup?: { readonly request: Request; readonly before: string };
  /** Of a verification that was asked for: what is to be verified, who asked, and how its operation ended. */
  readonly verify?: WantedVerification & {
    readonly request: Request;
    readonly ended?: { readonly outcome: 'ended' | 'aborted' | 'failed'; readonly message: string };
    /** A pass after that saw no verdict. */
    readonly isMissed?: true;
  };
  /** Of a verification: its verdict. */
  readonly verdict?: 'Verified' | 'PartlyVerified' | 'NotVerified';
  readonly state: GivenState;
  readonly message: string;
}
