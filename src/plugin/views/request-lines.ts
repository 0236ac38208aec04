/** EtcdRequests as text. Pure. */
import type { EtcdRequest } from '../../api/schemas/types.ts';
import { isOpen } from './explain.ts';
import { type Line, type Span, table, toned, type Tone } from './lines.ts';
import { age } from './times.ts';

/** What a request is about: `cluster/NAME` or `backup/NAME`. */
function targetOf({ clusterRef, backupRef }: EtcdRequest['spec']): string {
  return backupRef === undefined ? `cluster/${clusterRef?.name ?? ''}` : `backup/${backupRef.name}`;
}

/** Open ones first, then the newest. */
export function inOrder(requests: readonly EtcdRequest[]): readonly EtcdRequest[] {
  const at = ({ metadata }: EtcdRequest): string => metadata.creationTimestamp ?? '';
  return requests.toSorted((a, b) => Number(isOpen(b)) - Number(isOpen(a)) || at(b).localeCompare(at(a)));
}

export function requestLines(requests: readonly EtcdRequest[], now: number): readonly Line[] {
  if (requests.length === 0) return [['There are no EtcdRequests. Finished ones are deleted after a day.']];
  const rows = requests.map((request): readonly Span[] => {
    const { metadata, spec, status = {} } = request;
    return [
      metadata.namespace,
      metadata.name,
      spec.action,
      targetOf(spec),
      spec.by,
      age(metadata.creationTimestamp, now),
      phaseOf(request),
      [spec.reason === undefined ? '' : `(${spec.reason})`, status.message ?? ''].join(' ').trim(),
    ];
  });
  return table(['NAMESPACE', 'NAME', 'ACTION', 'OF', 'BY', 'AGE', 'PHASE', 'MESSAGE'], rows);
}

function phaseOf(request: EtcdRequest): Span {
  const phase = request.status?.phase || 'Pending';
  const tone: Tone = phase === 'Completed' ? 'good' : isOpen(request) ? 'warn' : 'bad';
  return toned(phase, tone);
}
