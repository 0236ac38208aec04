/**
 * What the loops of workflows need of where they run: Temporal (temporal/), or a world in memory (test/worlds/workflows-in-memory.ts). The
 * loops themselves know neither.
 */

export interface Host {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Until `is` holds, or this moment has come (milliseconds since the epoch). */
  wait(is: () => boolean, until?: number): Promise<void>;
  /** How long the history of this run is. */
  history(): 'short' | 'long' | 'veryLong';
  /** Whether every message was answered. */
  isEachAnswered(): boolean;
}

/** What the workflow of every resource remembers. */
export interface ResourceState {
  /** Something changed since the last pass began. */
  changed: boolean;
  /** Somebody cancelled this run in Temporal: it gives way to one that can be cancelled again. */
  cancelled: boolean;
  /** The resource does not exist any more; messages are still answered. */
  gone: boolean;
}

/** How a run of a resource's workflow ends. */
export type RunEnd = 'gone' | 'continueAsNew';

/** Whether a run that has nothing under way should continue as new, and can. */
export function isOver({ cancelled }: Pick<ResourceState, 'cancelled'>, host: Host): boolean {
  return (cancelled || host.history() !== 'short') && host.isEachAnswered();
}

/** Waits until something changed, it is time for the next pass, or the run should continue as new. */
export function rest(state: ResourceState, host: Host, until?: number): Promise<void> {
  return host.wait(() => state.changed || isOver(state, host), until);
}

/** The resource is gone: the run ends when everybody who asked for something was answered. */
export async function close(state: ResourceState, host: Host): Promise<'gone'> {
  state.gone = true;
  await host.wait(() => host.isEachAnswered());
  return 'gone';
}
