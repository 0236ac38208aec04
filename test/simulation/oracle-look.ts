/** What of an observation counts as seen, for the oracle: who is well, whose data is proved lost, whom a person named. */
import type { ClaimFacts, Observation, PodFacts } from '../../src/planner/model/observation.ts';
import type { WorkflowState } from '../../src/planner/model/workflow-state.ts';

export type Row = Extract<Observation['membership'], { known: true }>['members'][number];

export interface Look {
  readonly observation: Observation;
  /** As a quorum lists them; empty when none does. */
  readonly rows: readonly Row[];
  readonly voters: readonly Row[];
  readonly pod: (name: string) => PodFacts | undefined;
  readonly claim: (name: string) => ClaimFacts | undefined;
  /** The peer URL is one that members of this cluster have, in whatever domain. */
  readonly isOurs: (row: Row) => boolean;
  /** A person named this very member, by id. */
  readonly isNamed: (row: Row) => boolean;
  /** The claim of that name is not the one that the member was created with: a uid was noted, in the status or on the claim, and not its own. */
  readonly isExchanged: (name: string) => boolean;
  /** Everybody who is a member, or was one when last seen. */
  readonly names: () => readonly string[];
}

export function lookAt(observation: Observation, workflowState: WorkflowState): Look {
  const { cluster, membership, pods, claims } = observation;
  const rows = membership.known ? membership.members : [];
  const ours = new RegExp(
    `^https?://${cluster.name}-\\d+\\.${cluster.name}\\.${cluster.namespace}\\.svc[.:]`,
  );
  const words = [
    ...(workflowState.approvals ?? []),
    ...(workflowState.requests ?? []).filter(({ kind }) => kind === 'replaceMember'),
  ];
  const details = cluster.status.members?.details ?? [];
  return {
    observation,
    rows,
    voters: rows.filter(row => !row.isLearner),
    pod: name => pods.find(pod => pod.name === name),
    claim: name => claims.find(claim => claim.name === name),
    isOurs: row => row.peerUrls.some(url => ours.test(url)) && nameOf(row).startsWith(`${cluster.name}-`),
    isNamed: row => words.some(({ ids = [] }) => ids.includes(row.id)),
    isExchanged: name => {
      const claim = claims.find(candidate => candidate.name === name);
      if (claim === undefined) return false;
      const inStatus = details.find(detail => detail.name === name)?.claimUID;
      const isNoted = inStatus !== undefined || claim.stampedUid !== undefined;
      return isNoted && inStatus !== claim.uid && claim.stampedUid !== claim.uid;
    },
    names: () => [
      ...new Set([
        ...rows.map(nameOf),
        ...(membership.known ? [] : details.map(({ name }) => name)),
        ...(membership.known ? [] : (cluster.status.incarnation?.members ?? []).map(({ name }) => name)),
        // One that lost its stamps may be a member's.
        ...claims.filter(({ token }) => token === undefined).map(({ name }) => name),
      ]),
    ],
  };
}

export function quorumOf(voters: number): number {
  return Math.floor(voters / 2) + 1;
}

/** A member that never started has no name: its URL says it. */
export function nameOf({ name, peerUrls }: Row): string {
  return name === '' ? (/^https?:\/\/([^.:]+)/.exec(peerUrls[0] ?? '')?.[1] ?? '') : name;
}

/** The process answers, whatever it says. */
export function isRunning({ observation: { probes } }: Look, row: Row): boolean {
  const probe = probes[nameOf(row)];
  return probe?.answered === true && probe.memberId === row.id;
}

/** It answers, serves a linearizable read and complains of nothing. */
export function isWell(look: Look, row: Row): boolean {
  const probe = look.observation.probes[nameOf(row)];
  if (probe?.answered !== true || probe.memberId !== row.id) return false;
  return probe.read.ok && probe.errors.length === 0;
}

/** What the member's data is on, if it is there to be started on. */
export function claimOf(look: Look, name: string): ClaimFacts | undefined {
  const claim = look.claim(name);
  return claim === undefined || claim.phase === 'Lost' ? undefined : claim;
}

/** No container of it runs, and none will (Kubernetes, "Pod phase"). */
export function isOver({ phase }: PodFacts): boolean {
  return phase === 'Failed' || phase === 'Succeeded';
}

/** etcd's last words when it looked for its log and found none (server/etcdserver/bootstrap.go, 3.5 to 3.7). */
const EMPTY = /could not retrieve cluster information|has already been bootstrapped|member count is unequal/;

/** Proof from a second plane: Kubernetes says that the volume is gone, or etcd that there is nothing on it. */
export function isLost(look: Look, name: string): boolean {
  const { cluster, now, probes } = look.observation;
  const pod = look.pod(name);
  if (probes[name]?.answered === true) return false;
  if (pod?.trouble !== undefined && EMPTY.test(pod.trouble.message)) return true;
  // A pod that runs has its data.
  if (pod !== undefined && !pod.deleting && pod.phase === 'Running' && pod.trouble === undefined)
    return false;
  if (cluster.status.storage?.kind === 'EmptyDir') return pod === undefined || isOver(pod);
  const claim = look.claim(name);
  if (claim === undefined || claim.phase === 'Lost') return true;
  // No pod is started on a claim that is being deleted; of all of them at once a person decides.
  if (claim.deleting && (pod === undefined || isOver(pod)) && look.rows.length > 0) return true;
  // Kubernetes deleted the claim that the member had; without a quorum users may be at work on the volumes.
  const isExchanged = look.isExchanged(name) && look.rows.length > 0;
  if (!isExchanged && claim.home?.exists !== false) return false;
  // Nodes are registered again, and a person may confirm a claim: it is waited for as long as the specification says.
  const { lostSince } = cluster.status.members?.details?.find(detail => detail.name === name) ?? {};
  const waitedMs = lostSince === undefined ? 0 : now - Date.parse(lostSince);
  return waitedMs >= cluster.config.repair.replaceAfterSeconds * 1_000;
}
