/** EtcdBackups as text: all of them in a table, or one with what it has written. Pure. */
import type { BackupEntry, EtcdBackup } from '../../api/schemas/types.ts';
import { conditionLines } from './conditions.ts';
import { field, type Line, type Span, table, toned, type Tone } from './lines.ts';
import { bytes } from '../../api/values/sizes.ts';
import { age } from './times.ts';

export function backupLines(backups: readonly EtcdBackup[], now: number): readonly Line[] {
  const rows = backups.map(({ metadata, spec, status = {} }): readonly Span[] => {
    const { phase = '', history = [], lastSuccessDate, nextRun } = status;
    return [
      metadata.namespace,
      metadata.name,
      spec.clusterRef?.name ?? 'endpoints',
      toned(phase || 'none yet', toneOf(phase)),
      ago(lastSuccessDate, now),
      history[0]?.verified || '-',
      String(history.length),
      nextRun ?? '-',
    ];
  });
  return table(['NAMESPACE', 'NAME', 'CLUSTER', 'PHASE', 'LAST-SUCCESS', 'VERIFIED', 'KEPT', 'NEXT'], rows);
}

function ago(time: string | null | undefined, now: number): string {
  const since = age(time, now);
  return since === '' ? 'never' : `${since} ago`;
}

function toneOf(phase: string): Tone {
  if (phase === 'Failed') return 'bad';
  return phase === 'Pending' || phase === 'Suspended' || phase === '' ? 'warn' : 'good';
}

/** One EtcdBackup: whether the newest backup is good, what runs, and what is kept. */
export function oneBackupLines(backup: EtcdBackup, now: number): readonly Line[] {
  const { metadata, spec, status = {} } = backup;
  const { history = [], phase = '', lastVerifiedRestore, nextRun } = status;
  const conditions = conditionLines(status.conditions ?? [], now);
  return [
    [toned(`EtcdBackup ${metadata.name} in namespace ${metadata.namespace}`, 'bold')],
    field('Phase', toned(phase || 'none yet', toneOf(phase))),
    field('Of', spec.clusterRef?.name ?? (spec.etcdEndpoints ?? []).join(', ')),
    field('Newest', ...newest(history[0], now)),
    ...(lastVerifiedRestore === undefined
      ? []
      : [field('Restored', `on the side and equal to the cluster, ${ago(lastVerifiedRestore, now)}`)]),
    ...copyLines(backup),
    ...runLines(backup, now),
    ...(nextRun === undefined ? [] : [field('Next run', nextRun)]),
    ...(conditions.length === 0 ? [] : [[], ...conditions]),
    ...(history.length === 0 ? [] : [[], ...entryLines(history, now)]),
  ];
}

function newest(entry: BackupEntry | undefined, now: number): readonly Span[] {
  if (entry === undefined) return [toned('there is no backup yet', 'bad')];
  const { verified = '', time } = entry;
  const how = verified === '' ? toned('not verified', 'warn') : toned(`verified (${verified})`, 'good');
  return [`${ago(time, now)}, `, how];
}

function copyLines({ status = {} }: EtcdBackup): readonly Line[] {
  const { location, behind = 0, behindSince } = status.secondStore ?? {};
  if (location === undefined) return [];
  const said =
    behind === 0 ? toned('every backup', 'good') : toned(`${behind} missing since ${behindSince}`, 'warn');
  return [field('Copies', `${location}: `, said)];
}

function runLines({ status = {} }: EtcdBackup, now: number): readonly Line[] {
  const { progress, lastRun } = status;
  const asked = (by: string | undefined): string => (by === undefined ? '' : `, requested by ${by}`);
  const running =
    progress === undefined
      ? []
      : [
          field(
            'Running',
            `for ${age(progress.startedAt, now)}, ${progress.bytes ?? 0} of ${progress.total ?? '?'} bytes`,
            `${asked(progress.requestedBy)}${progress.message === undefined ? '' : `: ${progress.message}`}`,
          ),
        ];
  if (lastRun === undefined) return running;
  const { outcome = '', completedAt, message, requestedBy } = lastRun;
  const tone: Tone = outcome === 'Succeeded' ? 'good' : 'bad';
  const why = message === undefined ? '' : `: ${message}`;
  return [
    ...running,
    field('Last run', toned(outcome, tone), ` ${ago(completedAt, now)}${asked(requestedBy)}${why}`),
  ];
}

function entryLines(history: readonly BackupEntry[], now: number): readonly Line[] {
  const isInTwo = history.some(({ heldIn }) => heldIn !== undefined);
  const rows = history.map(
    ({ time, size, revision, keys, verified, etcdVersion, location, heldIn = '-' }) => [
      time,
      ago(time, now),
      bytes(size),
      String(revision ?? '-'),
      String(keys ?? '-'),
      etcdVersion ?? '-',
      verified || '-',
      ...(isInTwo ? [heldIn] : []),
      location,
    ],
  );
  const stores = isInTwo ? ['STORE'] : [];
  return table(
    ['TIME', 'TAKEN', 'SIZE', 'REVISION', 'KEYS', 'ETCD', 'VERIFIED', ...stores, 'LOCATION'],
    rows,
  );
}
