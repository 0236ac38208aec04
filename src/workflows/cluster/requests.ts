/**
 * The requests of users. A request is kept until a pass finds it done or refused; only the planner knows what it means. Pure.
 */
import type { WorkflowState, Assessment } from '../../activities/index.ts';
import type { OPERATION_REQUESTS } from '../../api/actions.ts';
import { MOST_REQUESTS, whyNotListed } from '../../api/values/request-answers.ts';
import type { Request } from '../../api/values/requests.ts';
import { identityText, isText, shortText } from '../messages/text.ts';

export type UserRequest = NonNullable<WorkflowState['requests']>[number];
export type Verdict = NonNullable<Assessment['verdicts']>[number];

type OperationRequest = (typeof OPERATION_REQUESTS)[number];

/** The requests and their verdicts, as far as passes change them. */
interface Asked {
  readonly requests: readonly UserRequest[];
  readonly judged: readonly Verdict[];
  readonly refused: string | undefined;
}

/** Takes in the verdicts of a pass. `isNew`: the next pass can go on with one that was accepted. */
export function afterVerdicts(
  asked: Asked,
  verdicts: readonly Verdict[],
): Asked & { readonly isNew: boolean } {
  let { requests, judged, refused } = asked;
  let isNew = false;
  for (const verdict of verdicts) {
    const request = requests.find(({ id }) => id === verdict.id);
    if (request === undefined) continue;
    judged = [...judged.filter(({ id }) => id !== verdict.id), verdict].slice(-MOST_REQUESTS);
    if (verdict.outcome !== 'accepted') {
      requests = requests.filter(({ id }) => id !== verdict.id);
      if (verdict.outcome === 'refused') refused = `${request.kind}: ${verdict.message}`;
    } else if (request.ids === undefined) {
      // Its ids are fixed once: a restart would otherwise include the pods that it has created.
      const accepted = { ...request, ids: verdict.ids };
      requests = requests.map(each => (each.id === verdict.id ? accepted : each));
      isNew = true;
    }
  }
  return { requests, judged, refused, isNew };
}

/** The field of a message that names the member; undefined: it names none. */
export function fieldOfMember(form: OperationRequest): string | undefined {
  return form.member === 'none' ? undefined : form.field;
}

/** What was sent, as a request that can be put on the list, or why it cannot. */
export function requestOf(
  { requests, nextId }: { readonly requests: readonly UserRequest[]; readonly nextId: number },
  form: OperationRequest,
  sent: unknown,
): UserRequest | string {
  const { kind, member } = form;
  const field = fieldOfMember(form);
  const given = (sent ?? {}) as Request & Record<string, unknown>;
  const target = field === undefined ? undefined : given[field];
  const named = field === undefined ? {} : { [field]: 'example-1' };
  const example = JSON.stringify({ ...named, by: 'ana', reason: 'its node is retired' });
  if (!isText(given.by)) return `"by" must name the person who asks: send ${example}`;
  if (target !== undefined && !isText(target))
    return `"${field}" must be the name of a member: send ${example}`;
  if (target === undefined && member === 'required') return `"${field}" is missing: send ${example}`;
  const why = whyNotListed(requests, { kind, target: target ?? '' });
  if (why !== undefined) return why;
  return {
    id: nextId,
    kind,
    target: target === undefined ? '' : shortText(target),
    by: identityText(given.by),
    ...(isText(given.reason) && { reason: shortText(given.reason) }),
  };
}
