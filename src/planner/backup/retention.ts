/**
 * Which backups are kept. By time, never by name; the newest, and the newest of each verification, always stay, and none goes
 * because of one that is not to be trusted. Pure.
 */
import {
  type BackupVerification,
  type RetentionPolicy,
  VERIFICATIONS,
} from '../../api/defaults/etcd-backup.ts';
import { timeZoneFault } from '../../api/values/cron.ts';
import { DAY, dateOf, HOUR, wallClock } from './calendar.ts';

/** One backup, as far as it matters here. */
export interface KeptBackup {
  readonly location: string;
  /** When it was taken, in milliseconds since the epoch. */
  readonly time: number;
  /** How; empty: not at all. */
  readonly verified: BackupVerification | '';
}

/**
 * The backups to delete, oldest first. `backups` are those of one EtcdBackup and of nobody else. Periods without a backup do not
 * count: after a long time down, what is there stays. Nothing goes while nobody knows when a day begins. Backups of a time that is
 * still to come, from when the clock was ahead, are left alone until it has come: what is made meanwhile would be older than they.
 * @param at `now` in milliseconds since the epoch, where days, weeks and months begin, and the locations that somebody still reads from
 */
export function toDelete<Backup extends KeptBackup>(
  backups: readonly Backup[],
  policy: RetentionPolicy,
  {
    timeZone,
    now,
    needed = [],
  }: { readonly timeZone: string; readonly now: number; readonly needed?: readonly string[] | undefined },
): readonly Backup[] {
  if (policy.kind === 'all' || timeZoneFault(timeZone) !== undefined) return [];
  const newestFirst = backups
    .filter(({ time }) => time <= now)
    .toSorted((a, b) => b.time - a.time || (a.location < b.location ? 1 : -1));
  const isTrusted = ({ verified }: Backup): boolean => verified !== '';
  // Each for itself: a bad backup takes no good one's place, nor do good ones drive out all that is left should a verification err.
  const kept = new Set<Backup>([
    ...asPolicySays(newestFirst.filter(isTrusted), policy, timeZone),
    ...asPolicySays(
      newestFirst.filter(backup => !isTrusted(backup)),
      policy,
      timeZone,
    ),
  ]);
  const newest = newestFirst[0];
  if (newest !== undefined) kept.add(newest);
  for (const level of VERIFICATIONS) {
    const best = newestFirst.find(
      ({ verified }) => verified !== '' && VERIFICATIONS.indexOf(verified) >= VERIFICATIONS.indexOf(level),
    );
    if (best !== undefined) kept.add(best);
  }
  return newestFirst.filter(backup => !kept.has(backup) && !needed.includes(backup.location)).toReversed();
}

function asPolicySays<Backup extends KeptBackup>(
  newestFirst: readonly Backup[],
  policy: Exclude<RetentionPolicy, { kind: 'all' }>,
  timeZone: string,
): readonly Backup[] {
  if (policy.kind === 'count') return newestFirst.slice(0, policy.count);
  return TIERS.flatMap(tier => newestOfEach(newestFirst, at => tier.period(at, timeZone), policy[tier.name]));
}

interface Tier {
  readonly name: 'hourly' | 'daily' | 'weekly' | 'monthly';
  /** A text that is the same within one period and another in the next. */
  readonly period: (at: number, timeZone: string) => string;
}

const TIERS: readonly Tier[] = [
  // An hour that the clock repeats is two hours.
  { name: 'hourly', period: (at, timeZone) => `${hourOf(at, timeZone)}` },
  { name: 'daily', period: (at, timeZone) => `${dayOf(at, timeZone)}` },
  // Weeks begin on Monday (ISO 8601); day 0 was a Thursday.
  { name: 'weekly', period: (at, timeZone) => `${Math.floor((dayOf(at, timeZone) + 3) / 7)}` },
  { name: 'monthly', period: (at, timeZone) => monthOf(dayOf(at, timeZone)) },
];

/** The newest backup of each of the last `count` periods that have one. */
function newestOfEach<Backup extends KeptBackup>(
  newestFirst: readonly Backup[],
  periodOf: (at: number) => string,
  count: number,
): readonly Backup[] {
  const newest = new Map<string, Backup>();
  for (const backup of newestFirst) {
    if (newest.size >= count) break;
    const period = periodOf(backup.time);
    if (!newest.has(period)) newest.set(period, backup);
  }
  return [...newest.values()];
}

function dayOf(at: number, timeZone: string): number {
  return Math.floor(wallClock(at, timeZone) / DAY);
}

function hourOf(at: number, timeZone: string): string {
  const wall = wallClock(at, timeZone);
  return `${Math.floor(wall / HOUR)} ${wall - at}`;
}

function monthOf(day: number): string {
  const { year, month } = dateOf(day);
  return `${year}-${month}`;
}
