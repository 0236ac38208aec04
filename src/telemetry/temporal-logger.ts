import type { Logger as TemporalLogger, LogLevel as TemporalLevel, LogMetadata } from '@temporalio/common';
import type { Logger, LogLevel } from './logger.ts';

const levels: Readonly<Record<TemporalLevel, LogLevel>> = {
  TRACE: 'debug',
  DEBUG: 'debug',
  INFO: 'info',
  WARN: 'warn',
  ERROR: 'error',
};

/** Long, and of no use to a reader: the workflow and activity ids beside it say the same. */
const dropped = new Set(['taskToken']);

/**
 * The logger of Temporal's Runtime: gets the worker's and the native core's lines, those of `log` in workflows
 * (replay-safe) and in activities.
 */
export function temporalLogger(logger: Logger): TemporalLogger {
  const write = (level: TemporalLevel, message: string, meta: LogMetadata = {}): void => {
    // Object.entries leaves out the symbol under which the SDK keeps its own timestamp.
    const fields = Object.fromEntries(Object.entries(meta).filter(([key]) => !dropped.has(key)));
    logger[levels[level]](message, fields);
  };
  return {
    log: write,
    trace: (message, meta) => write('TRACE', message, meta),
    debug: (message, meta) => write('DEBUG', message, meta),
    info: (message, meta) => write('INFO', message, meta),
    warn: (message, meta) => write('WARN', message, meta),
    error: (message, meta) => write('ERROR', message, meta),
  };
}
