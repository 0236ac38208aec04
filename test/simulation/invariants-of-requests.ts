/**
 * What must hold of EtcdRequests, judged from what is stored and from what is really so: each is accepted before anything comes of it, ends
 * once, is about the same to its end, and what is called done is done. Shares no code with the planner.
 */
import { OPERATION_REQUESTS, type RequestKind } from '../../src/api/actions.ts';
import type { EtcdRequest, EtcdRequestStatus } from '../../src/api/schemas/types.ts';
import type { KubeObject } from '../../src/kube/port.ts';
import type { Attempt } from './sim-calls.ts';
import type { SimKube } from './sim-kube.ts';

/** A pass that looked in time may write a little later. */
const LATE_MS = 600_000;

interface Seen {
  readonly kube: SimKube;
  /** Whether a quorum really has a member with this id. */
  readonly isMember: (id: string) => boolean;
  /** The clock of the operator, or of the world, has jumped. */
  readonly hasJumped: () => boolean;
}

/** What the operator writes of a pause by an EtcdRequest. */
interface Paused {
  readonly userRequests?: { readonly pause?: { readonly request: string } };
}

/** Why a request about these ids that is called done is not; undefined when nothing shows that. */
const NOT_DONE: Readonly<
  Record<RequestKind, (ids: readonly string[], seen: Pick<Seen, 'kube' | 'isMember'>) => string | undefined>
> = {
  restart(ids, { kube }) {
    const left = kube.all('Pod').find(pod => ids.includes(pod.metadata.uid ?? ''));
    return left && `it is done, and ${left.metadata.name} was not restarted`;
  },
  replaceMember(ids, { isMember }) {
    const left = ids.find(isMember);
    return left && `it is done, and ${left} is a member`;
  },
  // Members elect another leader at any time, also between the pass that saw it and the status that says so.
  moveLeader: () => undefined,
  // Clients write on, so a file has free space again as soon as it has none.
  defragment: () => undefined,
};

export class RequestInvariants {
  readonly #seen: Seen;
  /** Uids of requests that have paused the cluster. */
  readonly #paused = new Set<string>();

  constructor(seen: Seen) {
    this.#seen = seen;
  }

  /** Why this status must not be written; undefined when it may. */
  faultOfStatus(before: KubeObject | undefined, after: KubeObject): string | undefined {
    if (after.kind === 'EtcdCluster') return this.#faultOfPause(before, after);
    if (after.kind !== 'EtcdRequest') return undefined;
    const fault = this.#faultOfRequest(statusOf(before), after as unknown as EtcdRequest);
    return fault && `EtcdRequest ${after.metadata.name}: ${fault}`;
  }

  /** Why an attempt must not do anything yet; undefined when it may. */
  faultOfAttempt({ step }: Attempt): string | undefined {
    const { approvals = [], requests = [] } = step?.plannedUpon ?? {};
    const uids = [...approvals, ...requests].flatMap(({ id }) => (typeof id === 'string' ? [id] : []));
    const early = this.#stored().find(
      ({ metadata, status }) => uids.includes(metadata.uid) && !isAccepted(status),
    );
    return early && `${step?.kind} follows from EtcdRequest ${early.metadata.name}, which is not accepted`;
  }

  #faultOfPause(before: KubeObject | undefined, after: KubeObject): string | undefined {
    const pauseOf = (object: KubeObject | undefined) =>
      (object?.['status'] as Paused | undefined)?.userRequests?.pause?.request;
    const uid = pauseOf(after);
    if (uid === undefined || uid === pauseOf(before)) return undefined;
    const request = this.#stored().find(({ metadata }) => metadata.uid === uid);
    if (request !== undefined && !isAccepted(request.status))
      return `EtcdRequest ${request.metadata.name} pauses the cluster before it is accepted`;
    // Somebody may take the status away, and with it what has paused the cluster.
    if (this.#paused.has(uid)) return `the EtcdRequest ${uid} pauses the cluster once more`;
    this.#paused.add(uid);
    return undefined;
  }

  #faultOfRequest(
    before: EtcdRequestStatus,
    { metadata, spec, status = {} }: EtcdRequest,
  ): string | undefined {
    if (before.completedAt !== undefined) return 'it has ended, and is written again';
    if (!isAccepted(before)) {
      if (['Completed', 'Aborted', 'Failed'].includes(status.phase ?? ''))
        return `it is ${status.phase}, and was never accepted`;
      const { expiresAfterSeconds = 3_600 } = spec;
      const expiry = Date.parse(metadata.creationTimestamp ?? '') + expiresAfterSeconds * 1_000;
      const isLate = this.#seen.kube.now() > expiry + LATE_MS && !this.#seen.hasJumped();
      return isLate && status.phase === 'Accepted' ? 'it is accepted after its time' : undefined;
    }
    if (status.phase === 'Pending') return 'it was accepted, and waits again';
    const { ids = [] } = status;
    const was = before.ids?.join() ?? '';
    if (was !== ids.join()) return `it was about ${was}, and is about ${ids.join()}`;
    if (status.phase !== 'Completed') return undefined;
    const kind = OPERATION_REQUESTS.find(({ action }) => action === spec.action)?.kind;
    return kind && NOT_DONE[kind](ids, this.#seen);
  }

  #stored(): readonly EtcdRequest[] {
    return this.#seen.kube.all('EtcdRequest') as unknown as EtcdRequest[];
  }
}

function statusOf(object: KubeObject | undefined): EtcdRequestStatus {
  return (object?.['status'] ?? {}) as EtcdRequestStatus;
}

function isAccepted({ phase = 'Pending' }: EtcdRequestStatus = {}): boolean {
  return phase !== 'Pending';
}
