import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Context } from 'hono';
import { getErrorMessage } from '../../base/index.js';
import { runSpecSchema } from '../../records/index.js';
import { RequestError } from './request-error.js';

/** Limits of a body. */
interface BodyLimits {
  readonly maxBytes: number;
  /** Takes what arrives; false if all bodies together are too large. */
  readonly grow: (bytes: number) => boolean;
}

/** The bytes of a JSON body. Throws at once if its headers are not acceptable. */
export function readBody(context: Context, limits: BodyLimits): Promise<Uint8Array> {
  const { maxBytes } = limits;
  const type = readHeader(context, 'content-type') ?? '';
  // Also a defence against other sites: a page cannot send JSON cross-origin without a preflight.
  if (!/^application\/json\s*(?:;|$)/i.test(type)) {
    throw new RequestError('NOT_JSON', 'The body is not application/json. Send JSON, with that content type.');
  }
  if (Number(readHeader(context, 'content-length')) > maxBytes) throw tooLarge(maxBytes);
  const incoming = readIncomingMessage(context);
  return incoming === undefined ? readAll(context.req.raw.body ?? [], limits) : readIncoming(incoming, limits);
}

/** Parses a JSON body; throws `INVALID_BODY`. */
export function readJson(bytes: Uint8Array): unknown {
  try {
    const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString();
    return JSON.parse(text.startsWith('\uFEFF') ? text.slice(1) : text) as unknown;
  } catch (error) {
    throw new RequestError('INVALID_BODY', `The body is not valid JSON: ${getErrorMessage(error)}`);
  }
}

async function readAll(chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>, limits: BodyLimits): Promise<Buffer> {
  const read: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of chunks) {
    length += chunk.length;
    refuseExcess(length, chunk.length, limits);
    read.push(chunk);
  }
  return Buffer.concat(read);
}

/** The same from a connection, by its events: iterating costs several times as much, and every request comes through here. */
function readIncoming(incoming: IncomingMessage, limits: BodyLimits): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    let read: Buffer[] | undefined = [];
    let length = 0;
    incoming.on('data', (chunk: Buffer) => {
      // The parts after a refused one are discarded.
      if (read === undefined) return;
      length += chunk.length;
      try {
        refuseExcess(length, chunk.length, limits);
        read.push(chunk);
      } catch (error) {
        read = undefined;
        reject(error);
      }
    });
    incoming.once('end', () => {
      const [first, second] = read ?? [];
      resolve(first !== undefined && second === undefined ? first : Buffer.concat(read ?? []));
    });
    incoming.once('error', (cause) => {
      reject(new RequestError('INVALID_BODY', 'The connection closed before the body was complete.', { cause }));
    });
  });
}

function refuseExcess(length: number, added: number, { maxBytes, grow }: BodyLimits): void {
  if (length > maxBytes) throw tooLarge(maxBytes);
  if (!grow(added))
    throw new RequestError('SERVER_BUSY', 'The server is receiving too much at once. Try again in a few seconds.');
}

function tooLarge(maxBytes: number): RequestError {
  return new RequestError(
    'BODY_TOO_LARGE',
    `The body is larger than ${maxBytes} bytes. Send less, or raise "server.limits.body_bytes" in the configuration.`,
  );
}

/**
 * A header of the request. With a connection it is read from Node.js' own object: creating the headers of a `Request`
 * costs as much as answering it.
 */
export function readHeader(context: Context, name: string): string | undefined {
  const incoming = readIncomingMessage(context);
  if (incoming === undefined) return context.req.header(name);
  const value = incoming.headers[name];
  return typeof value === 'string' ? value : value?.[0];
}

const TRACEPARENT = new RegExp(runSpecSchema.properties.traceparent.pattern);

/** The span that sent a request; undefined if the header is missing or invalid. */
export function readTraceparent(context: Context): string | undefined {
  const sent = readHeader(context, 'traceparent');
  return sent !== undefined && TRACEPARENT.test(sent) ? sent : undefined;
}

/** The request as Node.js has it; undefined if there is no connection. */
export function readIncomingMessage(context: Context): IncomingMessage | undefined {
  return ((context.env ?? {}) as { readonly incoming?: IncomingMessage }).incoming;
}

/** The response as Node.js has it; undefined where there is no connection. It emits `close` once, also if the client is gone. */
export function readOutgoingMessage(context: Context): Pick<ServerResponse, 'closed' | 'once' | 'off'> | undefined {
  return ((context.env ?? {}) as { readonly outgoing?: ServerResponse }).outgoing;
}
