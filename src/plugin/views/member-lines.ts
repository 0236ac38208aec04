/** The members of a cluster: what the status says of them, and what they said when they were asked. Pure. */
import type { EtcdCluster, MemberHealth } from '../../api/schemas/types.ts';
import type { AskedNow, MemberAsked } from '../members/asked.ts';
import { alarmsOf } from './alarms.ts';
import { type Line, type Span, table, toned, type Tone } from './lines.ts';
import { bytes } from '../../api/values/sizes.ts';

const HEALTH: Readonly<Record<MemberHealth, Tone>> = { Healthy: 'good', Unhealthy: 'bad', Unknown: 'warn' };

/** As of the alert EtcdDatabaseNearQuota. */
const NEAR_QUOTA_PERCENT = 80;
/** etcd refuses writes at a member that has so many entries to apply (maxGapBetweenApplyAndCommitIndex). */
const FAR_BEHIND = 5_000;

const HEADER = [
  'MEMBER',
  'HEALTH',
  'READY',
  'ROLE',
  'VERSION',
  'LAG',
  'DB',
  'IN USE',
  'QUOTA',
  'ALARM',
  'ID',
  'NODE',
];

/** A table of the members; without `asked`, what only they can say is `-`. */
export function memberLines(cluster: EtcdCluster, asked: AskedNow | undefined): readonly Line[] {
  const { details = [], unready = [] } = cluster.status?.members ?? {};
  if (details.length === 0) return [];
  const alarms = alarmsOf(cluster);
  const rows = details.map((member): readonly Span[] => {
    const figures = asked?.members.find(({ name }) => name === member.name);
    return [
      member.name,
      toned(member.health, HEALTH[member.health] ?? 'warn'),
      unready.includes(member.name) ? toned('no', 'warn') : 'yes',
      roleOf(member.role, figures),
      member.version ?? '-',
      lagOf(figures),
      bytes(figures?.dbSize),
      bytes(figures?.dbSizeInUse),
      quotaOf(figures),
      alarmOf(alarms, member.id),
      member.id ?? '-',
      member.lostSince === undefined ? (member.node ?? '-') : toned(`lost since ${member.lostSince}`, 'bad'),
    ];
  });
  return [[], ...table(HEADER, rows), ...notes(asked)];
}

/** The status may be a minute old where the leader is concerned. */
function roleOf(role: string | undefined, { isLeader, hasLeader }: Partial<MemberAsked> = {}): Span {
  if (hasLeader === false) return toned('no leader', 'bad');
  if (isLeader === true) return 'Leader';
  return role === 'Leader' && isLeader === false ? 'Follower' : (role ?? '-');
}

function lagOf({ lag }: Partial<MemberAsked> = {}): Span {
  if (lag === undefined) return '-';
  return lag >= FAR_BEHIND ? toned(`${lag}`, 'bad') : `${lag}`;
}

function quotaOf({ dbSize, dbQuota }: Partial<MemberAsked> = {}): Span {
  if (dbSize === undefined || dbQuota === undefined) return '-';
  const percent = Math.round((dbSize / dbQuota) * 100);
  const text = `${percent}% of ${bytes(dbQuota)}`;
  return percent >= NEAR_QUOTA_PERCENT ? toned(text, 'warn') : text;
}

function alarmOf(alarms: ReturnType<typeof alarmsOf>, id: string | undefined): Span {
  if (alarms === undefined || id === undefined) return '-';
  const raised = alarms.get(id) ?? [];
  return raised.length === 0 ? 'none' : toned(raised.join(','), 'bad');
}

function notes(asked: AskedNow | undefined): readonly Line[] {
  if (asked === undefined) return [];
  const { at, members, notAnswered } = asked;
  const time = at.replace(/\.\d+/, '');
  return [
    ...(members.length === 0
      ? []
      : [[toned(`Lag, database and quota: asked from the members at ${time}`, 'dim')] satisfies Line]),
    ...notAnswered.map(
      ({ members: silent, reason }): Line => [
        toned(`Lag, database and quota of ${silent.join(', ')} are not known: ${reason}`, 'warn'),
      ],
    ),
  ];
}
