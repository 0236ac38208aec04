/** The approval of a recovery of a quorum that is lost for good: of exactly what is there, or nothing. Pure. */
import { expiryOf } from '../../api/derived/requests.ts';
import type { EtcdRequest } from '../../api/schemas/types.ts';
import { MOST_APPROVALS } from '../../api/values/request-answers.ts';
import { timestamp } from '../../api/values/time.ts';
import { idsOf, type Recovery, recoveryOf, windowOf } from '../checks/recovery.ts';
import type { Situation } from '../model/situation.ts';
import { asked, doneAtOnce, isAccepted, refusal } from './common.ts';
import { type Draft, withChange } from './draft.ts';

const OPERATION = 'recoverQuorum';
/** What is left of a message of 4096 characters when it is quoted in another one. */
const LONGEST = 3_500;

/** Lets the recovery begin that the request names in all its facts. */
export function recover(draft: Draft, request: EtcdRequest): Draft {
  const { situation, sent, holds } = draft;
  const { uid } = request.metadata;
  const { approvals = [] } = holds;
  const expiresAt = timestamp(expiryOf(request));
  const { ids = [], message = '' } = request.status ?? {};
  const isKnown = approvals.some(each => each.request === uid) || sent.spent?.includes(uid) === true;
  if (isKnown || isAccepted(request)) {
    const change = doneAtOnce(request, message, ids);
    return isKnown ? withChange(draft, change) : approved(draft, request, { ids, expiresAt, change });
  }
  const judged = judge(situation, request);
  if (typeof judged === 'string')
    return withChange(draft, refusal(request, `nothing is recovered: ${judged.slice(0, LONGEST)}`));
  const change = doneAtOnce(
    request,
    `the recovery from ${judged.survivor.name} is approved, and valid for one use until ${expiresAt}; ${windowOf(judged)}. The operator creates an EtcdRestore, which shows how far it is; until clients are admitted, deleting it returns to the members before`,
    idsOf(judged),
  );
  return approved(draft, request, { ids: idsOf(judged), expiresAt, change });
}

function approved(
  draft: Draft,
  request: EtcdRequest,
  {
    ids,
    expiresAt,
    change,
  }: {
    readonly ids: readonly string[];
    readonly expiresAt: string;
    readonly change: ReturnType<typeof doneAtOnce>;
  },
): Draft {
  const { approvals = [] } = draft.holds;
  const approval = { ...asked(request, draft.situation.now), operation: OPERATION, ids: [...ids], expiresAt };
  return {
    ...withChange(draft, change),
    holds: { ...draft.holds, approvals: [...approvals, approval].slice(-MOST_APPROVALS) },
  };
}

/** The recovery, or in which fact it is not what the request names. */
function judge(situation: Situation, { spec }: EtcdRequest): Recovery | string {
  const { member = '', recovery: asks } = spec;
  // v8 ignore next -- the schema asks for it
  if (asks === undefined) return 'the request names no facts';
  const waiting = situation.restores?.find(({ refusal: refused }) => refused === undefined);
  if (waiting !== undefined) return `EtcdRestore ${waiting.name} comes first; delete it`;
  const judged = recoveryOf(situation, { givenUp: asks.givenUp });
  if ('fault' in judged) return judged.fault;
  const { recovery } = judged;
  const { survivor, revision, clusterId, lastRevision } = recovery;
  if (asks.clusterID !== clusterId) return `the id of the cluster is ${clusterId}, and not ${asks.clusterID}`;
  if (member !== survivor.name && member !== survivor.id)
    return `${survivor.name} has the newest data of those that are left, and not ${member}`;
  if (asks.revision !== revision)
    return `${survivor.name} has revision ${revision}, and not ${asks.revision}`;
  if ((asks.lastRevision ?? 0) !== lastRevision)
    return `the highest revision that was observed is ${lastRevision}, and not ${asks.lastRevision ?? 0}`;
  const ids = recovery.givenUp.map(({ id }) => id);
  const lacking = ids.filter(id => !asks.givenUp.includes(id));
  const others = asks.givenUp.filter(id => !ids.includes(id));
  if (lacking.length > 0) return `the request does not give up ${lacking.join(', ')}`;
  return others.length > 0 ? `${others.join(', ')} is no other member` : recovery;
}
