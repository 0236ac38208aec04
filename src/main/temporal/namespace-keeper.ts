/** Keeps the Temporal namespace usable for as long as the operator runs. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Connection } from '@temporalio/client';
import type { Logger } from '../../telemetry/logger.ts';
import { grpcCode } from '../../watcher/temporal/client.ts';
import { currentNamespaceId, ensureNamespace, type NamespaceSpec, TemporalSetupError } from './namespace.ts';
import { TemporalRefusal } from './refusal.ts';
import { failure, retryUntilDone } from '../retry.ts';

export interface NamespaceKeeper {
  /** Resolves when the namespace was first seen usable; rejects when the operator ends before. */
  readonly ready: Promise<void>;
  /** Resolves when ready, and at the latest after so many milliseconds. */
  readyWithin(milliseconds: number): Promise<void>;
  /** Whether Temporal answered last that it does not let the operator in. */
  refused(): boolean;
  /** Rejects when a person has to change something in Temporal first; never resolves. */
  readonly failed: Promise<never>;
}

/**
 * A Temporal that lost its database comes back without the namespace. The worker's polls are refused then, and
 * tolerated for a minute before the worker gives up; this repairs it long before.
 */
const checkEveryMs = 5_000;

export interface KeeperContext {
  readonly spec: NamespaceSpec;
  readonly logger: Logger;
  readonly signal: AbortSignal;
  /** The namespace is another than before, and usable: the server has lost all workflows. */
  readonly onReplaced: () => void;
}

/**
 * Registers what is missing now, and looks again for as long as the signal lasts.
 * @param current asked again for each try
 */
export function keepNamespace(current: () => Connection, context: KeeperContext): NamespaceKeeper {
  const { signal } = context;
  const { failed, fail } = failure();
  const { ensure, refused } = ensurer(current, context);
  let id = '';
  const ready = ensure().then(first => {
    id = first;
  });
  const keep = async (): Promise<void> => {
    await ready;
    for (;;) {
      await pause(checkEveryMs, undefined, { signal });
      const seen = await currentNamespaceId(current(), context.spec.namespace).catch(() => undefined);
      if (seen === id) continue;
      const now = await ensure();
      if (now === id) continue;
      id = now;
      context.logger.warn('Temporal has lost its workflows; starting them again');
      context.onReplaced();
    }
  };
  keep().catch((error: unknown) => {
    if (!signal.aborted) fail(error);
  });
  return {
    ready,
    refused,
    failed,
    async readyWithin(milliseconds) {
      await Promise.race([ready, pause(milliseconds, undefined, { signal, ref: false })]).catch(
        () => undefined,
      );
    },
  };
}

interface Ensurer {
  /** Waits until the namespace is usable, registers what is missing, and answers its id. */
  ensure(): Promise<string>;
  /** Whether that waits because Temporal does not let the operator in. */
  refused(): boolean;
}

function ensurer(
  current: () => Connection,
  { spec, logger, signal }: Omit<KeeperContext, 'onReplaced'>,
): Ensurer {
  // Each is said once an outage; the readiness probe and the metrics show how long it lasts.
  let away: 'unreachable' | 'refused' | undefined;
  const ensure = async (): Promise<string> => {
    const { id, ...registered } = await retryUntilDone(() => ensureNamespace(current(), spec, signal), {
      signal,
      firstMs: 250,
      maxMs: 5_000,
      onFailure(error) {
        if (error instanceof TemporalSetupError) throw error;
        const before = away;
        away = error instanceof TemporalRefusal ? 'refused' : 'unreachable';
        if (away === before) return;
        const message =
          away === 'refused'
            ? 'Temporal refuses the operator; retrying'
            : 'Temporal is not available; retrying';
        logger.warn(message, { code: grpcCode(error), error });
      },
    });
    if (away !== undefined) logger.info('Temporal is available again', { namespace: spec.namespace });
    away = undefined;
    if (registered.namespace || registered.searchAttributes.length > 0) {
      logger.info('registered in Temporal', { ...registered, name: spec.namespace });
    }
    return id;
  };
  return { ensure, refused: () => away === 'refused' };
}
