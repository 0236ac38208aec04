import { defineSearchAttributeKey, type SearchAttributeUpdatePair } from '@temporalio/common';
import { upsertSearchAttributes } from '@temporalio/workflow';
import type { Assessment, BackupAssessment } from '../../activities/index.ts';

const PHASE = defineSearchAttributeKey('EtcdPhase', 'KEYWORD');
const OPERATION = defineSearchAttributeKey('EtcdOperation', 'KEYWORD');
const VERSION = defineSearchAttributeKey('EtcdVersion', 'KEYWORD');
const HEALTHY = defineSearchAttributeKey('EtcdHealthy', 'BOOL');
const PAUSED = defineSearchAttributeKey('EtcdPaused', 'BOOL');
const MEMBERS_READY = defineSearchAttributeKey('EtcdMembersReady', 'INT');

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
  return upsertChanged(pairs, published, JSON.stringify(pairs.map(({ value }) => value)));
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
  return upsertChanged(pairs, published, now);
}

function upsertChanged(pairs: SearchAttributeUpdatePair[], published: string, now: string): string {
  if (now !== published) upsertSearchAttributes(pairs);
  return now;
}
