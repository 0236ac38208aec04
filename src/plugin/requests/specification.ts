/** The EtcdRequest that a command line stands for. Pure. */
import type { EtcdCluster, EtcdRequestSpec } from '../../api/schemas/types.ts';
import { approves } from '../../api/values/consent.ts';
import type { Flags } from '../arguments/flags.ts';
import { secondsOf } from '../arguments/duration.ts';
import { didYouMean } from '../arguments/suggest.ts';
import { failure, usageFailure } from '../failure.ts';
import { ACTIONS, type ActionName, type Target } from './actions.ts';
import { recoveryFacts } from './recovery.ts';
import { type WaitingApproval, waitingApproval } from './waiting-approval.ts';

/** As the CRD allows. */
const EXPIRES_SECONDS = { min: 10, max: 86_400 } as const;
const LONGEST_REASON = 200;

export interface Asked {
  readonly command: ActionName;
  readonly target: Target;
  readonly member: string | undefined;
  readonly flags: Flags;
}

/**
 * All but `by`.
 * @param cluster the target, if it is a cluster @throws Failure when what was asked for cannot be meant
 */
export function specificationOf(asked: Asked, cluster: EtcdCluster | undefined): Omit<EtcdRequestSpec, 'by'> {
  const { command, target, member, flags } = asked;
  const ref = { name: target.name };
  const reason = flags.value('reason');
  if (reason !== undefined && reason.length > LONGEST_REASON)
    throw usageFailure(`--reason has ${reason.length} characters, and may have ${LONGEST_REASON}`);
  if (member !== undefined && cluster !== undefined) checkMember(cluster, member);
  return {
    ...(target.kind === 'EtcdCluster' ? { clusterRef: ref } : { backupRef: ref }),
    action: ACTIONS[command].action,
    ...(reason !== undefined && { reason }),
    ...(member !== undefined && { member }),
    ...(command === 'approve' && cluster !== undefined && approvalOf(cluster, flags)),
    ...(command === 'recover' &&
      cluster !== undefined && { recovery: recoveryFacts(cluster, member ?? '', flags) }),
    ...(command === 'verify-again' && wantedBackup(flags)),
    ...expiry(flags),
  };
}

/** Which of the stored backups, and how; whether there is such a one is judged by the operator. */
function wantedBackup(flags: Flags): Pick<EtcdRequestSpec, 'location' | 'verify'> {
  const location = flags.value('location');
  // One of its choices: the command line was read so.
  const level = flags.value('level') as EtcdRequestSpec['verify'];
  return { ...(location !== undefined && { location }), ...(level !== undefined && { verify: level }) };
}

function expiry(flags: Flags): { readonly expiresAfterSeconds?: number } {
  const text = flags.value('expires');
  if (text === undefined) return {};
  const seconds = secondsOf(text, 'expires');
  const { min, max } = EXPIRES_SECONDS;
  if (seconds < min || seconds > max)
    throw usageFailure(`--expires must be from 10s to 24h, and not ${text}`);
  return { expiresAfterSeconds: seconds };
}

/** A mistyped member is found here; whether it can be replaced is judged by the operator. */
function checkMember({ metadata, status = {} }: EtcdCluster, member: string): void {
  const names = (status.members?.details ?? []).map(({ name }) => name);
  if (names.length === 0 || names.includes(member)) return;
  throw failure(
    `${metadata.name} has no member ${member}`,
    ...didYouMean(member, names),
    `Its members are: ${names.join(', ')}`,
  );
}

/**
 * What is approved: what the flags name, else what the cluster waits for. That may change from one read to the next, so without a
 * person who reads it and confirms it, the flags must name it.
 */
function approvalOf(cluster: EtcdCluster, flags: Flags): Pick<EtcdRequestSpec, 'operation' | 'ids'> {
  const operation = flags.value('operation');
  const ids = flags.all('id');
  if ((operation === undefined) !== (ids.length === 0))
    throw usageFailure('--operation and --id belong together: give both, as explain names them');
  const waiting = waitingApproval(cluster);
  if (operation !== undefined) return { operation, ids };
  if (waiting === undefined) {
    throw failure(
      `${cluster.metadata.name} waits for no approval`,
      `See what it does with: kubectl etcd explain ${cluster.metadata.name} -n ${cluster.metadata.namespace}`,
    );
  }
  if (flags.has('yes'))
    throw usageFailure(
      'with --yes, say exactly what is approved: nobody reads it before it is sent',
      `It waits for: ${flagsOf(waiting)}`,
    );
  return { operation: waiting.operation, ids: waiting.ids };
}

const flagsOf = ({ operation, ids }: WaitingApproval): string =>
  [`--operation ${operation}`, ...ids.map(id => `--id ${id}`)].join(' ');

/** What the step is that is approved, for the person who confirms it; says so when the cluster does not wait for it. */
export function approvedStep(
  cluster: EtcdCluster,
  { operation, ids = [] }: Pick<EtcdRequestSpec, 'operation' | 'ids'>,
): string {
  const waiting = waitingApproval(cluster);
  const what = `${operation ?? ''} of ${ids.join(', ')}`;
  if (waiting !== undefined && approves({ operation, ids }, waiting)) return `${what}: ${waiting.what}`;
  return `${what}; ${cluster.metadata.name} does not wait for this now, so the request will probably be refused`;
}
