/** Which workflows cannot go on, as Temporal reports them again and again: on the resources, and as a number for whoever counts. */
import { failedDelivery, type TemporalPort } from '../temporal/client.ts';
import { type ReportDeps, reportStuck } from './reports.ts';

export interface StuckCheckDeps extends ReportDeps {
  readonly temporal: Pick<TemporalPort, 'problems' | 'state'>;
  /** Temporal cannot be asked anything. */
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
    const found = await reportStuck(this.#deps, abort).catch(async (error: unknown) => {
      const { outcome, code } = failedDelivery(error);
      logger.debug('stuck workflows not listed', { code });
      if (outcome === 'unavailable' && (await this.#isAway(abort)) && !abort.aborted) onUnavailable();
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

  /**
   * Whether Temporal does not even say of one workflow whether it runs. A list of many takes long on a busy server: to have every workflow
   * look because of that would make it busier still.
   */
  async #isAway(abort: AbortSignal): Promise<boolean> {
    const { known, temporal } = this.#deps;
    const [any] = known.all();
    if (any === undefined) return false;
    return temporal.state(any.ref, 'resource', abort).then(
      () => false,
      (error: unknown) => failedDelivery(error).outcome === 'unavailable',
    );
  }
}
