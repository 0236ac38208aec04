/** Obstacles that members, their pods and the membership are. Pure data; see catalogue.ts. */
import { type ReasonRows, WAIT } from './rows.ts';

const ONE_CLUSTER =
  'Nothing is changed until a person has looked: compare etcdctl member list of each member, and remove what does not belong.';

export const MEMBER_OBSTACLES = {
  NoQuorum: ['No quorum answers, so the members are not known.', 'See condition Available.'],
  QuorumAtRisk: [
    'Removing the member would leave too few healthy members for a quorum.',
    'Bring back the others first.',
  ],
  MembersUnhealthy: ['A member does not answer, raises an alarm, or cannot be read from.'],
  MembersNotReady: ['A member has no ready pod.', 'Read the events of the pod.'],
  MembersNotStarting: ['Kubernetes cannot start a pod.', 'Remove the cause that the message names.'],
  MembersBehind: ['A member has not applied the newest entries of the log yet.', WAIT],
  LearnerPresent: ['A member has not become a voter yet.', WAIT],
  LearnerGivenUp: ['A new member did not become a voter and was removed; another one is added later.'],
  LeaderUnclear: ['The members do not agree on the leader.', WAIT],
  LeaderNew: ['The leader was elected a moment ago.', WAIT],
  Soaking: ['Not every member has been ready for long enough.', WAIT],
  RolloutHalted: ['A member that was restarted is not ready.', 'Correct the specification.'],
  VersionUnknown: [
    'The etcd version that wrote the data of a member is not known.',
    'Write the version into the annotation that the message names.',
  ],
  PodTerminating: ['A pod is being deleted and has not ended.', 'Read the message if it does not end.'],
  ForeignMember: ['A member was added by hand.', 'Remove it with etcdctl, or scale by hand.'],
  DomainChanged: ['The members use another cluster domain.', 'Write it into spec.pod.ClusterDomain.'],
  ClusterIdMismatch: ['A member belongs to another cluster than the recorded one.', ONE_CLUSTER],
  IdentityUnknown: ['Pods or claims exist, but the cluster that they belong to cannot be identified.'],
  OtherOperator: [
    'The EtcdCluster was created by another operator, such as the CoreOS operator; nothing is done to it.',
    'Back it up and restore the backup into another EtcdCluster (docs/operations/migrate-from-coreos.md).',
  ],
  MemberRemoved: ['The member that holds the restored data was removed from the membership by hand.'],
  MemberLost: [
    'A member has neither pod nor volume, and no quorum can replace it.',
    'Bring back the nodes and volumes of the others. If they are gone for good, wait until recovering the data of a member that is left is offered (status.recovery); restore a backup if none is left.',
  ],
  QuorumLostForGood: [
    'So many members are proved lost that a quorum cannot come back by itself. The data of a member that is left can be recovered.',
    'Bring back a node or a volume if you can. Otherwise read what would be lost, and approve the recovery: docs/operations/disaster.md.',
  ],
  WaitingForMember: ['A member is unavailable; its node or volume may come back.', WAIT],
  ReplacementBudget: [
    'More members were lost in an hour than may be replaced without an approval.',
    'Find out why members are lost, then approve the replacement.',
  ],
  NotProvedLost: [
    'A person requested the replacement of a member whose data is not proved lost.',
    'Approve the replacement if its data may be discarded.',
  ],
} as const satisfies ReasonRows;
