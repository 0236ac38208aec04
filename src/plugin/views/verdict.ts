/** Whether the newest backup of an EtcdBackup is good, as its verification has shown. Pure. */
import { VERIFICATIONS } from '../../api/defaults/etcd-backup.ts';
import type { EtcdBackup } from '../../api/schemas/types.ts';
import { isVerified } from '../../planner/model/newest-entry.ts';
import { field, type Line, toned } from './lines.ts';
import { age } from './times.ts';

export interface VerdictShown {
  readonly good: boolean;
  /** How it was verified: Checksum, Structure or Restore; empty: it was not. */
  readonly verified: string;
  readonly location?: string;
  readonly time?: string;
  /** What speaks against it, or was not shown; each as a sentence. */
  readonly doubts: readonly string[];
}

const MEANINGS: Readonly<Record<string, string>> = {
  Checksum: 'every byte arrived as etcd sent it',
  Structure: "every byte arrived as etcd sent it, and etcdutl of the cluster's version reads the database",
  Restore: 'it was restored in a pod, and its keys were equal to those of the cluster',
};

/** What the operator has found of the newest backup. */
export function verdictOf({ spec, status = {} }: EtcdBackup): VerdictShown {
  const [newest] = status.history ?? [];
  const { lastRun } = status;
  const wanted = spec.verify ?? 'Checksum';
  const verified = newest?.verified ?? '';
  const failed =
    lastRun?.outcome === 'Failed' ? [`the last run failed: ${lastRun.message ?? 'no reason was given'}`] : [];
  if (newest === undefined) return { good: false, verified, doubts: ['there is no backup yet', ...failed] };
  const isWeaker = VERIFICATIONS.indexOf(verified) < VERIFICATIONS.indexOf(wanted);
  const doubts = [
    ...(verified === '' ? ['its verification failed, or has not been made: do not rely on it'] : []),
    ...(verified !== '' && isWeaker
      ? [`spec.verify asks for ${wanted}, and only ${verified} was shown`]
      : []),
    ...failed,
  ];
  const { location, time } = newest;
  return { good: isVerified({ verified }) && !isWeaker, verified, location, time, doubts };
}

export function verdictLines(backup: EtcdBackup, verdict: VerdictShown, now: number): readonly Line[] {
  const { good, verified, location = '', time, doubts } = verdict;
  const { name } = backup.metadata;
  const older = (backup.status?.history ?? []).filter(isVerified).length;
  return [
    [
      toned(
        good
          ? `The newest backup of ${name} is good`
          : `The newest backup of ${name} is not known to be good`,
        good ? 'good' : 'bad',
      ),
    ],
    ...(location === '' ? [] : [field('Backup', location), field('Taken', `${age(time, now)} ago`)]),
    ...(verified === '' ? [] : [field('Verified', `${verified}: ${MEANINGS[verified] ?? ''}`)]),
    ...doubts.map(doubt => field('But', toned(doubt, 'warn'))),
    field('Kept', `${older} verified of ${backup.status?.history?.length ?? 0}`),
    ...(verified === 'Restore'
      ? []
      : [field('Stronger', 'spec.verify: Restore restores each new backup in a pod and compares it')]),
  ];
}
