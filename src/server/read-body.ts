import type { Context } from 'hono';
import { headerOf } from './header-of.js';
import { RequestError } from './request-error.js';

/** The JSON of a body of at most so many bytes. */
export async function readBody(context: Context, maxBytes: number): Promise<unknown> {
  const type = headerOf(context, 'content-type') ?? '';
  // Also keeps other sites out: a page cannot send JSON elsewhere without asking first.
  if (!/^application\/json\s*(?:;|$)/i.test(type)) {
    throw new RequestError('NOT_JSON', 'Send the body as application/json.');
  }
  const text = await readBounded(context, maxBytes);
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw new RequestError('INVALID_BODY', `The body is not JSON: ${error instanceof Error ? error.message : ''}`);
  }
}

async function readBounded(context: Context, maxBytes: number): Promise<string> {
  const length = Number(headerOf(context, 'content-length') ?? Number.NaN);
  if (length > maxBytes) throw tooLarge(maxBytes);
  // With a length the platform reads no more than that; without one it is counted here.
  if (length >= 0) return context.req.text();
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  for await (const chunk of context.req.raw.body ?? []) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw tooLarge(maxBytes);
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

function tooLarge(maxBytes: number): RequestError {
  return new RequestError('BODY_TOO_LARGE', `A body has at most ${maxBytes} bytes here.`);
}
