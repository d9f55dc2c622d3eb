import { silentLogger } from '../base/index.js';
import type { Logger } from '../base/index.js';
import type { Config } from '../server/config/index.js';
import { runSpecSchema } from '../store/records/index.js';
import type { Tracing } from '../server/tracing/index.js';
import type { CommandIo } from './command-io.js';
import { formatLine } from './terminal-text.js';

/**
 * Opens tracing for this process's OpenTelemetry SDK, if any. Problems are reported in the log, or on stderr without a
 * log.
 */
export async function openCommandTracing(
  { traces = {}, notify }: Pick<Config, 'traces' | 'notify'>,
  { logger, io }: { readonly logger?: Logger; readonly io: CommandIo },
): Promise<Tracing | undefined> {
  const { openTracing } = await import('../server/tracing/index.js');
  const isLogged = logger !== undefined && logger !== silentLogger;
  const onStderr = { ...silentLogger, warn: (message: string) => void io.stderr.write(formatLine(message)) };
  return openTracing({
    logger: isLogged ? logger : onStderr,
    content: traces.content,
    consoleUrl: traces.console_url ?? notify?.console_url,
  });
}

/** Reads the span that this process belongs to from `TRACEPARENT`; undefined if it is missing or invalid. */
export function readTraceparent(): string | undefined {
  const value = process.env['TRACEPARENT'] ?? '';
  return new RegExp(runSpecSchema.properties.traceparent.pattern).test(value) ? value : undefined;
}
