/** Which workflows cannot go on, as Temporal reports them again and again: on the resources, and as a number for whoever counts. */
import { failedDelivery } from '../temporal/client.ts';
import { type ReportDeps, reportStuck } from './reports.ts';

export interface StuckCheckDeps extends ReportDeps {
  /** Temporal cannot be asked. */
  readonly onUnavailable: () => void;
}

export class StuckCheck {
  readonly #deps: StuckCheckDeps;
  #count: number | undefined;
  #isUnsupported = false;

  constructor(deps: StuckCheckDeps) {
    this.#deps = deps;
  }

  /** Resources with a workflow that cannot go on; undefined until asked, or where Temporal cannot tell. */
  get count(): number | undefined {
    return this.#count;
  }

  /** Asks once; never again where Temporal cannot tell. */
  async round(abort: AbortSignal): Promise<void> {
    const { known, logger, onUnavailable } = this.#deps;
    if (this.#isUnsupported || known.size === 0) return;
    const found = await reportStuck(this.#deps, abort).catch((error: unknown) => {
      const { outcome, code } = failedDelivery(error);
      logger.debug('stuck workflows not listed', { code });
      if (outcome === 'unavailable' && !abort.aborted) onUnavailable();
      return this.#count;
    });
    this.#isUnsupported = found === 'unsupported';
    this.#count = found === 'unsupported' ? undefined : found;
    if (this.#isUnsupported) {
      logger.info(
        'this Temporal server does not report stuck workflows: condition WorkflowStuck is not updated',
      );
    }
  }
}
