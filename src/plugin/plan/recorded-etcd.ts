/**
 * What the members said when the operator asked them last, as the status has it, behind the port by which they are asked: a caller that uses
 * kubectl does not reach them. What the status does not keep is in {@link NOT_RECORDED}.
 */
import type { EtcdCluster, MemberDetail } from '../../api/schemas/types.ts';
import { isAtLeast, minorOf } from '../../api/versions/compare.ts';
import { EtcdError, type EtcdMember, type EtcdPort } from '../../etcd/port.ts';
import type { ClusterFacts } from '../../planner/model/observation.ts';
import { peerUrlOf } from '../../planner/model/identity.ts';

/** What the operator asks members and the status does not repeat. */
export const NOT_RECORDED =
  'how far the logs of the members are apart and how full their databases are: no member was asked, and the plan assumes that neither holds it up';

/** The members of this cluster as its status describes them. Nothing can be changed through it. */
export function recordedEtcd(facts: ClusterFacts): EtcdPort {
  const details = facts.status.members?.details ?? [];
  return {
    member({ serverName }) {
      const name = serverName.split('.')[0] ?? '';
      const detail = details.find(each => each.name === name);
      return detail === undefined ? silent(`the status does not mention ${name}`) : member(facts, detail);
    },
  };
}

function member(facts: ClusterFacts, detail: MemberDetail): EtcdMember {
  const { status } = facts;
  const id = detail.id ?? '';
  if (detail.health !== 'Healthy' || id === '')
    return silent(`the status calls ${detail.name} ${detail.health}`);
  const details = status.members?.details ?? [];
  return {
    ...silent('this is not asked'),
    status: async () => ({
      memberId: id,
      clusterId: status.clusterID ?? '',
      leaderId: details.find(({ role }) => role === 'Leader')?.id,
      isLearner: detail.role === 'Learner',
      version: detail.version ?? status.currentVersion ?? '',
      raftTerm: status.raftTerm ?? '',
      raftIndex: '0',
      raftAppliedIndex: '0',
      dbSize: 0,
      dbSizeInUse: 0,
      errors: [],
    }),
    linearizableRead: async () => ({ revision: '0' }),
    memberList: async () => ({
      clusterId: status.clusterID ?? '',
      members: details.flatMap(({ name, id: listed, role }) =>
        listed === undefined
          ? []
          : [
              {
                id: listed,
                name: role === 'Unstarted' ? '' : name,
                peerUrls: [peerUrlOf(facts, name)],
                clientUrls: role === 'Unstarted' ? [] : [name],
                isLearner: role === 'Learner' || status.learner?.id === listed,
              },
            ],
      ),
    }),
    version: async () => agreed(status, detail.version ?? ''),
  };
}

/** An upgrade ends when the cluster has agreed on the version; while one runs, nothing here says. */
function agreed(
  { targetVersion, currentVersion }: EtcdCluster['status'] & object,
  server: string,
): Awaited<ReturnType<EtcdMember['version']>> {
  const minor = minorOf(currentVersion ?? '');
  if (minor === undefined || (targetVersion ?? '') !== '')
    return { server, cluster: undefined, storage: undefined, downgrade: undefined };
  const version = `${minor}.0`;
  const isNew = isAtLeast(version, '3.6.0');
  return {
    server,
    cluster: version,
    storage: isNew ? version : undefined,
    downgrade: isNew ? '' : undefined,
  };
}

/** A member that says nothing, for this reason. */
function silent(why: string): EtcdMember {
  const refuse = (): Promise<never> => Promise.reject(new EtcdError('unreachable', why));
  return {
    status: refuse,
    memberList: refuse,
    linearizableRead: refuse,
    countKeys: refuse,
    hashKv: refuse,
    version: refuse,
    receivesSnapshot: refuse,
    memoryInUse: refuse,
    addLearner: refuse,
    promote: refuse,
    removeMember: refuse,
    moveLeader: refuse,
    downgrade: refuse,
    defragment: refuse,
    history: refuse,
    compact: refuse,
    tryWrite: refuse,
    disarm: refuse,
    async *snapshot() {
      yield await refuse();
    },
    close: () => {},
  };
}
