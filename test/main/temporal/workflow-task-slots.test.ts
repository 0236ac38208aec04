/** How many workflow tasks are admitted at once. */
import { beforeEach, describe, expect, it } from 'vitest';
import { WorkflowTaskSlots } from '../../../src/main/temporal/workflow-task-slots.ts';

const never = new AbortController().signal;
let slots: WorkflowTaskSlots;
beforeEach(() => {
  slots = new WorkflowTaskSlots({ sticky: 3, replaying: 2 });
});

function asked(isSticky: boolean) {
  return {
    slotType: 'workflow',
    taskQueue: 'queue',
    workerIdentity: 'worker',
    workerBuildId: '',
    isSticky,
  } as const;
}

/** Whether a promise is still pending after everything that is due has run. */
async function isPending(promise: Promise<unknown>): Promise<boolean> {
  const pending = Symbol('pending');
  const later = new Promise(resolve => setImmediate(() => resolve(pending)));
  return (await Promise.race([promise, later])) === pending;
}

describe('slots of workflow tasks', () => {
  it('are few for workflows that have to be replayed, and more for those in memory', async () => {
    for (let taken = 0; taken < 2; taken += 1) await slots.reserveSlot(asked(false), never);
    const third = slots.reserveSlot(asked(false), never);
    expect(await isPending(third)).toBe(true);
    for (let taken = 0; taken < 3; taken += 1) await slots.reserveSlot(asked(true), never);
    expect(await isPending(slots.reserveSlot(asked(true), never))).toBe(true);
  });

  it('go to those who wait, in their order, and each to one of its kind', async () => {
    const first = await slots.reserveSlot(asked(false), never);
    const other = await slots.reserveSlot(asked(false), never);
    const third = slots.reserveSlot(asked(false), never);
    const fourth = slots.reserveSlot(asked(false), never);
    const sticky = await slots.reserveSlot(asked(true), never);
    slots.releaseSlot({ permit: sticky });
    expect(await isPending(third)).toBe(true);
    slots.releaseSlot({ permit: first });
    expect(await isPending(third)).toBe(false);
    expect(await isPending(fourth)).toBe(true);
    slots.releaseSlot({ permit: other });
    expect(await isPending(fourth)).toBe(false);
  });

  it('are not lost by those who stop waiting', async () => {
    const held = [await slots.reserveSlot(asked(false), never), await slots.reserveSlot(asked(false), never)];
    const impatient = new AbortController();
    const given = slots.reserveSlot(asked(false), impatient.signal);
    const patient = slots.reserveSlot(asked(false), never);
    impatient.abort();
    await expect(given).rejects.toBe(impatient.signal.reason);
    for (const permit of held) slots.releaseSlot({ permit });
    expect(await isPending(patient)).toBe(false);
    expect(slots.tryReserveSlot(asked(false))).not.toBeNull();
    expect(slots.tryReserveSlot(asked(false))).toBeNull();
    await expect(slots.reserveSlot(asked(false), impatient.signal)).rejects.toBe(impatient.signal.reason);
  });

  it('asked for without waiting are given while there are any', () => {
    expect(slots.tryReserveSlot(asked(true))).toEqual({ isSticky: true });
    expect(slots.tryReserveSlot(asked(false))).toEqual({ isSticky: false });
  });
});
