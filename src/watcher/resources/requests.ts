/** The EtcdRequests that exist: which resource each concerns, when it has to be looked at again, and how many are open. */
import { createdAt, isOpen, removalOf, targetOf } from '../../api/derived/requests.ts';
import { REQUEST_KIND, type ResourceRef } from '../../api/names.ts';
import type { EtcdRequest } from '../../api/schemas/types.ts';
import type { KubeObject } from '../../kube/port.ts';
import type { StoreChange } from '../../kube/store.ts';
import { at } from '../model/json.ts';
import { keyOf, refOf } from './owner-key.ts';
import { slimMeta } from './slim.ts';

export interface RequestFigures {
  /** Not accepted yet, nor refused. */
  readonly waiting: number;
  /** Accepted, and under way. */
  readonly accepted: number;
  /** When the oldest that waits was created, in milliseconds since the epoch; undefined: none waits. */
  readonly oldestWaiting: number | undefined;
}

/** The resource of a name, as it exists now. */
type Find = (of: Omit<ResourceRef, 'uid'>) => { readonly ref: ResourceRef } | undefined;

/** The resource that a request names may be created a moment later; and what could not be deleted is tried again. */
const AGAIN_MS = 10_000;

/** Identity, specification and status. Labels and annotations say nothing to the operator. */
export function slimRequest(object: KubeObject): KubeObject {
  return { ...slimMeta(object), spec: object['spec'], status: object['status'] };
}

interface Known {
  readonly request: EtcdRequest;
  /** Whether its resource was enqueued for it. */
  isEnqueued: boolean;
  /** Milliseconds since the epoch. */
  notBefore: number;
}

export class KnownRequests {
  readonly #find: Find;
  readonly #known = new Map<string, Known>();

  constructor(find: Find) {
    this.#find = find;
  }

  /** The key to enqueue: of the resource of one that is open, or was deleted before it was done. */
  note({ type, object }: StoreChange): string | undefined {
    const request = requestOf(object);
    if (request === undefined) return undefined;
    const { uid } = request.metadata;
    const key = isOpen(request) ? this.#resourceOf(request) : undefined;
    if (type === 'deleted') this.#known.delete(uid);
    else this.#known.set(uid, { request, isEnqueued: key !== undefined, notBefore: 0 });
    return key;
  }

  /**
   * The keys of resources that were not known when their requests were seen, or whose passes have to delete a finished one; and of
   * requests without a resource, which a pass refuses.
   */
  due(now: number): readonly string[] {
    const keys = [...this.#known.values()].flatMap(known => {
      const { request, isEnqueued, notBefore } = known;
      const key = this.#resourceOf(request);
      const dueAt = removalOf(request) ?? (key === undefined ? createdAt(request) + AGAIN_MS : 0);
      const isDone = isOpen(request) && key !== undefined && isEnqueued;
      if (isDone || now < Math.max(dueAt, notBefore)) return [];
      known.isEnqueued = key !== undefined;
      known.notBefore = now + AGAIN_MS;
      return [key ?? orphanKey(request)];
    });
    return [...new Set(keys)];
  }

  /** Whether a key stands for a request without a resource. */
  isOrphan(key: string): boolean {
    return this.#known.has(refOf(key).uid);
  }

  figures(): RequestFigures {
    const open = [...this.#known.values()].map(({ request }) => request).filter(isOpen);
    const waiting = open.filter(({ status }) => status?.phase !== 'Accepted');
    return {
      waiting: waiting.length,
      accepted: open.length - waiting.length,
      // Not spread into Math.min: there may be more than a call takes arguments.
      oldestWaiting: waiting.map(createdAt).toSorted((a, b) => a - b)[0],
    };
  }

  #resourceOf({ metadata: { namespace }, spec }: EtcdRequest): string | undefined {
    const found = this.#find({ ...targetOf(spec), namespace });
    return found && keyOf(found.ref);
  }
}

/** The object as an EtcdRequest; undefined: it is none, or lacks what the API server fills in. */
function requestOf(object: KubeObject): EtcdRequest | undefined {
  const { namespace, uid } = object.metadata;
  if (object.kind !== REQUEST_KIND || namespace === undefined || uid === undefined) return undefined;
  return typeof at(object, 'spec', 'action') === 'string' ? (object as unknown as EtcdRequest) : undefined;
}

/** Its pass finds no resource with the uid of a request, and says so in the requests of the name. */
function orphanKey({ metadata: { namespace, uid }, spec }: EtcdRequest): string {
  return keyOf({ ...targetOf(spec), namespace, uid });
}
