import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import type { HttpBindings } from '@hono/node-server';
import type { Context } from 'hono';
import { getErrorMessage } from '../../base/index.js';
import { runSpecSchema } from '../../store/records/index.js';
import { RequestError } from './request-error.js';

interface BodyLimits {
  readonly maxBytes: number;
  /** Whether `maxBytes` is the configured limit, which can be raised. */
  readonly isConfigured: boolean;
  /** Counts incoming bytes; returns false if all bodies together are too large. */
  readonly grow: (bytes: number) => boolean;
}

/** Reads a JSON body as bytes. Throws immediately if its headers are not acceptable. */
export function readBody(context: Context, limits: BodyLimits): Promise<Uint8Array> {
  const { maxBytes } = limits;
  const type = context.req.header('content-type') ?? '';
  // This also protects against other sites: a page cannot send JSON to another origin without a preflight.
  if (!/^application\/json\s*(?:;|$)/i.test(type)) {
    throw new RequestError('NOT_JSON', 'The content type is not application/json. Send JSON with that content type.');
  }
  if (Number(context.req.header('content-length')) > maxBytes) throw createTooLargeError(limits);
  return receive(readIncomingMessage(context) ?? Readable.from(context.req.raw.body ?? []), limits);
}

/** Parses a JSON body; throws `INVALID_BODY`. */
export function readJson(bytes: Uint8Array): unknown {
  try {
    const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString();
    return JSON.parse(text.startsWith('\uFEFF') ? text.slice(1) : text) as unknown;
  } catch (error) {
    throw new RequestError('INVALID_BODY', `The body is not valid JSON: ${getErrorMessage(error)}. Send valid JSON.`);
  }
}

/** Receives a body. It uses events, because iterating over the stream is several times slower. */
function receive(incoming: Readable, limits: BodyLimits): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    let read: Uint8Array[] | undefined = [];
    let length = 0;
    incoming.on('data', (chunk: Uint8Array) => {
      // Chunks after a refused chunk are discarded.
      if (read === undefined) return;
      length += chunk.length;
      if (length <= limits.maxBytes && limits.grow(chunk.length)) {
        read.push(chunk);
        return;
      }
      read = undefined;
      const message = 'The server is receiving too much data. Try again in a few seconds.';
      reject(length > limits.maxBytes ? createTooLargeError(limits) : new RequestError('SERVER_BUSY', message));
    });
    incoming.once('end', () => {
      const [first, second] = read ?? [];
      resolve(first !== undefined && second === undefined ? first : Buffer.concat(read ?? []));
    });
    incoming.once('error', (cause) => {
      const message = 'The connection closed before the body was complete. Send the request again.';
      reject(new RequestError('INVALID_BODY', message, { cause }));
    });
  });
}

function createTooLargeError({ maxBytes, isConfigured }: BodyLimits): RequestError {
  const advice = isConfigured
    ? 'Send a smaller body, or raise "server.limits.body_bytes" in the configuration.'
    : 'Send a smaller body.';
  return new RequestError('BODY_TOO_LARGE', `The body is larger than ${maxBytes} bytes. ${advice}`);
}

const TRACEPARENT = new RegExp(runSpecSchema.properties.traceparent.pattern);

/** Reads a request's trace context; undefined if the header is missing or invalid. */
export function readTraceparent(context: Context): string | undefined {
  const sent = context.req.header('traceparent');
  return sent !== undefined && TRACEPARENT.test(sent) ? sent : undefined;
}

/** Returns the Node.js request; undefined if there is no connection. */
export function readIncomingMessage({ env }: Context): IncomingMessage | undefined {
  return (env as Partial<HttpBindings> | undefined)?.incoming;
}

/** Returns the Node.js response, which always emits `close` once; undefined if there is no connection. */
export function readOutgoingMessage({ env }: Context): ServerResponse | undefined {
  return (env as Partial<HttpBindings> | undefined)?.outgoing;
}
