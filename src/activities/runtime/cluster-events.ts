import { type EventReason, eventOf } from '../../api/events.ts';
import type { ClusterRef } from './cluster-reference.ts';
import type { Dependencies } from './dependencies.ts';

/** Records an event about the EtcdCluster. */
export function recordClusterEvent(
  deps: Pick<Dependencies, 'recordEvent'>,
  ref: ClusterRef,
  { reason, message }: { readonly reason: EventReason<'EtcdCluster'>; readonly message: string },
): void {
  const kind = 'EtcdCluster';
  deps.recordEvent({ kind, ...ref }, eventOf(kind, reason, message));
}
