/**
 * What is written into the status of a resource while no pass writes it: that nobody looks after it, and so does not know what the last pass
 * said. The next pass that succeeds takes it back. Pure.
 */
import { type Condition, type ConditionFinding, finding, type ReasonOf } from '../conditions/catalogue.ts';
import { stamped } from '../conditions/stamped.ts';
import type { Kind } from '../names.ts';
import type { EtcdClusterStatus } from '../schemas/types.ts';
import { timestamp } from '../values/time.ts';
import { readinessUnobserved } from './readiness.ts';
import { attentionOf } from './state-of-cluster.ts';

export interface FindingBesidePasses {
  readonly type: 'TemporalUnavailable' | 'WorkflowStuck' | 'PassFailing';
  readonly status: Condition['status'];
  readonly reason: ConditionFinding['reason'];
  readonly message: string;
  /** Written in place of conditions that the last pass set and that nobody observes any more; the next pass sets them again. */
  readonly instead?: readonly Pick<Condition, 'type' | 'status' | 'reason' | 'message'>[];
}

/** No pass of a resource has succeeded since then. @param text begins after the time */
export function passFailing(
  kind: Kind,
  {
    reason,
    text,
    since,
  }: { readonly reason: ReasonOf<'PassFailing'>; readonly text: string; readonly since: Date },
): FindingBesidePasses {
  const from = `Since ${timestamp(since.getTime())}`;
  const { status, message } = finding('PassFailing', reason, `${from} ${text}`);
  const unseen = `${from} this was not observed: see the condition PassFailing.`;
  const instead = [finding('Available', 'NotLookedAt', unseen), readinessUnobserved(unseen)];
  return { type: 'PassFailing', status, reason, message, ...(kind === 'EtcdCluster' && { instead }) };
}

/** Errors are long; what matters of one stands at its beginning. */
const LONGEST_FAILURE = 500;

/** Its passes run and fail. */
export function passFails(
  kind: Kind,
  { message, since }: { readonly message: string; readonly since: Date },
): FindingBesidePasses {
  const error = message.slice(0, LONGEST_FAILURE);
  const text = `no pass of this resource has succeeded: ${error}. The operator retries; remove the cause of the failure.`;
  return passFailing(kind, { reason: 'PassFails', text, since });
}

/** A pass succeeds: what was said of those that failed is taken back; everything else stays. */
export function passSucceeded(conditions: readonly Condition[], now: string): readonly Condition[] {
  const { type, status, reason, message } = finding('PassFailing', 'PassesSucceed');
  return conditions.map(condition =>
    condition.type === type && condition.status !== status
      ? {
          ...condition,
          ...stamped({ type, status, reason, message }, conditions, { now, generation: undefined }),
        }
      : condition,
  );
}

/** What the finding is written onto, as it was read. */
interface Written {
  readonly kind: string;
  readonly metadata: { readonly generation?: number | undefined };
  readonly status?: unknown;
}

/** The status fields to write: the finding among the conditions as they are now, and what the column Attention shows from then on (null: nothing). */
export function statusWith(
  { kind, metadata, status }: Written,
  { instead = [], ...own }: FindingBesidePasses,
  now: string,
): { readonly conditions: readonly Condition[]; readonly attention?: string | null } {
  const { generation } = metadata;
  const before = (status as { readonly conditions?: readonly Condition[] } | undefined)?.conditions ?? [];
  const replaced = instead.filter(({ type }) => before.some(condition => condition.type === type));
  const written = [own, ...replaced].map(said => stamped(said, before, { now, generation }));
  const others = before.map(condition => written.find(({ type }) => type === condition.type) ?? condition);
  const added = written.filter(({ type }) => !before.some(condition => condition.type === type));
  const conditions = [...others, ...added];
  if (kind !== 'EtcdCluster') return { conditions };
  const judged = { ...(status as EtcdClusterStatus), conditions };
  return { conditions, attention: attentionOf({ metadata: { generation }, status: judged }) ?? null };
}
