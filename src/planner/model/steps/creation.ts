/** The steps that make a cluster: its identity is recorded, its members start together and are sealed. */
import type { Incarnation, StorageStatus } from '../../../api/schemas/types.ts';
import { ACTION_TIMING, list, type NamedObject, namesOf, row, WAIT_TIMING } from './row.ts';

export interface MemberIdentity {
  readonly name: string;
  readonly id: string;
}

/** A member whose pod is sealed; of the pod by its uid. */
export interface SealedMember extends MemberIdentity {
  readonly uid: string;
}

export const CREATION_STEPS = {
  recordIncarnation: row<{
    readonly incarnation: Incarnation;
    readonly storage: StorageStatus;
    /** Given when the identity is rebuilt from stamps: then no member may bootstrap any more. */
    readonly clusterId?: string;
  }>({
    timing: ACTION_TIMING,
    plannedAgain: false,
    summary: ({ incarnation }) =>
      `record incarnation ${incarnation.token} with ${namesOf(incarnation.members)}`,
  }),
  bootstrapMembers: row<{
    readonly token: string;
    readonly members: readonly string[];
    /** The version of etcd that they start with. */
    readonly version: string;
    /** The minor that all of them are born in: noted on pods that are made for it. */
    readonly settledIn?: string | undefined;
  }>({
    timing: ACTION_TIMING,
    plannedAgain: false,
    summary: ({ members }) => `create Services, claims and pods of ${list(members)}`,
  }),
  /** Pods whose etcd never started, and claims that are to be made otherwise, before the cluster has formed. */
  remakeMembers: row<{
    readonly token: string;
    readonly pods: readonly NamedObject[];
    readonly claims: readonly NamedObject[];
    /** Recorded when they are gone. */
    readonly storage?: StorageStatus;
    readonly because: string;
    /** Also those that have started: the volumes go, and no cluster was recorded. */
    readonly evenStarted?: true;
  }>({
    timing: WAIT_TIMING,
    plannedAgain: true,
    summary: ({ pods, claims, because }) =>
      `delete ${claims.length === 0 ? '' : 'the claims and '}pods ${namesOf(pods) || 'of no member'}, to create them again: ${because}`,
  }),
  awaitQuorum: row<{ readonly token: string; readonly members: readonly string[] }>({
    timing: WAIT_TIMING,
    plannedAgain: false,
    summary: ({ members }) => `wait until ${list(members)} elect a leader`,
  }),
  /** Members that are seen started are sealed with it; it has waited while somebody is still to be (`notYet`). */
  recordClusterId: row<{
    readonly token: string;
    /** What a quorum reported, and which members it listed, when it was planned; left out where it was planned before there was a quorum. */
    readonly elected?: { readonly clusterId: string; readonly members: readonly MemberIdentity[] };
  }>({
    timing: ACTION_TIMING,
    plannedAgain: false,
    summary: ({ elected }) => `record cluster id ${elected?.clusterId ?? 'as elected'}`,
  }),
  /** Members that have started, or a learner that is about to: on an empty volume they refuse from then on. */
  sealMembers: row<{ readonly members: readonly SealedMember[] }>({
    timing: WAIT_TIMING,
    plannedAgain: false,
    bringsMembers: true,
    summary: ({ members }) => `seal ${namesOf(members)}, so that they never start on an empty volume`,
  }),
};
