/** Every alert of this operator. Rules, the chart and docs/operations/alerts.md are generated from it. Names are stable. */
import type { Alert, Group } from './alert.ts';
import { BACKUPS, CERTIFICATES } from './backups.ts';
import { CLUSTERS } from './clusters.ts';
import { MEMBERS } from './members.ts';
import { OPERATOR } from './operator.ts';
import { WAITING } from './waiting.ts';

/** In the order of the documentation. */
export const GROUPS: readonly Group[] = [CLUSTERS, WAITING, BACKUPS, CERTIFICATES, OPERATOR, MEMBERS];

export const ALERTS: readonly Alert[] = GROUPS.flatMap(({ alerts }) => alerts);

/** The page with the runbooks; an alert links to its section. The chart has another one in its place, if `rules.runbookUrl` is set. */
export const RUNBOOKS = 'docs/operations/alerts.md';

/** As GitHub makes an anchor of the heading of the section. */
export const anchorOf = ({ name }: Pick<Alert, 'name'>): string => name.toLowerCase();
