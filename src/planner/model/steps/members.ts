/** The steps that add, start, stop and remove members. */
import {
  ACTION_TIMING,
  list,
  LONG_TIMING,
  TRANSFER_TIMING,
  namesOf,
  type NamedObject,
  row,
  WAIT_TIMING,
} from './row.ts';

/** Of what does not exist yet when the step is planned: such a step is shown, and planned again before it is taken. */
export const UNKNOWN_ID = '';

/** As users read it. */
function withId(member: string, id: string): string {
  return id === UNKNOWN_ID ? member : `${member} (${id})`;
}

/** An alarm of etcd that is taken back, and the members through which a write is tried then. Ids in hexadecimal. */
interface Disarm {
  /**
   * Of the members that raised it, which may be none any more; `0`: etcd does not say which one did. Empty: it is disarmed already.
   */
  readonly alarms: readonly string[];
  /** `uid`: of its pod. */
  readonly members: readonly (NamedObject & { readonly id: string })[];
}

export const MEMBER_STEPS = {
  awaitMembers: row<{ readonly members: readonly string[] }>({
    timing: WAIT_TIMING,
    plannedAgain: false,
    bringsMembers: true,
    summary: ({ members }) => `wait until ${list(members)} are ready`,
  }),
  restartMember: row<{
    readonly token: string;
    readonly member: string;
    readonly claimUid: string;
    /** Absent: the one that the cluster runs. */
    readonly version?: string | undefined;
    /** The image that it ran before, where the specification names another one. */
    readonly image?: string | undefined;
    /** The minor that the cluster has arrived in: noted on the pod. */
    readonly settledIn?: string | undefined;
    /** It does not vote yet: no client is led to it. */
    readonly isLearner?: true;
  }>({
    timing: ACTION_TIMING,
    plannedAgain: false,
    bringsMembers: true,
    summary: ({ member, version }) =>
      `start ${member} again on its volume${version === undefined ? '' : ` with etcd ${version}`}`,
  }),
  addLearner: row<{
    readonly member: string;
    readonly peerUrl: string;
    /** The ids of all members that the plan was made for. */
    readonly expected: readonly string[];
  }>({ timing: WAIT_TIMING, plannedAgain: true, summary: ({ member }) => `add ${member} as a learner` }),
  createMember: row<{ readonly token: string; readonly member: string; readonly id: string }>({
    timing: ACTION_TIMING,
    plannedAgain: false,
    bringsMembers: true,
    summary: ({ member }) => `create claim and pod of ${member}`,
  }),
  promoteLearner: row<{ readonly member: string; readonly id: string }>({
    timing: WAIT_TIMING,
    plannedAgain: false,
    bringsMembers: true,
    summary: ({ member, id }) => `wait until ${withId(member, id)} has caught up, then promote it`,
  }),
  removeMember: row<{
    readonly member: string;
    readonly id: string;
    readonly expected: readonly string[];
    /** Why: the evidence that its data is lost, or that it is not asked for any more. */
    readonly reason: string;
    /**
     * It is replaced, which is recorded and counted: its data is proved lost, a person asked without such a proof, or its data differs. Of the
     * last the claim is kept as evidence.
     */
    readonly replacement?: 'Lost' | 'Requested' | 'Corrupt';
    /** It is a learner that never got going: recorded, so that the next one is not tried at once. */
    readonly givenUp?: true;
  }>({
    timing: ACTION_TIMING,
    plannedAgain: true,
    summary: ({ member, id, reason }) => `remove ${member} (${id}): ${reason}`,
  }),
  retireMember: row<{
    readonly member: string;
    readonly pods: readonly NamedObject[];
    readonly claims: readonly NamedObject[];
    /** What becomes of its claims; a time is in milliseconds since the epoch. */
    readonly retention: 'Delete' | 'Retain' | { readonly keepUntil: number };
  }>({
    timing: ACTION_TIMING,
    plannedAgain: true,
    isolated: 'always',
    summary: ({ member }) => `delete the remaining pods and claims of ${member}`,
  }),
  moveLeader: row<{ readonly from: string; readonly to: string; readonly toId: string }>({
    timing: ACTION_TIMING,
    plannedAgain: true,
    isolated: 'moveLeader',
    summary: ({ from, to }) => `move the leadership from ${from} to ${to}`,
  }),
  defragmentMember: row<{
    readonly member: string;
    readonly id: string;
    /** Of its pod. */
    readonly uid: string;
    readonly because: string;
  }>({
    timing: LONG_TIMING,
    plannedAgain: true,
    summary: ({ member, because }) => `defragment ${member}: ${because}`,
  }),
  /** History of keys before this revision goes, of every member. */
  compactHistory: row<{ readonly revision: string }>({
    timing: LONG_TIMING,
    plannedAgain: true,
    summary: ({ revision }) => `compact the history before revision ${revision}`,
  }),
  /** Every member has room: writes are let in again, and one is tried through each member. */
  disarmNoSpace: row<Disarm>({
    timing: ACTION_TIMING,
    plannedAgain: true,
    summary: ({ alarms, members }) =>
      `${alarms.length === 0 ? '' : `disarm NOSPACE of ${list(alarms)}, and `}try a write through ${namesOf(members)}`,
  }),
  /** What differed is gone: CORRUPT is taken back, and a write is tried through each member. */
  disarmCorrupt: row<Disarm>({
    timing: ACTION_TIMING,
    plannedAgain: true,
    summary: ({ alarms, members }) =>
      `disarm CORRUPT of ${list(alarms)}, and try a write through ${namesOf(members)}`,
  }),
  /** Nothing is wrong and it is too soon: before the next member is touched the cluster is to have been quiet. */
  awaitQuiet: row<{
    /** The member that is next; absent after the last one, when the operation is to end. */
    readonly before?: string | undefined;
    readonly because: string;
    /** Milliseconds since the epoch. */
    readonly until: number;
  }>({
    timing: WAIT_TIMING,
    plannedAgain: false,
    summary: ({ before, because }) =>
      `wait before ${before === undefined ? 'the operation ends' : `${before} is next`}: ${because}`,
  }),
  /** Every member reads all its keys up to one revision; what comes of it is recorded (report/key-hashes.ts). */
  compareKeys: row<{ readonly members: readonly NamedObject[] }>({
    timing: TRANSFER_TIMING,
    plannedAgain: true,
    summary: ({ members }) => `compare the data of ${namesOf(members)} (HashKV)`,
  }),
  stopMember: row<{
    readonly member: string;
    /** Of its pod. */
    readonly uid: string;
    readonly claimUid: string;
    readonly purpose: 'rollout' | 'upgrade' | 'hibernation' | 'removal';
    /** What its next pod runs, where that is another version than the cluster's: tried before this one is stopped. */
    readonly next?: { readonly version: string; readonly image?: string };
    /** The pod that is to be stopped right after this one for the same reason: clients are led away from both at once. */
    readonly alongside?: readonly NamedObject[];
    readonly because: string;
  }>({
    timing: WAIT_TIMING,
    plannedAgain: true,
    stopsMember: true,
    summary: ({ member, because }) => `stop ${member}: ${because}`,
  }),
};
