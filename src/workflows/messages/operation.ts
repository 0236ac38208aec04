/** The messages between the workflow of a resource and its operation. A person may send `abort` to either (messages/resource.ts). */
import { defineSignal } from '@temporalio/workflow';

/** To an operation: end after the step under way, since a person asked for something that the next pass has to plan with. */
export const handOverSignal = defineSignal('handOver');
/** To an operation: report your end, since it was another run of the resource's workflow that started you. */
export const followSignal = defineSignal('follow');
/** From an operation that is followed: it ends. */
export const endedSignal = defineSignal<[unknown]>('ended');
