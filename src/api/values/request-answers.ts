/** What users are answered, and the limits that hold, whether they asked by an EtcdRequest or by a message to the workflow. Pure. */

/** As many requests of one resource may wait for each other. */
export const MOST_REQUESTS = 10;
/** As many approvals are remembered; a plan waits for one at a time. */
export const MOST_APPROVALS = 16;

export const PAUSED = 'paused: no further step is performed';
export const NOTHING_TO_ABORT = 'nothing to abort: no operation is running';

interface Requested {
  readonly kind: string;
  readonly target: string;
}

/** How users ask for something, whether they have kubectl or Temporal: the command and the signal have the same name. */
export function howToAsk(command: string): string {
  return `use "kubectl etcd ${command}" (an EtcdRequest) or send the signal ${command}`;
}

/** Why a request is not put on the list of those that wait; undefined: it is. */
export function whyNotListed(
  waiting: readonly (Requested & { readonly by: string })[],
  { kind, target }: Requested,
): string | undefined {
  const twin = waiting.find(each => each.kind === kind && each.target === target);
  if (twin !== undefined) return `${twin.by} has already sent the same request, and it is not complete yet`;
  if (waiting.length < MOST_REQUESTS) return undefined;
  return `${MOST_REQUESTS} requests are already waiting; to revoke them, ${howToAsk('abort')}`;
}

/** The answer to an approval. @param until RFC 3339 */
export function approvedUntil(operation: string, ids: readonly string[], until: string): string {
  return `${operation} of ${ids.join(', ')} is approved; the approval is valid for one use until ${until}`;
}

/** The answer to an approval that nothing waits for. @param consent what the plan waits for */
export function nothingWaitsFor(consent: object | undefined): string {
  const needed =
    consent === undefined ? 'the plan needs no approval' : `the plan needs ${JSON.stringify(consent)}`;
  return `nothing waits for this approval: ${needed}`;
}

/** The answer to an abort of the operation that is running. */
export function endsAtNextStep(operation: string): string {
  return `${operation} ends at its next step`;
}

/** The answer to an abort of an operation that waits. */
export function doesNotRun(operation: string): string {
  return `${operation} does not run until the specification changes or a resync is requested`;
}

/** The answer to an abort of requests that wait. */
export function revoked(requests: readonly Requested[]): string {
  return `revoked: ${requests.map(({ kind, target }) => `${kind} ${target}`.trim()).join(', ')}`;
}
