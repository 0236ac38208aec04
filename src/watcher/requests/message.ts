/** An EtcdRequest as the update that people send with `temporal workflow update`. Pure. */
import type { EtcdRequest, EtcdRequestSpec } from '../../api/schemas/types.ts';
import { type Given, OPERATION_OF, type WantedVerification } from '../../api/values/requests.ts';
import { expiryOf } from './known-request.ts';

/** An update of a workflow. Its id is the uid of the request. */
export interface RequestUpdate {
  readonly name: string;
  readonly argument: Readonly<Record<string, unknown>> & { readonly request: Given };
}

interface Row {
  /** Of the update. */
  readonly update: string;
  /** The field that names the member. */
  readonly member?: 'member' | 'to';
  /** What carries it out. */
  readonly operation?: string;
}

const ROWS: Readonly<Record<EtcdRequestSpec['action'], Row>> = {
  Pause: { update: 'pause' },
  Resume: { update: 'resume' },
  Resync: { update: 'resync' },
  Abort: { update: 'abort' },
  Approve: { update: 'approve' },
  ReplaceMember: { update: 'replaceMember', member: 'member', operation: OPERATION_OF.replaceMember },
  MoveLeader: { update: 'moveLeader', member: 'to', operation: OPERATION_OF.moveLeader },
  Restart: { update: 'restart', member: 'member', operation: OPERATION_OF.restart },
  BackupNow: { update: 'backup', operation: 'takeBackup' },
  VerifyBackup: { update: 'verify', operation: 'verifyStoredBackup' },
};

/** Undefined: an action of a later release. `now` in milliseconds since the epoch. */
export function updateOf(object: EtcdRequest, now: number): RequestUpdate | undefined {
  const { spec, metadata } = object;
  const row = rowOf(spec);
  if (row === undefined) return undefined;
  const { by, reason, member, operation, ids } = spec;
  const expiresAt = expiryOf(object);
  const argument = {
    by,
    ...(reason !== undefined && { reason }),
    ...(row.member !== undefined && member !== undefined && { [row.member]: member }),
    ...(operation !== undefined && { operation }),
    ...(ids !== undefined && { ids }),
    ...(spec.action === 'VerifyBackup' && wantedOf(spec)),
    // An approval that is used later than it says is none.
    ...(spec.action === 'Approve' && { expiresInSeconds: Math.max(1, Math.ceil((expiresAt - now) / 1_000)) }),
    request: { uid: metadata.uid, expiresAt },
  };
  return { name: row.update, argument };
}

function wantedOf({ location, verify: level, clusterRef }: EtcdRequestSpec): WantedVerification {
  return {
    ...(location !== undefined && { location }),
    ...(level !== undefined && { level }),
    ...(clusterRef !== undefined && { cluster: clusterRef.name }),
  };
}

/** The operation that carries a request out, or that is approved; undefined: none does. */
export function operationOf(spec: EtcdRequestSpec): string | undefined {
  return spec.operation ?? rowOf(spec)?.operation;
}

/** The action, for whoever counts; Other: one of a later release. */
export function knownAction(spec: EtcdRequestSpec): string {
  return rowOf(spec) === undefined ? 'Other' : spec.action;
}

function rowOf({ action }: EtcdRequestSpec): Row | undefined {
  return Object.hasOwn(ROWS, action) ? ROWS[action] : undefined;
}
