import type { FileHandle } from 'node:fs/promises';
import { openRunFolder } from '../../audit/index.js';
import { isSluiceError } from '../../json/index.js';
import { STREAMS } from '../../events/index.js';
import type { StreamName } from '../../events/index.js';
import { runFolderPath } from '../../runs/run-folder-path.js';
import { openForReading } from '../../runs/safe-file.js';
import { answerProblem } from '../answer.js';
import { byteRange } from '../byte-range.js';
import type { ByteSpan } from '../byte-range.js';
import { findRun } from '../find-run.js';
import { RequestError } from '../request-error.js';
import type { Handlers } from '../route.js';
import type { ServerContext } from '../server-context.js';
import { streamOf } from '../stream-of.js';

const CHUNK = 64 * 1024;

/** The captured bytes of a run, as far as they have come. */
export function createRunRawHandlers({ store, data }: ServerContext): Pick<Handlers, 'readRaw'> {
  return {
    async readRaw({ params, context, requestId }) {
      const { id } = await findRun(store, params.id);
      const handle = await openRaw(runFolderPath(data, id), params.attempt, params.stream);
      const { size } = await handle.stat();
      const range = byteRange(context.req.header('range'), size);
      if (range === 'none' || context.req.method === 'HEAD') await handle.close();
      if (range === 'none') return unsatisfiable(size, requestId);
      const span = range ?? { from: 0, to: size };
      const headers = {
        'content-type': 'application/octet-stream',
        'content-disposition': 'attachment',
        'accept-ranges': 'bytes',
        'content-length': String(span.to - span.from),
        ...(range === undefined ? {} : { 'content-range': `bytes ${range.from}-${range.to - 1}/${size}` }),
      };
      const body = context.req.method === 'HEAD' ? null : streamOf(readSpan(handle, span), async () => handle.close());
      return new Response(body, { status: range === undefined ? 200 : 206, headers });
    },
  };
}

async function openRaw(folder: string, attempt: string, stream: string): Promise<FileHandle> {
  if (!/^[1-9]\d{0,5}$/.test(attempt) || !isStream(stream)) {
    throw new RequestError('RAW_NOT_FOUND', `Name an attempt by its number, and one of ${STREAMS.join(', ')}.`);
  }
  try {
    const captured = await openRunFolder(folder);
    const handle = await openForReading(captured.attemptPath(stream, Number(attempt)));
    if (handle !== undefined) return handle;
  } catch (error) {
    // A folder that is elsewhere, or something in it that is no file of ours: either way there is nothing to read.
    if (!isSluiceError(error)) throw error;
  }
  throw new RequestError(
    'RAW_NOT_FOUND',
    'This stream was not captured on this machine: the attempt has not begun, or its worker is elsewhere.',
  );
}

function isStream(word: string): word is StreamName {
  return (STREAMS as readonly string[]).includes(word);
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
