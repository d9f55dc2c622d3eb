import type { Readable, Writable } from 'node:stream';
import { getErrorMessage } from '../../base/index.js';
import { createServerFactory } from './create-mcp-server.js';
import type { McpSession } from './create-mcp-server.js';
import { StdioServerTransport, serveStdio } from './sdk.js';

/** Options for serving a client on a pair of streams. */
export interface McpServerOptions extends McpSession {
  readonly input: Readable;
  readonly output: Writable;
  /** Closes the connection. */
  readonly signal?: AbortSignal;
}

/** A longer message closes the connection. */
const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;

/** Serves a client of the Model Context Protocol on a pair of streams. Resolves when the client disconnects. */
export async function serveMcp({ input, output, signal, ...session }: McpServerOptions): Promise<void> {
  const { logger } = session;
  const transport = new WatchedTransport(input, output, { maxBufferSize: MAX_MESSAGE_BYTES });
  const onerror = (error: Error): void => logger.warn('MCP connection error', { error: getErrorMessage(error) });
  const connection = serveStdio(createServerFactory(session), { transport, onerror });
  const close = (): void => void connection.close();
  if (signal?.aborted === true) close();
  signal?.addEventListener('abort', close, { once: true });
  await transport.closed;
  signal?.removeEventListener('abort', close);
}

/** Reports when the connection has ended. */
class WatchedTransport extends StdioServerTransport {
  #resolve = (): void => undefined;
  readonly closed = new Promise<void>((resolve) => {
    this.#resolve = resolve;
  });

  override async close(): Promise<void> {
    await super.close();
    this.#resolve();
  }
}
