import type { IncomingMessage } from 'node:http';
import type { Context } from 'hono';
import { errorMessageOf } from '../base/index.js';
import { headerOf } from './header-of.js';
import { incomingOf } from './incoming-of.js';
import { RequestError } from './request-error.js';

const decoder = new TextDecoder();

/** The JSON of a body of at most so many bytes. */
export async function readBody(context: Context, maxBytes: number): Promise<unknown> {
  const type = headerOf(context, 'content-type') ?? '';
  // Also keeps other sites out: a page cannot send JSON elsewhere without asking first.
  if (!/^application\/json\s*(?:;|$)/i.test(type)) {
    throw new RequestError('NOT_JSON', 'Send the body as application/json.');
  }
  if (Number(headerOf(context, 'content-length')) > maxBytes) throw tooLarge(maxBytes);
  const incoming = incomingOf(context);
  const bytes = await (incoming === undefined
    ? readAll(context.req.raw.body ?? [], maxBytes)
    : readIncoming(incoming, maxBytes));
  try {
    return JSON.parse(decoder.decode(bytes)) as unknown;
  } catch (error) {
    throw new RequestError('INVALID_BODY', `The body is not JSON: ${errorMessageOf(error)}`);
  }
}

async function readAll(chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>, maxBytes: number): Promise<Buffer> {
  const read: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of chunks) {
    length += chunk.length;
    if (length > maxBytes) throw tooLarge(maxBytes);
    read.push(chunk);
  }
  return Buffer.concat(read);
}

/** The same from a port, by its events: every request goes through here, and iterating costs several times as much. */
function readIncoming(incoming: IncomingMessage, maxBytes: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const read: Buffer[] = [];
    let length = 0;
    incoming.on('data', (chunk: Buffer) => {
      length += chunk.length;
      if (length <= maxBytes) {
        read.push(chunk);
        return;
      }
      read.length = 0;
      reject(tooLarge(maxBytes));
    });
    incoming.once('end', () => {
      const [first] = read;
      resolve(first !== undefined && read.length === 1 ? first : Buffer.concat(read));
    });
    incoming.once('error', reject);
  });
}

function tooLarge(maxBytes: number): RequestError {
  return new RequestError(
    'BODY_TOO_LARGE',
    `A body has at most ${maxBytes} bytes here. Send less, or raise server.limits.body_bytes.`,
  );
}
