/** What follows from an EtcdRequest alone. Pure. */
import type { EtcdRequest, EtcdRequestSpec } from '../schemas/types.ts';
import { OPERATION_OF, type RequestKind } from '../values/requests.ts';
import { parseTimestamp } from '../values/time.ts';

type Action = EtcdRequestSpec['action'];

/** Actions that a pass carries out by operations of the cluster. */
const KIND_OF: { readonly [A in Action]?: RequestKind } = {
  ReplaceMember: 'replaceMember',
  MoveLeader: 'moveLeader',
  Restart: 'restart',
};

const OTHER_ACTIONS: { readonly [A in Action]?: string } = {
  Pause: '',
  Resume: '',
  Resync: '',
  Abort: '',
  Approve: '',
  BackupNow: 'takeBackup',
  VerifyBackup: 'verifyStoredBackup',
};

/** As the CRD has them, for an object of a CRD that has no defaults. */
const EXPIRES_AFTER_SECONDS = 3_600;
const TTL_SECONDS = 86_400;

/** What a pass is asked to have done by an operation; undefined for any other action. */
export function requestKind({ action }: EtcdRequestSpec): RequestKind | undefined {
  return Object.hasOwn(KIND_OF, action) ? KIND_OF[action] : undefined;
}

/** The operation that carries a request out, or that is approved; undefined: none does. */
export function operationOf(spec: EtcdRequestSpec): string | undefined {
  const kind = requestKind(spec);
  return (
    spec.operation ?? (kind === undefined ? OTHER_ACTIONS[spec.action] || undefined : OPERATION_OF[kind])
  );
}

/** Whether this release knows the action. */
export function isKnownAction({ action }: EtcdRequestSpec): boolean {
  return Object.hasOwn(KIND_OF, action) || Object.hasOwn(OTHER_ACTIONS, action);
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
