/** The operator's log: one JSON object a line, constant messages with fields, secrets taken out on the way. */
import { pino, type DestinationStream } from 'pino';
import { type Scrub, scrubValue } from './scrub.ts';

type LogFields = Readonly<Record<string, unknown>>;

/** Fits the smaller interfaces that src/kube, src/watcher and src/activities ask for. */
export interface Logger {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  /** A logger that adds `fields` to every line. */
  child(fields: LogFields): Logger;
}

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export interface LoggerOptions {
  readonly level: LogLevel;
  readonly scrub: Scrub;
  /** Fields of every line, such as the pod's name. */
  readonly fields?: LogFields;
  /** Where lines go; standard output when left out. */
  readonly destination?: DestinationStream;
}

/**
 * @returns a logger that writes synchronously: the last lines before an exit are the ones that matter most, and
 *   the operator writes a few lines a second
 */
export function createLogger(options: LoggerOptions): Logger {
  const sink = pino(
    {
      level: options.level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      messageKey: 'message',
      formatters: { level: label => ({ level: label }) },
    },
    options.destination ?? pino.destination({ sync: true }),
  );
  const withFields = (base: LogFields): Logger => {
    const write = (level: LogLevel, message: string, fields: LogFields = {}): void => {
      if (!sink.isLevelEnabled(level)) return;
      sink[level](scrubFields({ ...base, ...fields }, options.scrub), options.scrub(message));
    };
    return {
      debug: (message, fields) => write('debug', message, fields),
      info: (message, fields) => write('info', message, fields),
      warn: (message, fields) => write('warn', message, fields),
      error: (message, fields) => write('error', message, fields),
      child: fields => withFields({ ...base, ...fields }),
    };
  };
  return withFields(options.fields ?? {});
}

/** Names that a line has already; a field of the same name would hide them. */
const reserved = new Set(['level', 'time', 'message']);

function scrubFields(fields: LogFields, scrub: Scrub): Record<string, unknown> {
  const clean = scrubValue(fields, scrub);
  if (typeof clean !== 'object' || clean === null) return {};
  return Object.fromEntries(
    Object.entries(clean).map(([key, value]) => [reserved.has(key) ? `${key}_` : key, value]),
  );
}
