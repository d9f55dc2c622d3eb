import type { FileHandle } from 'node:fs/promises';
import type { Context } from 'hono';
import { answerProblem } from '../answer.js';
import { byteRange } from '../byte-range.js';
import type { ByteSpan } from '../byte-range.js';
import { RequestError } from '../request-error.js';
import { streamOf } from '../stream-of.js';

/** How a file is sent. It is never shown by a browser by itself: an agent may have written it. */
export interface FileAnswer {
  readonly handle: FileHandle;
  readonly type: 'application/octet-stream' | 'text/plain; charset=utf-8';
  /** No more bytes than these at once; `x-total-bytes` tells how many there are. */
  readonly most?: number;
  readonly requestId: string;
}

const CHUNK = 64 * 1024;

/** Sends an open file, or the part of it that the request asks for, and closes it. */
export async function answerFile(context: Context, answer: FileAnswer): Promise<Response> {
  const { handle, type, most = Number.POSITIVE_INFINITY, requestId } = answer;
  const { size } = await handle.stat();
  const range = byteRange(context.req.header('range'), size);
  if (range === 'none' || context.req.method === 'HEAD') await handle.close();
  if (range === 'none') return unsatisfiable(size, requestId);
  const { from, to: wanted } = range ?? { from: 0, to: size };
  const to = Math.min(wanted, from + most);
  const headers = {
    'content-type': type,
    'content-disposition': 'attachment',
    'accept-ranges': 'bytes',
    'content-length': String(to - from),
    'x-total-bytes': String(size),
    ...(range === undefined ? {} : { 'content-range': `bytes ${from}-${to - 1}/${size}` }),
  };
  const isHead = context.req.method === 'HEAD';
  const body = isHead ? null : streamOf(readSpan(handle, { from, to }), async () => handle.close());
  return new Response(body, { status: range === undefined ? 200 : 206, headers });
}

/** A file that was cut meanwhile gives less; the connection breaks then, and its reader knows. */
async function* readSpan(handle: FileHandle, { from, to }: ByteSpan): AsyncGenerator<Uint8Array, void> {
  for (let at = from; at < to;) {
    const chunk = new Uint8Array(Math.min(CHUNK, to - at));
    const { bytesRead } = await handle.read(chunk, 0, chunk.length, at);
    if (bytesRead === 0) return;
    yield chunk.subarray(0, bytesRead);
    at += bytesRead;
  }
}

function unsatisfiable(size: number, requestId: string): Response {
  const problem = new RequestError('INVALID_RANGE', `There are ${size} bytes so far; ask for some of them.`);
  const answer = answerProblem(problem, requestId);
  answer.headers.set('content-range', `bytes */${size}`);
  return answer;
}
