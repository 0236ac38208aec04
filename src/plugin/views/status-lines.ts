/** The state of a cluster as text. Pure. */
import type { EtcdCluster, OperationStatus } from '../../api/schemas/types.ts';
import type { AskedNow } from '../members/asked.ts';
import { pluginLine, type Where } from './command-lines.ts';
import { conditionLines } from './conditions.ts';
import { explanationOf } from './explain.ts';
import { changeOf } from './changes.ts';
import { field, fieldOf, type Line, textIf, toned, type Tone } from './lines.ts';
import { memberLines } from './member-lines.ts';
import { progressOf } from './progress.ts';
import { age } from './times.ts';

export interface Viewing {
  readonly where: Where;
  /** In milliseconds since the epoch. */
  readonly now: number;
  /** What members said; undefined: they were not asked yet. */
  readonly asked?: AskedNow | undefined;
}

export function statusLines(cluster: EtcdCluster, viewing: Viewing): readonly Line[] {
  const { where, now, asked } = viewing;
  const { metadata, status = {} } = cluster;
  const deleting = metadata.deletionTimestamp === undefined ? [] : [toned(', being deleted', 'warn')];
  const title = `EtcdCluster ${metadata.name} in namespace ${metadata.namespace}`;
  const conditions = conditionLines(status.conditions ?? [], now);
  return [
    [toned(title, 'bold'), ...deleting],
    ...summaryLines(cluster, now),
    ...operationLines(cluster, now),
    ...memberLines(cluster, asked),
    ...(conditions.length === 0 ? [] : [[], ...conditions]),
    ...adviceLines(cluster, where),
  ];
}

function summaryLines({ spec, status = {} }: EtcdCluster, now: number): readonly Line[] {
  const { phase = '', ready = '0/?', size = 0, clientPort = '' } = status;
  const asked = textIf(spec.size === size ? undefined : spec.size, more => `, ${more} asked for`);
  const to = textIf(status.targetVersion, version => `, on the way to ${version}`);
  const why = textIf(status.reason, reason => `: ${reason}`);
  return [
    field('Phase', toned(phase || 'none yet', toneOfPhase(phase)), why),
    field('Members', `${ready} ready, ${size} in the etcd cluster${asked}`),
    ...fieldOf('Version', status.currentVersion, version => `${version}${to}`),
    ...fieldOf('Service', status.serviceName, service => `${service}:${clientPort}`),
    ...fieldOf(
      'Backup',
      status.lastBackup,
      ({ time, location = '' }) => `verified, ${age(time, now)} old, ${location}`,
    ),
    ...fieldOf('Workflow', status.workflowID, id => id),
  ];
}

function toneOfPhase(phase: string): Tone {
  if (phase === 'Running') return 'good';
  return phase === 'Failed' ? 'bad' : 'warn';
}

/** What is being done, how far it is and what comes next; otherwise what was done last. */
function operationLines({ status = {} }: EtcdCluster, now: number): readonly Line[] {
  if (status.operation !== undefined) return runningLines(status.operation, now);
  if (status.lastOperation === undefined) return [];
  const { type, outcome, completedAt, message } = status.lastOperation;
  const why = textIf(outcome === 'Succeeded' ? undefined : message, text => `: ${text}`);
  const tone = outcome === 'Succeeded' ? 'good' : 'warn';
  return [field('Last', `${type} `, toned(outcome, tone), ` ${age(completedAt, now)} ago${why}`)];
}

function runningLines(operation: OperationStatus, now: number): readonly Line[] {
  const { type, startedAt, requestedBy, approvedBy, step, message, remaining = [] } = operation;
  const asked = textIf(requestedBy, by => `, requested by ${by}`);
  const approved = textIf(approvedBy, by => `, approved by ${by}`);
  const since = `${changeOf(operation)}, for ${age(startedAt, now)}${asked}${approved}`;
  return [
    field('Operation', toned(type, 'bold'), since),
    ...fieldOf('  done', progressOf(operation), text => text),
    ...fieldOf('  step', step, text => text),
    ...fieldOf('  waits', message, text => toned(text, 'warn')),
    ...nextLines(remaining),
  ];
}

/** So many of the steps that follow are shown. */
const STEPS_SHOWN = 3;

function nextLines(remaining: readonly string[]): readonly Line[] {
  const [first, ...rest] = remaining.slice(0, STEPS_SHOWN);
  if (first === undefined) return [];
  const more = remaining.length - STEPS_SHOWN;
  return [
    field('  next', first),
    ...rest.map((step): Line => [' '.repeat(12), step]),
    ...(more > 0 ? [[' '.repeat(12), toned(`and ${more} more`, 'dim')] satisfies Line] : []),
  ];
}

function adviceLines(cluster: EtcdCluster, where: Where): readonly Line[] {
  const { waitsFor } = explanationOf(cluster, [], where);
  if (waitsFor.length === 0) return [];
  const reasons = waitsFor.map(({ reason }) => reason).join(', ');
  return [
    [],
    [toned(`Needs attention: ${reasons}`, 'warn')],
    ['Why, and what to do: ', pluginLine(where, 'explain', cluster.metadata.name)],
  ];
}
