/** Writes the watcher's own conditions into the status of resources, beside the operator's and never over them. */
import { type FindingBesidePasses, statusWith } from '../../api/derived/beside-passes.ts';
import { timestamp } from '../../api/values/time.ts';
import { isNotFound, KubeError } from '../../kube/errors.ts';
import type { KubeClient, KubeObject } from '../../kube/port.ts';
import type { KnownResource, KnownResources } from '../resources/known-resources.ts';
import { type Backoff, jitteredBackoffMs } from '../../api/values/backoff.ts';
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
  async report(key: string, finding: FindingBesidePasses, abort: AbortSignal): Promise<void> {
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
      this.#failures.set(key, {
        count,
        notBefore: clock.now() + jitteredBackoffMs(RETRY, count, clock.random()),
      });
      const reason = error instanceof KubeError ? error.reason : 'Error';
      logger.warn('condition not written', { ...resource.ref, condition: finding.type, reason });
    }
  }

  /** Forgets the failures of a resource that is gone. */
  forget(key: string): void {
    this.#failures.delete(key);
  }

  /**
   * Puts the finding into the list of conditions as it is now, under the resource version that it was read with: whatever
   * the operator, or another release, has written beside it stays.
   */
  async #write(
    { ref, apiVersion }: KnownResource,
    finding: FindingBesidePasses,
    abort: AbortSignal,
  ): Promise<KubeObject> {
    const { kube, clock } = this.#deps;
    const { kind, namespace, name, uid } = ref;
    const at = { apiVersion, kind, namespace, name };
    const call = { timeoutMs: WRITE_TIMEOUT_MS, signal: abort };
    const found = await kube.get(at, call);
    if (found?.metadata.uid !== uid) throw gone(ref);
    const { resourceVersion } = found.metadata;
    const status = statusWith(
      found as Parameters<typeof statusWith>[0],
      finding,
      timestamp(clock.date().getTime()),
    );
    const patch = { metadata: { uid, resourceVersion }, status };
    return kube.patch(at, patch, { type: 'merge', subresource: 'status', ...call });
  }
}

function gone({ kind, namespace, name }: KnownResource['ref']): KubeError {
  const message = `${kind} ${namespace}/${name} is gone`;
  return new KubeError({ code: 404, reason: 'NotFound', message, retry: 'never' });
}

/** Messages are not compared: they name times and codes that vary while the news is the same. */
function says(resource: KnownResource, finding: FindingBesidePasses): boolean {
  return resource.conditions.some(
    ({ type, status, reason }) =>
      type === finding.type && status === finding.status && reason === finding.reason,
  );
}
