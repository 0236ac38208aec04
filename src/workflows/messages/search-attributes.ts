import { defineSearchAttributeKey, type SearchAttributeUpdatePair } from '@temporalio/common';
import { upsertSearchAttributes } from '@temporalio/workflow';
import type { Assessment, BackupAssessment, RestoreAssessment } from '../../activities/index.ts';
import { ATTENTION_FAILING } from './resource.ts';

const PHASE = defineSearchAttributeKey('EtcdPhase', 'KEYWORD');
const OPERATION = defineSearchAttributeKey('EtcdOperation', 'KEYWORD');
const VERSION = defineSearchAttributeKey('EtcdVersion', 'KEYWORD');
const HEALTHY = defineSearchAttributeKey('EtcdHealthy', 'BOOL');
const PAUSED = defineSearchAttributeKey('EtcdPaused', 'BOOL');
const MEMBERS_READY = defineSearchAttributeKey('EtcdMembersReady', 'INT');

/** What needs attention, in one word; absent while nothing does. Of every kind. */
const ATTENTION = defineSearchAttributeKey('EtcdAttention', 'KEYWORD');
const LAST_BACKUP = defineSearchAttributeKey('EtcdLastBackup', 'DATETIME');

/**
 * What can be searched for in Temporal, also while no operator runs. Written only when it changed: each write is an
 * event of the history. Returns what was written, to be compared with next time.
 */
export function publish({ decision, summary }: Assessment, published: string): string {
  if (summary === undefined) return published;
  const pairs: SearchAttributeUpdatePair[] = [
    { key: PHASE, value: summary.phase },
    { key: OPERATION, value: decision.kind === 'operate' ? decision.operation : 'none' },
    { key: VERSION, value: summary.version },
    { key: HEALTHY, value: summary.healthy },
    { key: PAUSED, value: summary.paused },
    { key: MEMBERS_READY, value: summary.membersReady },
  ];
  const now = JSON.stringify(pairs.map(({ value }) => value));
  return upsertChanged([...pairs, attention(summary)], published, marked(now, summary));
}

/** As {@link publish}, for an EtcdBackup. */
export function publishBackup({ decision, summary }: BackupAssessment, published: string): string {
  if (summary === undefined) return published;
  const operation = decision.kind === 'operate' ? decision.operation : 'none';
  const { phase = 'Pending', etcdVersion, lastSuccessDate, paused, succeeded } = summary;
  const pairs: SearchAttributeUpdatePair[] = [
    { key: PHASE, value: phase },
    { key: OPERATION, value: operation },
    { key: VERSION, value: etcdVersion ?? null },
    { key: HEALTHY, value: succeeded ?? null },
    { key: PAUSED, value: paused },
    { key: LAST_BACKUP, value: typeof lastSuccessDate === 'string' ? new Date(lastSuccessDate) : null },
  ];
  const now = JSON.stringify([phase, operation, etcdVersion, lastSuccessDate, paused, succeeded]);
  return upsertChanged([...pairs, attention(summary)], published, marked(now, summary));
}

/** As {@link publish}, for an EtcdRestore, of which only what needs attention is searched. */
export function publishRestore({ summary }: RestoreAssessment, published: string): string {
  return summary === undefined
    ? published
    : upsertChanged([attention(summary)], published, marked('', summary));
}

/** Passes of the resource fail: said where no API server is needed. As {@link publish}; the next pass that succeeds publishes what it finds. */
export function publishFailing(published: string): string {
  return upsertChanged([attention({ attention: ATTENTION_FAILING })], published, ATTENTION_FAILING);
}

/** As {@link publish}, for an operation, which publishes nothing else: its passes succeed again. */
export function publishSucceeding(published: string): string {
  return upsertChanged([attention({})], published, '');
}

interface Attention {
  readonly attention?: string | undefined;
}

function attention({ attention: value }: Attention): SearchAttributeUpdatePair {
  return { key: ATTENTION, value: value ?? null };
}

/** Nothing is added where nothing needs attention: so it is in the histories of releases that did not know of it. */
function marked(now: string, { attention: value }: Attention): string {
  return value === undefined ? now : `${now} ${value}`;
}

function upsertChanged(pairs: SearchAttributeUpdatePair[], published: string, now: string): string {
  if (now !== published) upsertSearchAttributes(pairs);
  return now;
}
