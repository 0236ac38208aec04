/** Asks etcd: each member for itself, and a quorum for the member list. */
import { CLIENT_PORT, memberHost } from '../../api/names.ts';
import { type Credentials, EtcdError, type EtcdMember, type EtcdPort } from '../../etcd/port.ts';
import type { MemberProbe } from '../../planner/model/member-probe.ts';
import type { HistoryFact, KeysFact, Membership, PodFacts } from '../../planner/model/observation.ts';
import { messageOf } from '../../api/values/message-of.ts';
import type { ClientAccess } from './certificate-secrets.ts';

/** How a cluster's members are addressed. */
export interface ClusterAddress {
  readonly name: string;
  readonly namespace: string;
  readonly domain: string;
  /** Absent: plain text. */
  readonly access?: ClientAccess | undefined;
  /** Of a user, where a certificate does not name one that may do everything. */
  readonly credentials?: Credentials | undefined;
  /** Whether members are asked for the versions that the cluster has agreed on. */
  readonly asksAgreed?: boolean;
}

/** What it takes to ask a pod. */
type AddressedPod = Pick<PodFacts, 'name' | 'ip'>;

/** What the members say, by pod name, and what a quorum of them lists. */
export interface EtcdFacts {
  readonly probes: Readonly<Record<string, MemberProbe>>;
  readonly membership: Membership;
}

/** Asks every pod that has an address, all at once; a member that hangs delays nobody beyond its deadline. */
export async function probeMembers(
  etcd: EtcdPort,
  cluster: ClusterAddress,
  pods: readonly AddressedPod[],
): Promise<EtcdFacts> {
  const { access } = cluster;
  if (access !== undefined && 'unusable' in access) return unaskable(pods, access.unusable);
  const dialled = new Map<string, EtcdMember>();
  try {
    const probes = await Promise.all(
      pods.flatMap(({ name, ip }) => {
        if (ip === undefined) return [];
        const ask = async (): Promise<readonly [string, MemberProbe]> => {
          const member = dial(etcd, cluster, { name, ip });
          dialled.set(name, member);
          return [name, await probe(member, cluster.asksAgreed === true)];
        };
        // One that cannot even be dialled is one that does not answer: the others are asked.
        return [ask().catch(error => [name, { answered: false as const, ...failureOf(error) }] as const)];
      }),
    );
    const able = probes
      .filter(([, probed]) => probed.answered && probed.read.ok && !probed.isLearner)
      .flatMap(([name]) => dialled.get(name) ?? []);
    return { probes: Object.fromEntries(probes), membership: await membershipThrough(able) };
  } finally {
    for (const member of dialled.values()) member.close();
  }
}

/** Nobody can be asked, for one reason that lies with the operator and says nothing about the members. */
function unaskable(pods: readonly AddressedPod[], message: string): EtcdFacts {
  const reachable = pods.filter(({ ip }) => ip !== undefined);
  const probes = reachable.map(({ name }) => [name, { answered: false as const, message }]);
  return { probes: Object.fromEntries(probes), membership: { known: false, message } };
}

/** The member that this pod runs; to be closed. Throws for certificates that cannot be used. */
export function dial(
  etcd: EtcdPort,
  cluster: ClusterAddress,
  { name, ip }: { name: string; ip: string },
): EtcdMember {
  const serverName = memberHost({
    member: name,
    cluster: cluster.name,
    namespace: cluster.namespace,
    domain: cluster.domain,
  });
  const tls = cluster.access !== undefined && 'tls' in cluster.access ? cluster.access.tls : undefined;
  const { credentials } = cluster;
  return etcd.member({
    host: ip,
    port: CLIENT_PORT,
    serverName,
    ...(tls !== undefined && { tls }),
    ...(credentials !== undefined && { credentials }),
  });
}

async function probe(member: EtcdMember, asksAgreed: boolean): Promise<MemberProbe> {
  const [status, first, agreed] = await Promise.allSettled([
    member.status(),
    member.linearizableRead(),
    asksAgreed ? member.version() : undefined,
  ]);
  if (status.status === 'rejected') return { answered: false, ...failureOf(status.reason) };
  // Promoted between the two answers: a voter is not ill because it was a learner a moment ago.
  const wasLearner =
    first.status === 'rejected' && first.reason instanceof EtcdError && first.reason.code === 'learner';
  const [read] =
    wasLearner && !status.value.isLearner ? await Promise.allSettled([member.linearizableRead()]) : [first];
  return {
    answered: true,
    ...status.value,
    ...(agreed.status === 'fulfilled' && agreed.value !== undefined ? { agreed: agreed.value } : {}),
    read:
      read.status === 'fulfilled'
        ? { ok: true, revision: read.value.revision }
        : { ok: false, ...failureOf(read.reason) },
  };
}

function failureOf(error: unknown): { readonly message: string; readonly denied?: boolean } {
  const denied = error instanceof EtcdError && error.code === 'denied';
  return { message: messageOf(error), ...(denied && { denied }) };
}

async function membershipThrough(members: readonly EtcdMember[]): Promise<Membership> {
  let message = 'no member answers a linearizable read';
  for (const member of members) {
    try {
      const { clusterId, members: listed } = await member.memberList();
      return {
        known: true,
        clusterId,
        members: listed.map(({ id, name, isLearner, clientUrls, peerUrls }) => ({
          id,
          name,
          isLearner,
          peerUrls,
          started: clientUrls.length > 0,
        })),
      };
    } catch (error) {
      message = messageOf(error);
    }
  }
  return { known: false, message };
}

/** What the first voter that answers keeps of the past. */
export async function readHistory(
  etcd: EtcdPort,
  cluster: ClusterAddress,
  { pods, probes }: { readonly pods: readonly PodFacts[]; readonly probes: EtcdFacts['probes'] },
): Promise<HistoryFact> {
  const pod = pods.find(({ name }) => {
    const probed = probes[name];
    return probed?.answered === true && probed.read.ok && !probed.isLearner;
  });
  if (pod?.ip === undefined) return { ok: false, message: 'no member answers' };
  let member: EtcdMember | undefined;
  try {
    member = dial(etcd, cluster, { name: pod.name, ip: pod.ip });
    return { ok: true, ...(await member.history()) };
  } catch (error) {
    return { ok: false, message: messageOf(error) };
  } finally {
    member?.close();
  }
}

/** How many keys the first member that answers has at this revision: of a cluster of one, as a restore makes it. */
export async function countKeys(
  etcd: EtcdPort,
  cluster: ClusterAddress,
  {
    pods,
    probes,
    revision,
  }: {
    readonly pods: readonly PodFacts[];
    readonly probes: EtcdFacts['probes'];
    readonly revision: number;
  },
): Promise<KeysFact> {
  const pod = pods.find(({ name }) => probes[name]?.answered === true);
  if (pod?.ip === undefined) return { ok: false, message: 'no member answers' };
  let member: EtcdMember | undefined;
  try {
    member = dial(etcd, cluster, { name: pod.name, ip: pod.ip });
    const { keys } = await member.countKeys(String(revision));
    return { ok: true, keys };
  } catch (error) {
    return { ok: false, message: messageOf(error) };
  } finally {
    member?.close();
  }
}
