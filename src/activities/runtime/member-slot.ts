/**
 * One heavy operation a member at a time: a snapshot beside a defragmentation keeps the member from answering until the
 * snapshot's reader is done, and two snapshots double the load. The slot is an annotation of the member's pod: it goes with
 * the pod, and needs no right beyond those that members need. It is renewed while the work continues and free again soon after
 * its holder died.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { ANNOTATION_MAINTENANCE } from '../../api/names.ts';
import { timestamp } from '../../api/values/time.ts';
import { isConflict, isNotFound } from '../../kube/errors.ts';
import type { KubeObject } from '../../kube/port.ts';
import type { Dependencies } from './dependencies.ts';
import { POD } from './kinds.ts';

/** After this long without renewal the holder is taken for dead. */
const DURATION_MS = 30_000;
const RENEW_MS = 8_000;
/** After this long without renewal the holder takes itself for dead: before anybody else does. */
const KEEP_MS = 25_000;
const TICK_MS = 2_000;
const CHECK_MS = 1_000;

export interface MemberSlot {
  /** The pod of the member; undefined for a member that is not managed here: nobody else works on it for us. */
  readonly pod: { readonly namespace: string; readonly name: string; readonly uid: string } | undefined;
  /** Who does the work, for users. One holder does one thing at a time: an attempt takes the slot of an earlier one, which was taken for dead. */
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
    await delay(CHECK_MS, undefined, { signal });
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
    if (age >= KEEP_MS) lost.abort(trouble ?? new Error('the lock of the member was not renewed in time'));
    else if (age >= RENEW_MS && !isRenewing) void renew();
  }, TICK_MS);
  return { lost: lost.signal, end: () => clearInterval(ticks) };
}

class SlotTaken extends Error {
  override readonly name = 'SlotTaken';
}

class Slot {
  readonly #deps: Pick<Dependencies, 'kube' | 'now'>;
  readonly #pod: NonNullable<MemberSlot['pod']>;
  readonly #holder: string;
  /** Of this attempt: an earlier one of the same holder may still be at work, and end later. */
  readonly #token = randomUUID();
  /** What another holder was last seen to have written, and when. Clocks differ: only our own is asked. */
  #seen: { readonly text: string; readonly at: number } | undefined;

  constructor(deps: Pick<Dependencies, 'kube' | 'now'>, pod: NonNullable<MemberSlot['pod']>, holder: string) {
    this.#deps = deps;
    this.#pod = pod;
    this.#holder = holder;
  }

  /** False while somebody else holds it. Throws when the pod is gone, and the slot with it. */
  async take(): Promise<boolean> {
    const found = await this.#read();
    if (found === undefined) throw new Error(`the pod ${this.#pod.namespace}/${this.#pod.name} is gone`);
    const text = textOf(found);
    const { holder } = recordOf(text);
    if (holder !== '' && holder !== this.#holder && !this.#isStale(text)) return false;
    try {
      await this.#write(found, this.#mine());
      return true;
    } catch (error) {
      if (isConflict(error) || isNotFound(error)) return false;
      throw error;
    }
  }

  /** Throws `SlotTaken` when somebody else has taken it meanwhile, or it went with its pod. */
  async renew(): Promise<void> {
    const found = await this.#read();
    if (found === undefined || !this.#isOurs(found)) {
      throw new SlotTaken(`the lock of ${this.#pod.name} was taken by another holder`);
    }
    await this.#write(found, this.#mine());
  }

  /** Best effort: what is not freed runs out. */
  async free(): Promise<void> {
    try {
      const found = await this.#read();
      if (found !== undefined && this.#isOurs(found)) await this.#write(found, null);
    } catch {
      // It runs out.
    }
  }

  #isOurs(found: KubeObject): boolean {
    return recordOf(textOf(found)).token === this.#token;
  }

  /** This very pod. */
  async #read(): Promise<KubeObject | undefined> {
    const { namespace, name, uid } = this.#pod;
    const found = await this.#deps.kube.get({ ...POD, namespace, name });
    return found?.metadata.uid === uid ? found : undefined;
  }

  #isStale(text: string): boolean {
    const now = this.#deps.now();
    if (this.#seen?.text !== text) this.#seen = { text, at: now };
    return now - this.#seen.at > DURATION_MS;
  }

  #mine(): string {
    return JSON.stringify({ holder: this.#holder, token: this.#token, renewed: timestamp(this.#deps.now()) });
  }

  /** Only one of two writers who have read the same is let through: the resource version is in the patch. */
  async #write({ metadata }: KubeObject, value: string | null): Promise<void> {
    const { namespace, name, uid } = this.#pod;
    const annotations = { [ANNOTATION_MAINTENANCE]: value };
    const patch = { metadata: { uid, resourceVersion: metadata.resourceVersion, annotations } };
    await this.#deps.kube.patch({ ...POD, namespace, name }, patch, { type: 'merge' });
  }
}

function textOf({ metadata }: KubeObject): string {
  return metadata.annotations?.[ANNOTATION_MAINTENANCE] ?? '';
}

/** What cannot be read was not written by us, and holds until it is stale. */
function recordOf(text: string): { readonly holder: string; readonly token?: unknown } {
  if (text === '') return { holder: '' };
  try {
    const { holder, token } = JSON.parse(text) as { holder?: unknown; token?: unknown };
    return { holder: typeof holder === 'string' ? holder : 'somebody', token };
  } catch {
    return { holder: 'somebody' };
  }
}
