/** The namespace and search attributes that the operator's workflows need: registered when they are missing. */
import type { Connection } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time.js';
import { GENERATION_ATTRIBUTE } from '../../api/values/engine-generation.ts';
import { retryUntilDone } from '../retry.ts';
import { grpcCode } from '../../watcher/temporal/client.ts';
import { grpcStatus } from './connection.ts';
import { isRefused, isUnknown, refusal } from './refusal.ts';

/** temporal.api.enums.v1.IndexedValueType */
const valueTypes = { Keyword: 2, Int: 3, Bool: 5, Datetime: 6 } as const;

/**
 * By name and type. Within the fixed pool that a namespace has on an SQL server (common/searchattribute/sadefs of
 * the server: 10 Keyword, 3 each of Bool, Int, Datetime).
 */
export const searchAttributes: Readonly<Record<string, keyof typeof valueTypes>> = {
  EtcdNamespace: 'Keyword',
  EtcdName: 'Keyword',
  EtcdPhase: 'Keyword',
  EtcdOperation: 'Keyword',
  EtcdVersion: 'Keyword',
  EtcdHealthy: 'Bool',
  EtcdPaused: 'Bool',
  EtcdMembersReady: 'Int',
  EtcdAttention: 'Keyword',
  [GENERATION_ATTRIBUTE]: 'Int',
  EtcdLastBackup: 'Datetime',
};

/** A person has to change something before trying again can help. */
export class TemporalSetupError extends Error {
  override readonly name = 'TemporalSetupError';
}

export interface NamespaceSpec {
  readonly namespace: string;
  readonly retentionDays: number;
  /** For messages about a key that is refused; undefined: none is sent. */
  readonly apiKeyFile?: string | undefined;
}

export interface Registered {
  /** The server's own id of the namespace: another one means another, empty, database. */
  readonly id: string;
  /** What was missing and is there now. */
  readonly namespace: boolean;
  readonly searchAttributes: readonly string[];
}

const deadlineMs = 5_000;
const cacheMs = 90_000;
const dayMs = 86_400_000;

/**
 * Makes sure that workflows can be started in the namespace: it exists, has the search attributes, and the
 * server knows them, and lets the operator write. Can run at any time, on any number of replicas, again and again.
 * @param signal ends the waiting
 * @throws TemporalSetupError when a person must help; TemporalRefusal when the server does not let the operator in; else the
 *   call's own error: try again
 */
export async function ensureNamespace(
  connection: Connection,
  spec: NamespaceSpec,
  signal: AbortSignal,
): Promise<Registered> {
  const { namespace } = spec;
  const call = <T>(run: () => Promise<T>, isUse: boolean): Promise<T> =>
    connection.withDeadline(Date.now() + deadlineMs, run).catch((error: unknown) => {
      throw isUnknown(error) || (isUse && isRefused(error))
        ? refusal(error, spec)
        : explained(error, namespace);
    });
  /** What the operator cannot do without. */
  const use = <T>(run: () => Promise<T>): Promise<T> => call(run, true);
  /** What somebody else can do for it. */
  const register = <T>(run: () => Promise<T>): Promise<T> => call(run, false);
  const found = await use(() => namespaceId(connection, namespace));
  if (found === undefined) await register(() => registerNamespace(connection, spec));
  const missing = await onceKnown(() => register(() => missingAttributes(connection, namespace)), signal);
  if (missing === 'not listed') {
    await use(() => probe(connection, namespace)).catch((error: unknown) => {
      throw grpcCode(error) === grpcStatus.invalidArgument ? setupError(namespace, error) : error;
    });
  } else {
    if (missing.length > 0) await register(() => addAttributes(connection, namespace, missing));
    await onceKnown(() => use(() => probe(connection, namespace)), signal);
  }
  await use(() => tryToWrite(connection, namespace));
  const id = found ?? (await use(() => namespaceId(connection, namespace))) ?? '';
  return {
    id,
    namespace: found === undefined,
    searchAttributes: missing === 'not listed' ? [] : missing,
  };
}

/**
 * The id of a namespace that exists, without registering anything.
 * @throws the call's own error when the server cannot say
 */
export function currentNamespaceId(connection: Connection, namespace: string): Promise<string | undefined> {
  return connection.withDeadline(Date.now() + deadlineMs, () => namespaceId(connection, namespace));
}

/**
 * Resolves when the server lets the caller use the namespace as the operator has to.
 * @throws the call's own error when it is refused, or the server cannot say
 */
export function assertUsable(connection: Connection, namespace: string): Promise<void> {
  return connection.withDeadline(Date.now() + deadlineMs, async () => {
    await namespaceId(connection, namespace);
    await tryToWrite(connection, namespace);
  });
}

