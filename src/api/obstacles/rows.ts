/** How reasons are written. Pure. */

/** Reason to what it means and what to do; the message alone says what to do, or nothing needs doing, where that is left out. */
export type ReasonRows = Readonly<Record<string, readonly [meaning: string, whatToDo?: string]>>;

export const WAIT = 'Nothing; the operator continues automatically.';
