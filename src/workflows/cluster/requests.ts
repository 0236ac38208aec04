/**
 * What people ask to have done. A request is kept until a pass says that it is done or refused; what it means is the
 * planner's business. Pure.
 */
import type { Actor, Assessment } from '../../activities/index.ts';
import type { Request } from '../messages/resource.ts';
import { isText, words } from '../messages/words.ts';

export type PersonRequest = NonNullable<Actor['requests']>[number];
export type Verdict = NonNullable<Assessment['verdicts']>[number];

/** As many may wait for each other. */
const MOST = 10;

/** What people said of requests, as far as passes change it. */
interface Asked {
  readonly requests: readonly PersonRequest[];
  readonly judged: readonly Verdict[];
  readonly refused: string | undefined;
}

/** Takes in what a pass said of the requests. `isNew`: the next pass can go on with one that was accepted. */
export function afterVerdicts(
  asked: Asked,
  verdicts: readonly Verdict[],
): Asked & { readonly isNew: boolean } {
  let { requests, judged, refused } = asked;
  let isNew = false;
  for (const verdict of verdicts) {
    const request = requests.find(({ id }) => id === verdict.id);
    if (request === undefined) continue;
    judged = [...judged.filter(({ id }) => id !== verdict.id), verdict].slice(-MOST);
    if (verdict.outcome !== 'accepted') {
      requests = requests.filter(({ id }) => id !== verdict.id);
      if (verdict.outcome === 'refused') refused = `${request.kind}: ${verdict.message}`;
    } else if (request.ids === undefined) {
      // What it is about is settled once: a restart would otherwise meet the pods that it made.
      const accepted = { ...request, ids: verdict.ids };
      requests = requests.map(each => (each.id === verdict.id ? accepted : each));
      isNew = true;
    }
  }
  return { requests, judged, refused, isNew };
}

interface Sent {
  readonly kind: PersonRequest['kind'];
  readonly field: 'member' | 'to';
  readonly sent: unknown;
}

/** What was sent, as a request that can be put on the list, or why it cannot. */
export function requestOf(
  { requests, nextId }: { readonly requests: readonly PersonRequest[]; readonly nextId: number },
  { kind, field, sent }: Sent,
): PersonRequest | string {
  const given = (sent ?? {}) as Request & Record<string, unknown>;
  const target = given[field];
  const example = JSON.stringify({ [field]: 'example-1', by: 'ana', reason: 'its node is retired' });
  if (!isText(given.by)) return `"by" must name the person who asks: send ${example}`;
  if (target !== undefined && !isText(target))
    return `"${field}" must be the name of a member: send ${example}`;
  if (target === undefined && kind !== 'restart') return `"${field}" is missing: send ${example}`;
  const twin = requests.find(each => each.kind === kind && each.target === (target ?? ''));
  if (twin !== undefined) return `${twin.by} has already sent the same request, and it is not complete yet`;
  if (requests.length >= MOST) return `${MOST} requests are already waiting: send abort to revoke them`;
  return {
    id: nextId,
    kind,
    target: target === undefined ? '' : words(target),
    by: words(given.by),
    ...(isText(given.reason) && { reason: words(given.reason) }),
  };
}
