/** What follows from an EtcdRequest alone. Pure. */
import type { EtcdRequest, EtcdRequestSpec } from '../schemas/types.ts';
import { ACTIONS, type RequestKind } from '../actions.ts';
import { parseTimestamp } from '../values/time.ts';

/** As the CRD has them, for an object of a CRD that has no defaults. */
const EXPIRES_AFTER_SECONDS = 3_600;
const TTL_SECONDS = 86_400;

/** The row of an action; undefined of one of a later release. */
function rowOf({ action }: EtcdRequestSpec) {
  return ACTIONS.find(row => row.action === action);
}

/** What a pass is asked to have done by an operation of the cluster; undefined for any other action. */
export function requestKind(spec: EtcdRequestSpec): RequestKind | undefined {
  return rowOf(spec)?.kind;
}

/** The operation that carries a request out, or that is approved; undefined: none does. */
export function operationOf(spec: EtcdRequestSpec): string | undefined {
  return spec.operation ?? rowOf(spec)?.operation;
}

/** Whether this release knows the action. */
export function isKnownAction(spec: EtcdRequestSpec): boolean {
  return rowOf(spec) !== undefined;
}

/** The kind and the name of what it is about. */
export function targetOf({ clusterRef, backupRef }: EtcdRequestSpec) {
  // Where both are named, the cluster is that which the backup must be of.
  return backupRef !== undefined
    ? ({ kind: 'EtcdBackup', name: backupRef.name } as const)
    : ({ kind: 'EtcdCluster', name: clusterRef?.name ?? '' } as const);
}

/** Milliseconds since the epoch. */
export function createdAt({ metadata }: Pick<EtcdRequest, 'metadata'>): number {
  return parseTimestamp(metadata.creationTimestamp ?? undefined) ?? 0;
}

/** Until when it may be accepted, in milliseconds since the epoch. */
export function expiryOf(request: EtcdRequest): number {
  return createdAt(request) + (request.spec.expiresAfterSeconds ?? EXPIRES_AFTER_SECONDS) * 1_000;
}

/** Neither done nor given up. */
export function isOpen({ status }: Pick<EtcdRequest, 'status'>): boolean {
  return status?.completedAt === undefined;
}

/** When it may be deleted, in milliseconds since the epoch; undefined: it is not finished. */
export function removalOf({ spec, status }: EtcdRequest): number | undefined {
  const completed = parseTimestamp(status?.completedAt);
  return completed === undefined
    ? undefined
    : completed + (spec.ttlSecondsAfterFinished ?? TTL_SECONDS) * 1_000;
}
