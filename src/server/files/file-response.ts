import type { Context } from 'hono';
import { readChunks } from '../../base/files/index.js';
import type { ReadableFile } from '../../base/index.js';
import { createProblemResponse } from '../http/responses.js';
import { RequestError } from '../http/problem.js';
import { streamBody } from '../export/stream-body.js';

/** A file to send. Browsers never render it, because an agent might have written it. */
interface FileResponse {
  readonly handle: ReadableFile;
  readonly type: 'application/octet-stream' | 'text/plain; charset=utf-8';
  /** The maximum number of bytes in one response; the header `x-total-bytes` has the total. */
  readonly maxBytes?: number;
  readonly requestId: string;
}

/** Sends an open file, or the requested part of it, and closes it. */
export async function createFileResponse(context: Context, file: FileResponse): Promise<Response> {
  const { handle, type, maxBytes = Number.POSITIVE_INFINITY, requestId } = file;
  const { size } = await handle.stat().catch(async (error: unknown) => {
    await handle.close();
    throw error;
  });
  const range = parseByteRange(context.req.header('range'), size);
  if (range === 'unsatisfiable' || context.req.method === 'HEAD') await handle.close();
  if (range === 'unsatisfiable') return createRangeProblem(size, requestId);
  const { from, to: requestedEnd } = range ?? { from: 0, to: size };
  const to = Math.min(requestedEnd, from + maxBytes);
  const headers = {
    'content-type': type,
    'content-disposition': 'attachment',
    'accept-ranges': 'bytes',
    'content-length': String(to - from),
    'x-total-bytes': String(size),
    ...(range === undefined ? {} : { 'content-range': `bytes ${from}-${to - 1}/${size}` }),
  };
  // If the file has since been truncated, the body fails and the connection closes, so the reader notices.
  const isHead = context.req.method === 'HEAD';
  const body = isHead ? null : streamBody(readChunks(handle, { from, to }), async () => handle.close());
  return new Response(body, { status: range === undefined ? 200 : 206, headers });
}

function createRangeProblem(size: number, requestId: string): Response {
  const problem = new RequestError(
    'INVALID_RANGE',
    `The range is outside the file, which has ${size} bytes. Request a range within it.`,
  );
  return createProblemResponse(problem, requestId, { 'content-range': `bytes */${size}` });
}

/** A range of bytes; `to` is exclusive. */
interface ByteSpan {
  readonly from: number;
  readonly to: number;
}

/**
 * Parses a `Range` header. Undefined means the whole file, which is also the result for an invalid header or multiple
 * ranges; `unsatisfiable` means that the range is outside the file.
 *
 * @example
 * parseByteRange('bytes=10-19', 100) // { from: 10, to: 20 }
 * parseByteRange('bytes=-5', 100) // { from: 95, to: 100 }
 */
export function parseByteRange(header: string | undefined, size: number): ByteSpan | 'unsatisfiable' | undefined {
  const [, first, last] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header?.trim() ?? '') ?? [];
  if (first === undefined || last === undefined || (first === '' && last === '')) return undefined;
  if (first === '') {
    const length = Math.min(Number(last), size);
    return length === 0 ? 'unsatisfiable' : { from: size - length, to: size };
  }
  const from = Number(first);
  if (last !== '' && Number(last) < from) return undefined;
  return from >= size ? 'unsatisfiable' : { from, to: last === '' ? size : Math.min(Number(last) + 1, size) };
}
