/**
 * Every action that users ask for, one row each: those of operations are in their rows (operations.ts). The enum and the rules of an EtcdRequest, the
 * signals and updates, and the commands of `kubectl etcd` follow from it. Pure data.
 */
import { type ActionFacts, type Operation, OPERATION_FACTS, type RequestFacts } from './operations.ts';

const STEERING = {
  Pause: {
    command: 'pause',
    of: 'both',
    member: 'none',
    about: 'take no further step until resume; the members keep serving',
    effect: target =>
      `take no further step for ${target} until it is resumed; deletion and repairs wait, too`,
  },
  Resume: {
    command: 'resume',
    of: 'both',
    member: 'none',
    about: 'continue after pause',
    effect: target => `continue with ${target}`,
  },
  Resync: {
    command: 'resync',
    of: 'both',
    member: 'none',
    about: 'reconcile now; also revokes an abort',
    effect: target => `reconcile ${target} now, and plan again what was aborted`,
  },
  Abort: {
    command: 'abort',
    of: 'both',
    member: 'none',
    about: 'end the running operation at its next step, or withdraw what waits',
    effect: target =>
      `end the operation of ${target} at its next step and undo what can be undone; if none runs, withdraw all requests that wait, or refuse the step that waits for an approval`,
  },
  Approve: {
    command: 'approve',
    of: 'clusters',
    member: 'none',
    about: 'allow the one step that a cluster waits to have approved',
    effect: target => `allow ${target} to take the one step that waits for an approval`,
  },
  RecoverQuorum: {
    command: 'recover',
    of: 'clusters',
    member: 'required',
    purpose: 'to recover from',
    operation: 'recoverQuorum',
    about: 'recover a cluster whose quorum is lost for good, from the best member that is left',
    effect: (target, member) =>
      `give up every other member of ${target} and make a new cluster of the data of ${member}: writes that ${member} does not have are lost`,
  },
} as const satisfies Readonly<
  Record<string, ActionFacts & { readonly purpose?: string; readonly operation?: string }>
>;

const OF_BACKUPS = {
  BackupNow: {
    command: 'backup',
    of: 'backups',
    member: 'none',
    operation: 'takeBackup',
    about: 'take a backup now, to where the EtcdBackup says',
    effect: target => `take a backup now, as ${target} says`,
  },
  VerifyBackup: {
    command: 'verify-again',
    of: 'backups',
    member: 'none',
    operation: 'verifyStoredBackup',
    about: 'verify a stored backup again: read it back, and restore it in a pod if that is asked for',
    effect: target =>
      `read a stored backup of ${target} back and verify it in a pod; one that is found bad is not restored any more`,
  },
} as const satisfies Readonly<Record<string, ActionFacts & { readonly operation: string }>>;

type Facts = typeof OPERATION_FACTS;
type RequestOf<Row> = Row extends { readonly request: infer Request extends RequestFacts } ? Request : never;
type Requests = { readonly [Name in Operation]: RequestOf<Facts[Name]> }[Operation];
/** The operations that users can request. */
export type RequestedOperation = {
  readonly [Name in Operation]: Facts[Name] extends { readonly request: RequestFacts } ? Name : never;
}[Operation];
type Asking = typeof STEERING & typeof OF_BACKUPS;

/** The action of an EtcdRequest. */
export type Action = keyof Asking | Requests['action'];
/** The commands of the plugin that send one. */
export type ActionCommand = Asking[keyof Asking]['command'] | Requests['command'];
/** What users can ask of a running cluster: the name of the signal and of the update. */
export type RequestKind = Requests['kind'];

type OperationRequest = RequestFacts & {
  readonly action: Requests['action'];
  readonly command: Requests['command'];
  readonly kind: RequestKind;
  readonly operation: RequestedOperation;
};

/** What operations of a cluster carry out. */
export const OPERATION_REQUESTS = (
  Object.entries(OPERATION_FACTS) as [Operation, { readonly request?: RequestFacts }][]
).flatMap(([operation, { request }]) =>
  request === undefined ? [] : [{ ...request, operation } as OperationRequest],
);

interface ActionRow extends ActionFacts {
  readonly action: Action;
  readonly command: ActionCommand;
  /** The operation that carries it out. */
  readonly operation?: string;
  /** Of what an operation of a cluster carries out. */
  readonly kind?: RequestKind;
  readonly purpose?: string;
  readonly absent?: string;
}

const rowsOf = (table: Readonly<Record<string, Omit<ActionRow, 'action'>>>) =>
  Object.entries(table).map(([action, row]) => ({ ...row, action: action as Action }));

/** Every action, in the order of the documentation. */
export const ACTIONS: readonly ActionRow[] = [
  ...rowsOf(STEERING),
  ...OPERATION_REQUESTS,
  ...rowsOf(OF_BACKUPS),
];

/** The operation that carries out what users ask of a running cluster. */
export const OPERATION_OF = Object.fromEntries(
  OPERATION_REQUESTS.map(({ kind, operation }) => [kind, operation]),
) as Readonly<Record<RequestKind, RequestedOperation>>;
