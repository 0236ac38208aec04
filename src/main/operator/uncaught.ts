/**
 * What nobody caught: an error that a callback threw, or a rejection that nobody waited for. It is logged and counted, and the
 * process continues, since it concerns one connection or one call, and ending would cut off every backup under way. That is
 * sound only because nothing here is decided from what the process remembers (docs/decisions/0055-the-operator-s-process-and-image.md); where it continues and on,
 * the process is not to be trusted any more, and is ended in order.
 */
import type { Logger } from '../../telemetry/logger.ts';

export interface UncaughtLimits {
  /** So many within the window are borne. */
  readonly most: number;
  readonly windowMs: number;
}

const UNCAUGHT_LIMITS: UncaughtLimits = { most: 10, windowMs: 10 * 60_000 };

/** Node's two: `uncaughtException` or `unhandledRejection`. */
export type Origin = NodeJS.UncaughtExceptionOrigin;

export interface UncaughtSinks {
  readonly logger: Pick<Logger, 'error'>;
  readonly count: (origin: Origin) => void;
  /** Called once, when there were too many. */
  readonly giveUp: (error: Error) => void;
}

/** What to do with each; for `process.on('uncaughtException')`, where rejections come as well. Never throws. */
export function uncaughtHandler(
  { logger, count, giveUp }: UncaughtSinks,
  limits: UncaughtLimits = UNCAUGHT_LIMITS,
): (error: unknown, origin: Origin) => void {
  let recent: number[] = [];
  let hasGivenUp = false;
  return (error, origin) => {
    const now = performance.now();
    recent = [...recent.filter(at => now - at < limits.windowMs), now];
    try {
      count(origin);
      logger.error('uncaught error; the operator continues', {
        origin,
        error,
      });
    } catch {
      // An error whose own fields throw, or a log that is closed: neither is worth the process.
    }
    if (hasGivenUp || recent.length <= limits.most) return;
    hasGivenUp = true;
    giveUp(new Error(`${recent.length} uncaught errors within ${limits.windowMs / 1000} s`));
  };
}
