/**
 * One heavy operation a member at a time: a snapshot beside a defragmentation keeps the member from answering until the
 * snapshot's reader is done, and two snapshots double the load. The slot is a Lease beside the member's pod, which goes
 * with the pod; it is renewed while the work goes on and free again soon after its holder died.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { isAlreadyExists, isConflict, isNotFound } from '../kube/errors.ts';
import { microTime, readLease } from '../kube/lease.ts';
import type { KubeObject, ObjectRef } from '../kube/port.ts';
import type { Dependencies } from './dependencies.ts';

const LEASE = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease' } as const;
/** After this long without renewal the holder is taken for dead. */
const DURATION_MS = 30_000;
const RENEW_MS = 8_000;
/** After this long without renewal the holder takes itself for dead: before anybody else does. */
const KEEP_MS = 25_000;
const TICK_MS = 2_000;
const LOOK_MS = 1_000;

export interface MemberSlot {
  /** The pod of the member; undefined for a member that is not managed here: nobody else works on it for us. */
  readonly pod: { readonly namespace: string; readonly name: string; readonly uid: string } | undefined;
  /** Who does the work, for people. One holder does one thing at a time. */
  readonly holder: string;
  /** Ends the waiting for the slot. */
  readonly signal: AbortSignal;
}

/** Waits for the slot, does the work in it, and frees it. The work's signal is aborted when the slot was lost. */
export async function withMemberSlot<Result>(
  deps: Pick<Dependencies, 'kube' | 'now'>,
  { pod, holder, signal }: MemberSlot,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  if (pod === undefined) return work(signal);
  const slot = new Slot(deps, pod, holder);
  let heldSince = performance.now();
  while (!(await slot.take())) {
    await delay(LOOK_MS, undefined, { signal });
    heldSince = performance.now();
  }
  const kept = keep(slot, heldSince);
  try {
    return await work(AbortSignal.any([signal, kept.lost]));
  } finally {
    kept.end();
    await slot.free();
  }
}

/** Fires `lost` when somebody else has the slot, or may soon have it: a renewal that fails is tried again until then. */
function keep(slot: Slot, takenAt: number): { readonly lost: AbortSignal; readonly end: () => void } {
  const lost = new AbortController();
  let heldSince = takenAt;
  let isRenewing = false;
  let trouble: unknown;
  const renew = async (): Promise<void> => {
    const begun = performance.now();
    isRenewing = true;
    try {
      await slot.renew();
      heldSince = begun;
    } catch (error) {
      trouble = error;
      if (error instanceof SlotTaken) lost.abort(error);
    } finally {
      isRenewing = false;
    }
  };
  const ticks = setInterval(() => {
    const age = performance.now() - heldSince;
    if (age >= KEEP_MS)
      lost.abort(trouble ?? new Error('the slot of the member could not be renewed in time'));
    else if (age >= RENEW_MS && !isRenewing) void renew();
  }, TICK_MS);
  return { lost: lost.signal, end: () => clearInterval(ticks) };
}

class SlotTaken extends Error {
  override readonly name = 'SlotTaken';
}

class Slot {
  readonly #deps: Pick<Dependencies, 'kube' | 'now'>;
  readonly #ref: ObjectRef;
  readonly #pod: NonNullable<MemberSlot['pod']>;
  readonly #holder: string;
  /** What another holder was last seen to have written, and when. Clocks differ: only our own is asked. */
  #seen: { readonly version: string | undefined; readonly at: number } | undefined;

  constructor(deps: Pick<Dependencies, 'kube' | 'now'>, pod: NonNullable<MemberSlot['pod']>, holder: string) {
    this.#deps = deps;
    this.#pod = pod;
    this.#holder = holder;
    this.#ref = { ...LEASE, namespace: pod.namespace, name: `${pod.name}-maintenance` };
  }

  /** False while somebody else holds it. */
  async take(): Promise<boolean> {
    const { kube, now } = this.#deps;
    const found = await kube.get(this.#ref);
    if (found === undefined) return this.#won(kube.create(this.#object(this.#holder)));
    const { holder } = readLease(found).record;
    if (holder !== '' && holder !== this.#holder && !this.#isStale(found, now())) return false;
    return this.#won(this.#write(found, this.#holder));
  }

  /** Throws `SlotTaken` when somebody else has taken it meanwhile, or it went with its pod. */
  async renew(): Promise<void> {
    const found = await this.#deps.kube.get(this.#ref);
    if (found === undefined || readLease(found).record.holder !== this.#holder) {
      throw new SlotTaken(`the slot of ${this.#pod.name} was taken by somebody else`);
    }
    await this.#write(found, this.#holder);
  }

  /** Best effort: what is not freed runs out. */
  async free(): Promise<void> {
    try {
      const found = await this.#deps.kube.get(this.#ref);
      if (found !== undefined && readLease(found).record.holder === this.#holder)
        await this.#write(found, '');
    } catch {
      // It runs out.
    }
  }

  #isStale({ metadata }: KubeObject, now: number): boolean {
    const version = metadata.resourceVersion;
    const seen =
      this.#seen !== undefined && this.#seen.version === version ? this.#seen : { version, at: now };
    this.#seen = seen;
    return now - seen.at > DURATION_MS;
  }

  async #won(write: Promise<unknown>): Promise<boolean> {
    try {
      await write;
      return true;
    } catch (error) {
      if (isConflict(error) || isAlreadyExists(error) || isNotFound(error)) return false;
      throw error;
    }
  }

  #write({ metadata }: KubeObject, holder: string): Promise<KubeObject> {
    const { uid, resourceVersion } = metadata;
    const patch = { metadata: { uid, resourceVersion }, spec: this.#spec(holder) };
    return this.#deps.kube.patch(this.#ref, patch, { type: 'merge' });
  }

  #object(holder: string) {
    const { namespace, name, uid } = this.#pod;
    return {
      ...LEASE,
      metadata: {
        namespace,
        name: this.#ref.name,
        ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name, uid }],
      },
      spec: this.#spec(holder),
    };
  }

  #spec(holder: string) {
    const time = microTime(new Date(this.#deps.now()));
    return {
      holderIdentity: holder,
      leaseDurationSeconds: DURATION_MS / 1000,
      renewTime: time,
    };
  }
}