/**
 * Tries again while the server does not know yet what was just registered: it keeps namespaces, also their
 * absence, for some seconds and search attributes for up to a minute.
 */
function onceKnown<T>(run: () => Promise<T>, signal: AbortSignal): Promise<T> {
  const expires = performance.now() + cacheMs;
  return retryUntilDone(run, {
    signal,
    firstMs: 100,
    maxMs: 1_000,
    onFailure(error) {
      const code = grpcCode(error);
      const unknown = code === grpcStatus.notFound || code === grpcStatus.invalidArgument;
      if (!unknown || performance.now() > expires) throw error;
    },
  });
}

async function namespaceId(connection: Connection, namespace: string): Promise<string | undefined> {
  try {
    const { namespaceInfo } = await connection.workflowService.describeNamespace({ namespace });
    return namespaceInfo?.id ?? '';
  } catch (error) {
    if (grpcCode(error) === grpcStatus.notFound) return undefined;
    throw error;
  }
}

async function registerNamespace(
  connection: Connection,
  { namespace, retentionDays }: NamespaceSpec,
): Promise<void> {
  await ignoring(grpcStatus.alreadyExists, () =>
    connection.workflowService.registerNamespace({
      namespace,
      description: 'Workflows of the etcd operator',
      workflowExecutionRetentionPeriod: msToTs(retentionDays * dayMs),
    }),
  );
}

/**
 * Which ones to register. `not listed`: the server does not list them to everyone who may use them (the default authorizer only to
 * administrators of the namespace), so only their use shows whether they are there.
 * @throws TemporalSetupError when one exists with another type: it cannot be changed, only removed
 */
async function missingAttributes(
  connection: Connection,
  namespace: string,
): Promise<string[] | 'not listed'> {
  const listed = await connection.operatorService
    .listSearchAttributes({ namespace })
    .catch((error: unknown) => {
      const code = grpcCode(error);
      if (code === grpcStatus.permissionDenied || code === grpcStatus.unimplemented) return undefined;
      throw error;
    });
  if (listed === undefined) return 'not listed';
  const { customAttributes } = listed;
  return Object.entries(searchAttributes).flatMap(([name, type]) => {
    const found = customAttributes?.[name];
    if (found === undefined) return [name];
    if (found === valueTypes[type]) return [];
    throw new TemporalSetupError(
      `search attribute ${name} of Temporal namespace ${namespace} is not a ${type}: remove it with ` +
        `\`temporal operator search-attribute remove --namespace ${namespace} --name ${name}\`, or set ` +
        'TEMPORAL_NAMESPACE to a separate namespace',
    );
  });
}

async function addAttributes(
  connection: Connection,
  namespace: string,
  names: readonly string[],
): Promise<void> {
  const wanted = Object.fromEntries(
    Object.entries(searchAttributes)
      .filter(([name]) => names.includes(name))
      .map(([name, type]) => [name, valueTypes[type]]),
  );
  await ignoring(grpcStatus.alreadyExists, () =>
    connection.operatorService.addSearchAttributes({ namespace, searchAttributes: wanted }),
  );
}

/** A query over all of them fails until the server that answers knows the namespace and every attribute. */
async function probe(connection: Connection, namespace: string): Promise<void> {
  const query = Object.keys(searchAttributes)
    .map(name => `${name} IS NULL`)
    .join(' AND ');
  await connection.workflowService.countWorkflowExecutions({ namespace, query });
}

/**
 * A signal to a workflow that is not there, which changes nothing: with a key that may only read, everything else succeeds, and only the
 * workers would find out. It shows nothing about a namespace that the server does not know yet: that comes first, also for strangers.
 */
async function tryToWrite(connection: Connection, namespace: string): Promise<void> {
  await ignoring(grpcStatus.notFound, () =>
    connection.workflowService.signalWorkflowExecution({
      namespace,
      workflowExecution: { workflowId: 'etcd-operator-may-write' },
      signalName: 'none',
    }),
  );
}

async function ignoring(code: number, run: () => Promise<unknown>): Promise<void> {
  try {
    await run();
  } catch (error) {
    if (grpcCode(error) !== code) throw error;
  }
}

/** For what the operator may be without the right to do. */
function explained(error: unknown, namespace: string): unknown {
  const code = grpcCode(error);
  const isLeftToOthers = code === grpcStatus.permissionDenied || code === grpcStatus.unimplemented;
  return isLeftToOthers ? setupError(namespace, error) : error;
}

function setupError(namespace: string, cause: unknown): TemporalSetupError {
  const attributes = Object.entries(searchAttributes).map(([name, type]) => `${name}=${type}`);
  return new TemporalSetupError(
    `Temporal does not let the operator register namespace ${namespace} or its search attributes: register the namespace and ` +
      `${attributes.join(' ')} by hand (docs/operations/temporal.md)`,
    { cause },
  );
}
