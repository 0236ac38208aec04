/** Writes the watcher's own conditions into the status of resources, beside the operator's and never over them. */
import { type Condition, WATCHER_CONDITIONS } from '../api/conditions.ts';
import { timestamp } from '../api/time.ts';
import { isNotFound, KubeError } from '../kube/errors.ts';
import type { KubeClient } from '../kube/port.ts';
import { listAt } from './json.ts';
import { isCondition, type KnownResource, type KnownResources } from './known-resources.ts';
import type { OwnFinding } from './own-conditions.ts';
import { type Backoff, backoffMs } from './pace.ts';
import type { Clock, WatcherLogger } from './ports.ts';

/**
 * Who these conditions belong to. Not the operator's own field manager: with server-side apply an entry that a
 * manager leaves out of its next apply is removed, so one manager cannot write from two places.
 */
export const WATCHER_FIELD_MANAGER = 'etcd-operator-watcher';

export interface ConditionWriterDeps {
  /** Writes as {@link WATCHER_FIELD_MANAGER}. */
  readonly kube: Pick<KubeClient, 'apply'>;
  readonly known: KnownResources;
  readonly clock: Clock;
  readonly logger: WatcherLogger;
}

const WRITE_TIMEOUT_MS = 5_000;
const RETRY: Backoff = { firstMs: 2_000, maxMs: 60_000 };

export class ConditionWriter {
  readonly #deps: ConditionWriterDeps;
  readonly #failures = new Map<string, { count: number; notBefore: number }>();

  constructor(deps: ConditionWriterDeps) {
    this.#deps = deps;
  }

  /**
   * Makes a resource say this. Writes only when its status or reason would change; a failed write is tried again
   * when this is called again, after a while. Never rejects.
   */
  async report(key: string, finding: OwnFinding, abort: AbortSignal): Promise<void> {
    const { known, clock, logger } = this.#deps;
    const resource = known.get(key);
    if (resource === undefined || says(resource, finding) || abort.aborted) return;
    const failures = this.#failures.get(key);
    if (failures !== undefined && clock.now() < failures.notBefore) return;
    try {
      known.noteConditions(key, await this.#write(resource, finding, abort));
      this.#failures.delete(key);
      logger.info('condition written', { ...resource.ref, condition: finding.type, status: finding.status });
    } catch (error) {
      if (isNotFound(error)) return;
      const count = (failures?.count ?? 0) + 1;
      this.#failures.set(key, { count, notBefore: clock.now() + backoffMs(RETRY, count, clock.random()) });
      const reason = error instanceof KubeError ? error.reason : 'Error';
      logger.warn('condition not written', { ...resource.ref, condition: finding.type, reason });
    }
  }

  /** Forgets the failures of a resource that is gone. */
  forget(key: string): void {
    this.#failures.delete(key);
  }

  /** Applies all conditions of the watcher at once: an entry left out would be removed. */
  async #write(resource: KnownResource, finding: OwnFinding, abort: AbortSignal): Promise<Condition[]> {
    const { kube, clock } = this.#deps;
    const { ref, apiVersion, generation, ownConditions } = resource;
    const before = ownConditions.find(condition => condition.type === finding.type);
    const unchanged = before?.status === finding.status;
    const condition: Condition = {
      ...finding,
      lastTransitionTime: unchanged ? before.lastTransitionTime : timestamp(clock.date().getTime()),
      ...(generation === undefined ? {} : { observedGeneration: generation }),
    };
    const others = ownConditions.filter(({ type }) => type !== finding.type);
    const { kind, namespace, name, uid } = ref;
    const stored = await kube.apply(
      {
        apiVersion,
        kind,
        // With the uid a later resource of the same name answers Conflict.
        metadata: { namespace, name, uid },
        status: { conditions: [...others, condition] },
      },
      { subresource: 'status', force: true, timeoutMs: WRITE_TIMEOUT_MS, signal: abort },
    );
    return listAt(stored, 'status', 'conditions')
      .filter(isCondition)
      .filter(({ type }) => WATCHER_CONDITIONS.includes(type));
  }
}

/** Messages are not compared: they name times and codes that vary while the news is the same. */
function says(resource: KnownResource, finding: OwnFinding): boolean {
  return resource.ownConditions.some(
    ({ type, status, reason }) =>
      type === finding.type && status === finding.status && reason === finding.reason,
  );
}
