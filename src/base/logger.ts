/** Severity of a log line, lowest first. */
export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

/** Names and values logged with the message. */
export type LogFields = Readonly<Record<string, unknown>>;

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
