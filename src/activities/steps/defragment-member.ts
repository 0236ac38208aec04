import { Context } from '@temporalio/activity';
import { ANNOTATION_DEFRAGMENTATION_BEGUN, ANNOTATION_DEFRAGMENTED, LABEL_CLUSTER } from '../../api/names.ts';
import type { EtcdMember } from '../../etcd/port.ts';
import { hasMuchFree } from '../../planner/checks/space.ts';
import { onMember } from '../cluster/leader.ts';
import { begunNow } from '../observe/pod-facts.ts';
import { recordClusterEvent } from '../runtime/cluster-events.ts';
import { finalFailure, preconditionChanged } from '../runtime/failures.ts';
import { POD } from '../runtime/kinds.ts';
import { withMemberSlot } from '../runtime/member-slot.ts';
import { withdraw } from './admit-members.ts';
import { holdBudget } from './shared/hold-budget.ts';
import type { Perform } from './shared/perform.ts';
import { stillPlanned } from './shared/still-planned.ts';

const MIB = 1024 ** 2;

/**
 * Defragments this very member, once nobody else does something heavy to it, and notes on its pod that it begins and when it is done: a
 * member that ends over it is not defragmented again at once. Clients are led away before, where others
 * serve them, and nobody may be evicted meanwhile. A call that was cut off goes on in etcd: its end is waited for.
 */
export const defragmentMember: Perform<'defragmentMember'> = async (deps, ref, step) => {
  const { namespace } = ref;
  const { member: name, uid } = step;
  const at = { ...POD, namespace, name };
  const signal = Context.current().cancellationSignal;
  const pod = { namespace, name, uid };
  await withMemberSlot(deps, { pod, holder: `defragmentation of ${name}`, signal }, async () => {
    if (await hasOthers()) await withdraw(deps, ref, [{ name, uid }]);
    const { cluster, situation } = await stillPlanned(deps, ref, step);
    await holdBudget(deps, ref, { member: name, cluster, seen: situation.pods });
    const runs = situation.pods.find(seen => seen.uid === uid) ?? {};
    const freed = await onMember(deps, situation, {
      member: name,
      ask: member =>
        defragmented(member, step.id, {
          begins: () => note({ [ANNOTATION_DEFRAGMENTATION_BEGUN]: begunNow(runs, deps.now()) ?? null }),
          lost: revisionLost,
        }),
    });
    await note({
      [ANNOTATION_DEFRAGMENTED]: new Date(deps.now()).toISOString(),
      [ANNOTATION_DEFRAGMENTATION_BEGUN]: null,
    });
    recordClusterEvent(deps, ref, { reason: 'MemberDefragmented', message: `${name}: ${freed}` });
  });

  async function note(annotations: Readonly<Record<string, string | null>>): Promise<void> {
    await deps.kube.patch(at, { metadata: { uid, annotations } }, { type: 'merge' });
  }

  /** Tried again it would take the lower one for what was before: an event stays. */
  function revisionLost(after: string, before: string): Error {
    const message =
      `${name} reads revision ${after} after its defragmentation, and read ${before} before: it may have lost writes that were acknowledged. ` +
      `Compare the data of the members, and request the replacement of ${name} if it differs from the others (docs/operations/corruption.md)`;
    recordClusterEvent(deps, ref, { reason: 'RevisionLost', message });
    return finalFailure('RevisionLost', message);
  }

  async function hasOthers(): Promise<boolean> {
    const { items } = await deps.kube.list(POD, { namespace, labelSelector: `${LABEL_CLUSTER}=${ref.name}` });
    return items.length > 1;
  }
};

interface Notes {
  readonly begins: () => Promise<void>;
  /** The failure that a revision was lost. */
  readonly lost: (after: string, before: string) => Error;
}

/** @returns the result, for users */
async function defragmented(member: EtcdMember, id: string, { begins, lost }: Notes): Promise<string> {
  // Answers only after what an earlier attempt has begun.
  const { revision } = await member.linearizableRead();
  const before = await member.status();
  if (before.memberId !== id) throw preconditionChanged(`member ${before.memberId} answers instead of ${id}`);
  const { dbSize: size, dbSizeInUse: inUse } = before;
  // As when an earlier attempt has done it.
  if (!hasMuchFree({ size, inUse })) return `nothing to free in ${mebibytes(before.dbSize)}`;
  await begins();
  const begun = performance.now();
  await member.defragment(before.dbSize);
  const seconds = ((performance.now() - begun) / 1_000).toFixed(1);
  const [after, read] = [await member.status(), await member.linearizableRead()];
  if (BigInt(read.revision) < BigInt(revision)) throw lost(read.revision, revision);
  return `the file has ${mebibytes(after.dbSize)}, ${mebibytes(before.dbSize)} before; it took ${seconds} s`;
}

function mebibytes(bytes: number): string {
  return `${(bytes / MIB).toFixed(1)} MiB`;
}
