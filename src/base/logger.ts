/** How much a line of the log matters. */
export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

/** Names and values beside the message. */
export type LogFields = Readonly<Record<string, unknown>>;

/** What Sluice says about its own work; agents' output goes elsewhere. */
export interface Logger {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
}

const ignore = (): void => undefined;

/** Says nothing. */
export const silentLogger: Logger = { debug: ignore, info: ignore, warn: ignore, error: ignore };
