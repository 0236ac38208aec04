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
  const { deletionTimestamp = '', generation } = metadata;
  if (deletionTimestamp !== '') return 'Terminating';
  const { observedGeneration, conditions = [] } = status;
  const isToldOf = generation !== undefined && observedGeneration !== undefined;
  if (isToldOf && observedGeneration !== generation) return 'InProgress';
  for (const { type, status: is } of conditions) {
    if (type === 'Reconciling' && is === 'True') return 'InProgress';
    if (type === 'Stalled' && is === 'True') return 'Failed';
  }
  const isKnown = ({ status: is }: { readonly status: string }) => ['True', 'False', 'Unknown'].includes(is);
  const ready = conditions.filter(({ type }) => type === 'Ready').find(isKnown);
  return ready === undefined || ready.status === 'True' ? 'Current' : 'InProgress';
}
