/** Why a cluster waits, and what lets it continue. Pure. */
import type { Condition } from '../../api/conditions/catalogue.ts';
import type { EtcdCluster, EtcdRequest } from '../../api/schemas/types.ts';
import { approveWords, waitingApproval } from '../requests/waiting-approval.ts';
import { kubectlLine, pluginLine, type Where } from './command-lines.ts';
import { WAIT } from '../../api/obstacles/rows.ts';
import { conditionOf, wantsUser, whatToDo } from '../../api/conditions/advice.ts';

/** One thing that a cluster waits for, or that is wrong with it. */
export interface Reason {
  /** Of the condition, or of this list where there is no condition. */
  readonly reason: string;
  /** What is the case. */
  readonly message: string;
  /** RFC 3339. */
  readonly since?: string;
  /** What lets it continue. */
  readonly toGoOn: string;
  /** Commands to choose from, ready to paste. */
  readonly commands: readonly Command[];
}

/** A command that users may paste, and what it is for. */
export interface Command {
  readonly purpose: string;
  readonly line: string;
}

export interface Explanation {
  readonly namespace: string;
  readonly name: string;
  /** In one sentence. */
  readonly summary: string;
  /** What holds it up, the most pressing first; empty: nothing does. */
  readonly waitsFor: readonly Reason[];
  /** Requests of users that are not finished, oldest first. */
  readonly openRequests: readonly OpenRequest[];
}

interface OpenRequest {
  readonly name: string;
  readonly action: string;
  readonly by: string;
  readonly phase: string;
  readonly message: string;
}

/** What is wrong with the operator itself: while one of these is there, the rest of the status may be old. */
const OF_OPERATOR = ['TemporalUnavailable', 'WorkflowStuck', 'PassFailing'];
/** Shown by functions of their own. */
const SHOWN = [...OF_OPERATOR, 'Progressing', 'Paused'];

/** @param requests of the namespace */
export function explanationOf(
  cluster: EtcdCluster,
  requests: readonly EtcdRequest[],
  where: Where,
): Explanation {
  const { name, namespace } = cluster.metadata;
  const pressing = [
    ...ofOperator(cluster),
    ...notTakenUp(cluster, where),
    ...paused(cluster, where),
    ...held(cluster, where),
  ];
  // Some conditions repeat the obstacle, among other things.
  const isSaid = (text: string): boolean =>
    pressing.some(({ message }) => message !== '' && text.includes(message));
  const rest = others(cluster.status?.conditions).filter(({ message }) => !isSaid(message));
  const waitsFor = [...pressing, ...rest];
  return {
    namespace,
    name,
    summary: summaryOf(cluster, waitsFor),
    waitsFor,
    openRequests: openRequestsOf(requests, 'EtcdCluster', name).map(openRequest),
  };
}

/** The requests about this resource that are not finished, oldest first. */
function openRequestsOf(
  requests: readonly EtcdRequest[],
  kind: 'EtcdCluster' | 'EtcdBackup',
  name: string,
): readonly EtcdRequest[] {
  const at = ({ metadata }: EtcdRequest): string => metadata.creationTimestamp ?? '';
  return requests
    .filter(({ spec }) => (kind === 'EtcdCluster' ? spec.clusterRef : spec.backupRef)?.name === name)
    .filter(isOpen)
    .toSorted((a, b) => at(a).localeCompare(at(b)));
}

/** Whether the request is still to be judged, or is being carried out. */
export function isOpen({ status }: EtcdRequest): boolean {
  return ['', 'Pending', 'Accepted'].includes(status?.phase ?? '');
}

function openRequest({ metadata, spec, status }: EtcdRequest): OpenRequest {
  const { action, by } = spec;
  const phase = status?.phase || 'Pending';
  return { name: metadata.name, action, by, phase, message: status?.message ?? '' };
}

function summaryOf({ metadata, status = {} }: EtcdCluster, waitsFor: readonly Reason[]): string {
  const { name } = metadata;
  const { operation } = status;
  const [first] = waitsFor;
  if (first !== undefined) return `${name} waits or needs attention: ${first.reason}`;
  if (operation !== undefined)
    return `${name} is being worked on: ${operation.type}${operation.step === undefined ? '' : `, ${operation.step}`}`;
  return `${name} waits for nothing: it matches its specification`;
}

