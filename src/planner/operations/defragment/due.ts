/**
 * Which members are due for a defragmentation: one that a user asked for, one that the schedule finds fragmented, and one whose database is near
 * its quota while much of its file is free. Pure.
 */
import type { ClusterConfig } from '../../../api/defaults/etcd-cluster.ts';
import { parseDurationSeconds } from '../../../api/values/quantity.ts';
import { type CronSchedule, firstAfter, lastUntil } from '../../backup/cron-times.ts';
import { readable } from '../../backup/schedule.ts';
import { askedIds, requestUnderWay } from '../../checks/user-requests.ts';
import { attribution, type UserRequest } from '../../model/workflow-state.ts';
import type { MemberView } from '../../model/member-view.ts';
import type { Situation } from '../../model/situation.ts';

type Rule = NonNullable<ClusterConfig['maintenance']['defragment']>;

/** How long after a time of the schedule members that need it then may still begin. */
const ROUND_MS = 3_600_000;
/** Of the quota: from here on a member does not wait for the schedule. */
const NEAR_QUOTA = 0.8;
/** One that it did not help, or that ended over it, is not tried again at once. */
export const AGAIN_MS = 3_600_000;

/** A member that is to be defragmented, and why. */
export interface Due {
  readonly view: MemberView;
  readonly because: string;
}

/** The members that are due now, followers in the order of their serials, the leader last. */
export function dueMembers(situation: Situation): Due[] {
  const found = situation.members.flatMap((view): Due[] => {
    const because = whyDue(situation, view);
    return because === undefined ? [] : [{ view, because }];
  });
  return found.sort((a, b) => Number(a.view.leads) - Number(b.view.leads));
}

/** Whether a defragmentation can be asked of it: of a learner etcd refuses it, and what users added they look after. */
export function canBe({ ours, isLearner, started }: MemberView): boolean {
  return ours && !isLearner && started;
}

/** Whether it was defragmented since the request was accepted. */
export function isDoneFor({ at = 0 }: UserRequest, { pod }: MemberView): boolean {
  return (pod?.defragmentedAt ?? 0) >= Math.max(at, 1);
}

function whyDue(situation: Situation, view: MemberView): string | undefined {
  const { now, cluster } = situation;
  const { probe, pod } = view;
  if (!canBe(view) || probe === undefined || pod === undefined) return undefined;
  const last = pod.defragmentedAt ?? 0;
  const request = requestUnderWay(situation);
  const isAsked = request !== undefined && askedIds(situation, 'defragment').includes(view.id);
  if (isAsked && !isDoneFor(request, view)) return `${attribution(request)} requested it`;
  const rule = cluster.config.maintenance.defragment;
  const free = probe.dbSize - probe.dbSizeInUse;
  if (rule === undefined || free * 100 < rule.fragmentation * probe.dbSize) return undefined;
  const { quotaBackendBytes: quota } = cluster.config.etcd;
  if (probe.dbSize >= NEAR_QUOTA * quota && now - last >= AGAIN_MS)
    return `its database is near the quota, and ${rule.fragmentation} % of it or more is free`;
  if (free < rule.freeBytes) return undefined;
  const round = roundAt(rule, now);
  return round !== undefined && last < round ? 'spec.maintenance.defragment asks for it' : undefined;
}

/** The time of the schedule whose members may begin now; undefined: none. */
function roundAt(rule: Rule, now: number): number | undefined {
  const round = lastOf(roundsOf(rule), now);
  return round !== undefined && now - round < ROUND_MS && isOpen(rule, now) ? round : undefined;
}

/** The next time of the schedule, in milliseconds since the epoch; undefined: there is none. */
export function nextRound(rule: Rule | undefined, now: number): number | undefined {
  const schedule = rule && roundsOf(rule);
  return schedule && firstAfter(schedule, now);
}

/** Whether a defragmentation may begin at this time of day. */
function isOpen({ window }: Rule, now: number): boolean {
  if (window === undefined) return true;
  const [hour, minute] = window.start.split(':').map(Number);
  const opened = lastOf(inZone(`${minute} ${hour} * * *`, window.timeZone), now);
  return opened !== undefined && now - opened < (parseDurationSeconds(window.duration) ?? 0) * 1_000;
}

function roundsOf({ schedule, window }: Rule): CronSchedule | undefined {
  return schedule === undefined ? undefined : inZone(schedule, window?.timeZone);
}

function inZone(expression: string, timeZone = 'UTC'): CronSchedule | undefined {
  return readable({ expression, timeZone });
}

function lastOf(schedule: CronSchedule | undefined, now: number): number | undefined {
  return schedule && lastUntil(schedule, now);
}
