import type { StackContext } from './context.ts';
import { hasPostgres, waitForPostgres } from './postgres.ts';
import { endedEarly, startComponent } from './services.ts';
import { waitForTemporal } from './temporal.ts';

/** Starts the stack's PostgreSQL and waits until it can be used. */
export async function startPostgres(context: StackContext): Promise<void> {
  await startComponent(context, 'postgres');
  await waitForPostgres(context, () => endedEarly(context, 'postgres'));
}

/** Starts the stack's Temporal, its database first where it has one, and waits until it serves. */
export async function startTemporal(context: StackContext): Promise<void> {
  if (hasPostgres(context)) await startPostgres(context);
  await startComponent(context, 'temporal');
  await waitForTemporal(context, () => endedEarly(context, 'temporal'));
}
