import type { Context } from 'hono';
import { readChunks } from '../../files/index.js';
import type { ReadableFile } from '../../base/index.js';
import { answerProblem } from '../http/answer.js';
import { RequestError } from '../http/problem.js';
import { streamBody } from '../export/stream-body.js';

/** The response with a file. Browsers never render it: an agent may have written it. */
interface FileAnswer {
  readonly handle: ReadableFile;
  readonly type: 'application/octet-stream' | 'text/plain; charset=utf-8';
  /** The most bytes in one response; `x-total-bytes` has the total. */
  readonly most?: number;
  readonly requestId: string;
}

/** Sends an open file, or the requested part of it, and closes it. */
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
  // If the file was truncated meanwhile, the connection breaks, so that the reader notices.
  const isHead = context.req.method === 'HEAD';
  const body = isHead ? null : streamBody(readChunks(handle, { from, to }), async () => handle.close());
  return new Response(body, { status: range === undefined ? 200 : 206, headers });
}

function unsatisfiable(size: number, requestId: string): Response {
  const problem = new RequestError(
    'INVALID_RANGE',
    `The range is outside of the file, which has ${size} bytes. Request a range within it.`,
  );
  const answer = answerProblem(problem, requestId);
  answer.headers.set('content-range', `bytes */${size}`);
  return answer;
}

/** A range of bytes; `to` is exclusive. */
interface ByteSpan {
  readonly from: number;
  readonly to: number;
}

/**
 * The range of a `Range` header; undefined for the whole file, also for an invalid header or several ranges; `none` if it
 * is outside of the file.
 *
 * @example
 * byteRange('bytes=10-19', 100) // { from: 10, to: 20 }
 * byteRange('bytes=-5', 100) // { from: 95, to: 100 }
 */
export function byteRange(header: string | undefined, size: number): ByteSpan | 'none' | undefined {
  const [, first, last] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header?.trim() ?? '') ?? [];
  if (first === undefined || last === undefined || (first === '' && last === '')) return undefined;
  if (first === '') {
    const length = Math.min(Number(last), size);
    return length === 0 ? 'none' : { from: size - length, to: size };
  }
  const from = Number(first);
  if (last !== '' && Number(last) < from) return undefined;
  return from >= size ? 'none' : { from, to: last === '' ? size : Math.min(Number(last) + 1, size) };
}
