/** Writes the watcher's own conditions into the status of resources, beside the operator's and never over them. */
import { type FindingBesidePasses, statusWith } from '../../api/derived/beside-passes.ts';
import { timestamp } from '../../api/values/time.ts';
import { isNotFound, KubeError } from '../../kube/errors.ts';
import type { KubeClient, KubeObject } from '../../kube/port.ts';
import type { KnownResource, KnownResources } from '../resources/known-resources.ts';
import type { Clock, WatcherLogger } from '../model/ports.ts';

/** Who these conditions belong to: `kubectl get --show-managed-fields` shows who wrote what. */
export const WATCHER_FIELD_MANAGER = 'etcd-operator-watcher';

export interface ConditionWriterDeps {
  /** Writes as {@link WATCHER_FIELD_MANAGER}. */
  readonly kube: Pick<KubeClient, 'get' | 'patch'>;
  readonly known: KnownResources;
  readonly clock: Clock;
  readonly logger: WatcherLogger;
}

const WRITE_TIMEOUT_MS = 5_000;
/** After a write that failed the resource is left alone for so long. */
const AGAIN_MS = 10_000;

export class ConditionWriter {
  readonly #deps: ConditionWriterDeps;
  /** Keys whose write failed, and when that was. */
  readonly #failed = new Map<string, number>();

  constructor(deps: ConditionWriterDeps) {
    this.#deps = deps;
  }

  /**
   * Makes a resource say this. Writes only when its status or reason would change; a failed write is tried again
   * when this is called again, after a while. Never rejects.
   */
  async report(key: string, finding: FindingBesidePasses, abort: AbortSignal): Promise<void> {
    const { known, clock, logger } = this.#deps;
    const resource = known.get(key);
    if (resource === undefined || says(resource, finding) || abort.aborted) return;
    const isEarly = clock.now() - (this.#failed.get(key) ?? Number.NEGATIVE_INFINITY) < AGAIN_MS;
    if (isEarly) return;
    const { type, status } = finding;
    try {
      const stored = await this.#write(resource, finding, abort);
      this.#failed.delete(key);
      if (stored === undefined) return;
      known.noteConditions(key, stored);
      logger.info('condition written', { ...resource.ref, condition: type, status });
    } catch (error) {
      if (isNotFound(error)) return;
      this.#failed.set(key, clock.now());
      const reason = error instanceof KubeError ? error.reason : 'Error';
      logger.warn('condition not written', { ...resource.ref, condition: type, reason });
    }
  }

  /** Forgets the failures of a resource that is gone. */
  forget(key: string): void {
    this.#failed.delete(key);
  }

  /**
   * Puts the finding into the list of conditions as it is now, under the resource version that it was read with: whatever
   * the operator, or another release, has written beside it stays. Undefined: the resource is gone.
   */
  async #write(
    { ref, apiVersion }: KnownResource,
    finding: FindingBesidePasses,
    signal: AbortSignal,
  ): Promise<KubeObject | undefined> {
    const { kube, clock } = this.#deps;
    const { uid, ...at } = { apiVersion, ...ref };
    const call = { timeoutMs: WRITE_TIMEOUT_MS, signal };
    const found = await kube.get(at, call);
    if (found?.metadata.uid !== uid) return undefined;
    const { resourceVersion } = found.metadata;
    const now = timestamp(clock.date().getTime());
    const status = statusWith(found as Parameters<typeof statusWith>[0], finding, now);
    const patch = { metadata: { uid, resourceVersion }, status };
    return kube.patch(at, patch, { type: 'merge', subresource: 'status', ...call });
  }
}

/** Messages are not compared: they name times and codes that vary while the news is the same. */
function says(resource: KnownResource, finding: FindingBesidePasses): boolean {
  return resource.conditions.some(
    ({ type, status, reason }) =>
      type === finding.type && status === finding.status && reason === finding.reason,
  );
}
