/**
 * A client for many who share its connections: each namespace has its fair share of them, so that one whose webhooks, quotas
 * or objects make calls slow holds up nobody else, and status is written past all of them, over connections that are shared as fairly.
 * Why: docs/decisions/0028-separate-connection-pools.md.
 */
import { CALL_TIMEOUT_MS } from './calls.ts';
import { type ClosableKubeClient, LIST_TIMEOUT_MS } from './client.ts';
import { KubeError } from './errors.ts';
import type { CallOptions, KubeClient, WritableObject } from './port.ts';
import { Shares } from './shares.ts';

export interface FairClientParts {
  /** For all calls but those below. */
  readonly calls: ClosableKubeClient;
  /** How many connections that one has. */
  readonly connections: number;
  /** For what is written to the subresource status: people wait to read of an emergency. */
  readonly status: ClosableKubeClient;
  /** How many connections that one has. */
  readonly statusConnections: number;
}

/** The client, over two of them. The wait for a share counts as part of a call's time. */
export function fairClient(parts: FairClientParts): ClosableKubeClient {
  const { calls, connections, status, statusConnections } = parts;
  const fairly = sharing(new Shares(connections));
  const fairlyStatus = sharing(new Shares(statusConnections));
  const of = (object: WritableObject): string | undefined => object.metadata.namespace;
  const isStatus = (options: { readonly subresource?: string | undefined }): boolean =>
    options.subresource === 'status';
  const client: KubeClient = {
    get: (ref, options = {}) => fairly(ref.namespace, options, with_ => calls.get(ref, with_)),
    list: (kind, options = {}) =>
      fairly(options.namespace, { defaultMs: LIST_TIMEOUT_MS, ...options }, with_ => calls.list(kind, with_)),
    create: (object, options = {}) => fairly(of(object), options, with_ => calls.create(object, with_)),
    apply: (object, options = {}) =>
      isStatus(options)
        ? fairlyStatus(of(object), options, with_ => status.apply(object, with_))
        : fairly(of(object), options, with_ => calls.apply(object, with_)),
    patch: (ref, patch, options) =>
      isStatus(options)
        ? fairlyStatus(ref.namespace, options, with_ => status.patch(ref, patch, with_))
        : fairly(ref.namespace, options, with_ => calls.patch(ref, patch, with_)),
    replace: (object, options = {}) =>
      isStatus(options)
        ? fairlyStatus(of(object), options, with_ => status.replace(object, with_))
        : fairly(of(object), options, with_ => calls.replace(object, with_)),
    delete: (ref, options = {}) => fairly(ref.namespace, options, with_ => calls.delete(ref, with_)),
    // A watch has a connection of its own.
    watch: (kind, options) => calls.watch(kind, options),
  };
  return {
    ...client,
    async close() {
      await Promise.all([calls.close(), status.close()]);
    },
  };
}

type Fairly = <Options extends CallOptions, Result>(
  namespace: string | undefined,
  options: Options & { readonly defaultMs?: number },
  call: (options: Options) => Promise<Result>,
) => Promise<Result>;

/** Makes a call when its namespace may have one of these places. */
function sharing(shares: Shares): Fairly {
  return async (namespace, options, call) => {
    const { timeoutMs = options.defaultMs ?? CALL_TIMEOUT_MS } = options;
    const begun = performance.now();
    const done = await turn(shares, { namespace: namespace ?? '', timeoutMs, signal: options.signal });
    try {
      return await call({ ...options, timeoutMs: Math.max(1, timeoutMs - (performance.now() - begun)) });
    } finally {
      done();
    }
  };
}

async function turn(
  shares: Shares,
  how: { readonly namespace: string; readonly timeoutMs: number; readonly signal: AbortSignal | undefined },
): Promise<() => void> {
  const { namespace, timeoutMs, signal } = how;
  const deadline = AbortSignal.timeout(Math.ceil(timeoutMs));
  try {
    return await shares.take(
      namespace,
      signal === undefined ? deadline : AbortSignal.any([deadline, signal]),
    );
  } catch {
    const isAborted = signal?.aborted === true;
    const message = isAborted
      ? 'aborted while waiting for a connection'
      : `no connection was free for ${timeoutMs} ms: other calls for namespace "${namespace}" used its whole share`;
    throw new KubeError({
      code: 0,
      reason: isAborted ? 'Aborted' : 'Timeout',
      message,
      retry: isAborted ? 'never' : 'later',
      notProcessed: true,
    });
  }
}
