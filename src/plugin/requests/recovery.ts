/** What `kubectl etcd recover` approves of, and all that is known of it, as the status of the cluster has it. Pure. */
import type { EtcdCluster, EtcdRequestSpec } from '../../api/schemas/types.ts';
import type { Flags } from '../arguments/flags.ts';
import { failure, usageFailure } from '../failure.ts';

type Facts = NonNullable<EtcdRequestSpec['recovery']>;

/**
 * The facts: what the status offers; when a person gives members up by id, what is known of them.
 * @throws Failure when nothing is offered, or when nobody would read what is sent
 */
export function recoveryFacts(cluster: EtcdCluster, member: string, flags: Flags): Facts {
  const { metadata, status = {} } = cluster;
  const { recovery: offered, clusterID = '' } = status;
  const named = flags.all('give-up');
  if (offered === undefined && named.length === 0)
    throw failure(
      `${metadata.name} offers no recovery: ${whyNot(status)}`,
      `See what is known with: kubectl etcd explain ${metadata.name} -n ${metadata.namespace}`,
      'A member whose etcd does not run on a node that is ready, and never will, is given up with --give-up ID; the operator refuses it unless Kubernetes agrees.',
    );
  const revision = revisionOf(status, member, flags.value('revision'));
  const givenUp = named.length > 0 ? named : (offered?.givenUp ?? []).map(({ id }) => id);
  if (flags.has('yes') && (named.length === 0 || flags.value('revision') === undefined))
    throw usageFailure(
      'with --yes, say exactly what is given up: nobody reads it before it is sent',
      `As the cluster says now: ${flagsOf({ revision, givenUp })}`,
    );
  return { clusterID, revision, lastRevision: offered?.lastRevision ?? lastOf(status, revision), givenUp };
}

/** The flags that name these facts. */
export function flagsOf({ revision, givenUp }: Pick<Facts, 'revision' | 'givenUp'>): string {
  return [`--revision ${revision}`, ...givenUp.map(id => `--give-up ${id}`)].join(' ');
}

type Status = NonNullable<EtcdCluster['status']>;

function whyNot({ conditions = [] }: Status): string {
  const answers = conditions.some(({ type, status }) => type === 'Available' && status === 'True');
  return answers
    ? 'a quorum answers'
    : 'too few members are proved lost yet. A claim that is gone proves it at once, a Node that was deleted when spec.repair.replaceAfterSeconds have passed; wait, and try again';
}

/** As a person names it, or as it is known. */
function revisionOf({ recovery, lastSeen = [] }: Status, member: string, named: string | undefined): number {
  const seen = lastSeen.find(({ name, id }) => name === member || id === member);
  const known = Number(named ?? recovery?.revision ?? seen?.revision ?? 0);
  if (Number.isSafeInteger(known) && known > 0) return known;
  throw usageFailure(`the revision of ${member} is not known: name it with --revision`);
}

/** The highest that was observed. */
function lastOf({ lastSeen = [] }: Status, revision: number): number {
  return Math.max(revision, ...lastSeen.map(each => Number(each.revision ?? 0)));
}

/** Everything that is known, for the person who confirms it. */
export function recoveryLines(cluster: EtcdCluster, member: string, facts: Facts): readonly string[] {
  const { recovery, lastSeen = [], members } = cluster.status ?? {};
  const rows = (members?.details ?? []).map(({ name, id, health, node, claim }) => {
    const seen = lastSeen.find(each => each.name === name);
    const given = recovery?.givenUp?.find(each => each.name === name);
    const ofIt = [
      `id ${seen?.id ?? id ?? 'unknown'}`,
      health,
      `node ${node ?? 'unknown'}`,
      claim === undefined ? 'no claim' : `claim ${claim}`,
      seen === undefined
        ? 'never seen'
        : `last seen ${seen.time} at revision ${seen.revision ?? '?'}, term ${seen.raftTerm}, index ${seen.raftIndex}`,
    ];
    const fate =
      name === member ? 'recovered from' : `given up${given === undefined ? '' : `: ${given.why}`}`;
    return `  ${name}: ${ofIt.join(', ')}; ${fate}`;
  });
  const lost = (facts.lastRevision ?? 0) - facts.revision;
  return [
    `Cluster id ${facts.clusterID}; ${member} has revision ${facts.revision}.`,
    ...rows,
    lost > 0
      ? `At least ${lost} revisions are lost: ${facts.revision + 1} to ${facts.lastRevision}.`
      : `No revision above ${facts.revision} was observed.`,
    recovery?.lastSeen === undefined
      ? 'It is not known when the members that are given up were last observed.'
      : `Writes that were acknowledged after ${recovery.lastSeen}, when they were last observed, may be lost as well.`,
    'All volumes are kept. Until clients are admitted again, deleting the EtcdRestore returns to the members before.',
    'Watches end, and leases are renewed by their owners: the revision is raised, so that watchers list again.',
  ];
}
