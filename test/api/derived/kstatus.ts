/**
 * What kstatus says of an object of a kind that it does not know: a transcription of sigs.k8s.io/cli-utils/pkg/kstatus/status (generic.go,
 * status.go), which Flux and others use. It shares nothing with what is judged.
 */
export type Kstatus = 'Terminating' | 'InProgress' | 'Failed' | 'Current';

export interface AnyObject {
  readonly metadata: { readonly generation?: number; readonly deletionTimestamp?: string };
  readonly status?: {
    readonly observedGeneration?: number;
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
  };
}

export function kstatusOf({ metadata, status = {} }: AnyObject): Kstatus {
  if (metadata.deletionTimestamp !== undefined) return 'Terminating';
  const { observedGeneration, conditions = [] } = status;
  if (observedGeneration !== undefined && observedGeneration !== metadata.generation) return 'InProgress';
  for (const { type, status: is } of conditions) {
    if (type === 'Reconciling' && is === 'True') return 'InProgress';
    if (type === 'Stalled' && is === 'True') return 'Failed';
  }
  const ready = conditions.find(({ type }) => type === 'Ready');
  if (ready === undefined) return 'Current';
  return ready.status === 'True' ? 'Current' : 'InProgress';
}
