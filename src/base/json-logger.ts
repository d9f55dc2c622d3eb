import type { LogFields, Logger, LogLevel } from './logger.js';
import { toLoggable } from './to-loggable.js';

/** A logger's clock, level and masking. */
export interface JsonLoggerOptions {
  /** Milliseconds since 1970. */
  readonly clock?: () => number;
  /** Masks secrets in every logged string, including field names. */
  readonly mask?: (text: string) => string;
  /** The lowest level that is written; `info` by default. */
  readonly level?: LogLevel;
}

const LEVELS: readonly LogLevel[] = ['debug', 'info', 'warn', 'error'];

/**
 * Creates a logger that writes JSON lines: `level`, `time`, `message`, then the fields. A field cannot override those
 * three, and the line length is bounded.
 *
 * @example
 * const logger = createJsonLogger((line) => process.stderr.write(line), { mask: secrets.maskText });
 * logger.info('run started', { run_id: id }); // {"level":"info","time":"…","message":"run started","run_id":"…"}
 */
export function createJsonLogger(write: (line: string) => void, options: JsonLoggerOptions = {}): Logger {
  const { clock = Date.now, mask = (text) => text, level: minLevel = 'info' } = options;

  const log = (level: LogLevel): ((message: string, fields?: LogFields) => void) => {
    if (LEVELS.indexOf(level) < LEVELS.indexOf(minLevel)) return () => undefined;
    return (message, fields = {}) => {
      const head = { level, time: new Date(clock()).toISOString(), message: toLoggable(message, mask) };
      const converted = toLoggable(fields, mask);
      write(`${JSON.stringify({ ...head, ...(typeof converted === 'object' ? converted : {}), ...head })}\n`);
    };
  };

  return { debug: log('debug'), info: log('info'), warn: log('warn'), error: log('error') };
}