const ofCondition = (
  { reason, message, lastTransitionTime }: Condition,
  toGoOn: string,
  commands: readonly Command[] = [],
): Reason => ({ reason, message, since: lastTransitionTime, toGoOn, commands });

function ofOperator({ status = {} }: EtcdCluster): readonly Reason[] {
  return OF_OPERATOR.flatMap(type => {
    const condition = conditionOf(status, type);
    if (condition?.status !== 'True') return [];
    return [ofCondition(condition, whatToDo(condition) ?? 'Read the message.')];
  });
}

/** The status does not describe the specification as it is now. */
function notTakenUp({ metadata, status = {} }: EtcdCluster, where: Where): readonly Reason[] {
  const { generation, name } = metadata;
  if (generation === undefined || status.observedGeneration === generation) return [];
  const isNew = status.observedGeneration === undefined;
  return [
    {
      reason: isNew ? 'NotSeenYet' : 'ChangeNotSeenYet',
      message: isNew
        ? 'the operator has not written a status yet'
        : `the specification has changed (generation ${generation}), and the status describes an earlier one (${status.observedGeneration})`,
      toGoOn: 'The operator looks within seconds. If this stays, check whether it runs.',
      commands: [
        {
          purpose: 'is the operator running?',
          line: 'kubectl get pods -A -l app.kubernetes.io/name=etcd-operator',
        },
        ...(isNew ? [] : [{ purpose: 'ask it to look now', line: pluginLine(where, 'resync', name) }]),
      ],
    },
  ];
}

function paused({ metadata, status = {} }: EtcdCluster, where: Where): readonly Reason[] {
  const condition = conditionOf(status, 'Paused');
  if (condition?.status !== 'True') return [];
  const { name } = metadata;
  const patch = ['patch', 'etcdcluster', name, '--type=merge', '-p', '{"spec":{"paused":false}}'];
  const line =
    condition.reason === 'PausedBySpec' ? kubectlLine(where, ...patch) : pluginLine(where, 'resume', name);
  return [ofCondition(condition, 'It goes on when it is resumed.', [{ purpose: 'resume it', line }])];
}

/**
 * The obstacle in the way of the next step. Another condition that says the same knows more of it: what to do, and since
 * when. Progressing itself is False also while there is nothing to do, so its time says nothing of the obstacle.
 */
function held(cluster: EtcdCluster, where: Where): readonly Reason[] {
  const { status = {}, metadata } = cluster;
  const condition = conditionOf(status, 'Progressing');
  if (condition?.status !== 'False') return [];
  if (condition.reason === 'AwaitingApproval') return [awaited(cluster, condition, where)];
  if (condition.reason === 'Waiting') return [ofCondition(condition, WAIT)];
  if (condition.reason !== 'Blocked') return [];
  const lookNow = {
    purpose: 'when it is mended, look now',
    line: pluginLine(where, 'resync', metadata.name),
  };
  const closer = others(status.conditions).find(({ message }) => message === condition.message);
  if (closer !== undefined) return [{ ...closer, commands: [lookNow] }];
  const toGoOn =
    'What the message names must change. The operator looks again by itself, at least every few minutes.';
  return [{ reason: condition.reason, message: condition.message, toGoOn, commands: [lookNow] }];
}

function awaited(cluster: EtcdCluster, condition: Condition, where: Where): Reason {
  const { name } = cluster.metadata;
  const waiting = waitingApproval(cluster);
  const refuse = { purpose: 'refuse it', line: pluginLine(where, 'abort', name) };
  const { reason } = condition;
  if (waiting === undefined) {
    const toGoOn = 'A person must approve it, as the message says.';
    return { reason, message: condition.message, toGoOn, commands: [refuse] };
  }
  const { recovery } = cluster.status ?? {};
  // It shows what is lost, and asks.
  const words =
    waiting.operation === 'recoverQuorum' && recovery !== undefined
      ? ['recover', name, recovery.member]
      : approveWords(name, waiting);
  const approve = { purpose: 'approve it', line: pluginLine(where, ...words) };
  const toGoOn = 'A person must approve exactly this, or refuse it.';
  return { reason, message: waiting.what, toGoOn, commands: [approve, refuse] };
}

/** Everything else that wants something of a person. */
function others(conditions: readonly Condition[] = []): readonly Reason[] {
  return conditions
    .filter(condition => !SHOWN.includes(condition.type) && wantsUser(condition))
    .map(condition => ofCondition(condition, whatToDo(condition) ?? ''));
}
