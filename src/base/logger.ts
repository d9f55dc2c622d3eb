import { truncate } from './text.js';

type LogLevel = 'debug' | 'info' | 'warn' | 'error';

type LogFields = Readonly<Record<string, unknown>>;

/** Logs Sluice's own work; agents' output is stored elsewhere. */
export interface Logger {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
}

const ignore = (): void => undefined;

/** Drops every line. */
export const silentLogger: Logger = { debug: ignore, info: ignore, warn: ignore, error: ignore };

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

const MAX_CHARACTERS = 4096;
const MAX_MEMBERS = 50;
const MAX_DEPTH = 5;
const MAX_VALUES = 500;

/** Converts any value for a log line: bounded in size, with secrets masked. Never throws. */
function toLoggable(value: unknown, mask: (text: string) => string): unknown {
  return convert(value, { mask, remaining: MAX_VALUES }, 0);
}

interface Conversion {
  readonly mask: (text: string) => string;
  /** Number of values the line may still contain. */
  remaining: number;
}

function convert(value: unknown, conversion: Conversion, depth: number): unknown {
  conversion.remaining -= 1;
  if (conversion.remaining < 0) return '[…]';
  switch (typeof value) {
    case 'string':
      return limitText(conversion.mask(value));
    case 'number':
      return Number.isFinite(value) ? value : String(value);
    case 'bigint':
      return String(value);
    case 'boolean':
    case 'undefined':
      return value;
    case 'symbol':
    case 'function':
      return `[${typeof value}]`;
    case 'object':
      if (value === null) return null;
      if (depth === MAX_DEPTH) return '[…]';
      // A getter of an error or a proxy can throw.
      try {
        return convertObject(value, conversion, depth + 1);
      } catch {
        return '[unreadable]';
      }
  }
}

function convertObject(value: object, conversion: Conversion, depth: number): unknown {
  if (value instanceof Error) return convertError(value, conversion, depth);
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'Invalid Date' : value.toISOString();
  if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
  if (Array.isArray(value)) {
    const items = value.slice(0, MAX_MEMBERS).map((item: unknown) => convert(item, conversion, depth));
    return value.length > MAX_MEMBERS ? [...items, `[${value.length - MAX_MEMBERS} more]`] : items;
  }
  const members = Object.keys(value)
    .slice(0, MAX_MEMBERS)
    .map((key) => [limitText(conversion.mask(key)), convert(readMember(value, key), conversion, depth)] as const);
  return Object.fromEntries(members);
}

function convertError(error: Error, conversion: Conversion, depth: number): unknown {
  return {
    name: convert(error.name, conversion, depth),
    ...('code' in error ? { code: convert(error.code, conversion, depth) } : {}),
    message: convert(error.message, conversion, depth),
    ...(error.stack === undefined ? {} : { stack: convert(error.stack, conversion, depth) }),
    ...(error.cause === undefined ? {} : { cause: convert(error.cause, conversion, depth) }),
  };
}

/** Reads a member whose getter might throw. */
function readMember(value: object, key: string): unknown {
  try {
    return Reflect.get(value, key) as unknown;
  } catch {
    return '[unreadable]';
  }
}

/** Called with masked text, so no part of a secret remains where the text is cut. */
function limitText(text: string): string {
  return text.length > MAX_CHARACTERS ? `${truncate(text, MAX_CHARACTERS)} (${text.length} characters)` : text;
}
