import { hostname } from 'node:os';
import type { Context } from 'hono';
import { RUN_LOGS, getAttemptFileName, isArtifactPath, openRun, readFsDiff } from '../../runs/run-folder/index.js';
import type { AttemptFile, RunFolder } from '../../runs/run-folder/index.js';
import { isSluiceError, listKeys, type OpenFile, type ReadableFile } from '../../base/index.js';
import { RESULT_FILES } from '../../orders/index.js';
import type { FsDiff } from '../../events/index.js';
import { NO_CHANGES, mergeFsDiffs } from '../../runs/index.js';
import type { RunRecord } from '../../store/records/index.js';
import { RequestError } from '../http/problem.js';
import type { ServerContext } from '../server-context.js';
import { readChunks } from '../../base/files/index.js';
import { createProblemResponse, streamBody } from '../http/responses.js';

/** A run's files and where they come from. */
interface FoundFiles {
  readonly source: 'folder' | 'archive';
  readonly folder: RunFolder;
}

/**
 * Finds a run's files, on this host or in the archive. Undefined if they are on another host, deleted, or damaged.
 * Throws if the archive cannot be used.
 */
export async function findRunFiles(
  { data, archive }: Pick<ServerContext, 'data' | 'archive'>,
  { id, state }: Pick<RunRecord, 'id' | 'state'>,
): Promise<FoundFiles | undefined> {
  try {
    return { source: 'folder', folder: await openRun(data, id) };
  } catch (error) {
    if (!isSluiceError(error)) throw error;
  }
  // While a run is active, the archive has the part that was already copied.
  const folder = state === 'queued' ? undefined : await archive?.openRun(id);
  return folder === undefined ? undefined : { source: 'archive', folder };
}

/** Returns the host that executed a run; undefined before it was claimed. */
function findHost({ owner }: Pick<RunRecord, 'owner'>): string | undefined {
  return owner === null || owner.host === '' ? undefined : owner.host;
}

/** Whether a run was executed on this host, or has not been executed yet. */
export function isExecutedHere(record: Pick<RunRecord, 'owner'>): boolean {
  return [undefined, hostname()].includes(findHost(record));
}

/** Creates the error for a run whose files are not on this host. It names the host that has them. */
export function createFilesMissingError(record: Pick<RunRecord, 'owner' | 'state'>): RequestError {
  const host = findHost(record);
  if (host !== undefined && host !== hostname() && record.state !== 'queued' && record.state !== 'ended') {
    const message = `The run is active on "${host}", and its files are only there. Send the request to the server on that host, wait until the run has ended and is in the archive, or set copy_every_s in "archive".`;
    return new RequestError('RUN_ON_ANOTHER_HOST', message);
  }
  const reason =
    record.state === 'queued'
      ? 'the run has not started. Try again later'
      : host === undefined || host === hostname()
        ? 'they were deleted, or are in the data folder of another worker'
        : `they are on "${host}", which executed the run, and not in an archive. Send the request to the server on that host, or configure an archive`;
  return new RequestError('FILE_NOT_FOUND', `The files of the run are not on this host: ${reason}.`);
}

/** A file of the run folder that is evidence of what happened. */
interface EvidenceFile {
  readonly name: string;
  readonly size: number;
  open: OpenFile;
}

/** Files that an agent received or wrote. */
const WORK_FILES = ['work_order.json', ...RESULT_FILES] as const;
const ATTEMPT_FILES: readonly AttemptFile[] = ['stdout', 'stderr', 'pty', 'stdin', 'meta', 'fsDiff', 'timing'];
/** The maximum number of attempts whose files are listed. The last attempts matter most. */
const MAX_ATTEMPTS = 20;

/** Lists the files of a run that someone needs to verify a decision: known names and regular files only. */
export async function listEvidence(folder: RunFolder): Promise<readonly EvidenceFile[]> {
  const attempts = (await folder.attempts()).slice(-MAX_ATTEMPTS);
  const candidates: Omit<EvidenceFile, 'size'>[] = [
    ...WORK_FILES.map((name) => ({ name, open: async () => folder.openWorkFile(name) })),
    ...attempts.flatMap((attempt) =>
      ATTEMPT_FILES.map((file) => ({
        name: getAttemptFileName(file, attempt),
        open: async () => folder.openAttempt(file, attempt),
      })),
    ),
    ...listKeys(RUN_LOGS).map((log) => ({ name: RUN_LOGS[log], open: async () => folder.openLog(log) })),
  ];
  const sized = await Promise.all(candidates.map(async (file) => ({ ...file, size: await getSize(file.open) })));
  return sized.flatMap(({ size, ...file }) => (size === undefined ? [] : [{ ...file, size }]));
}

/** Returns the size of a file; undefined if it is missing or not a regular file. */
async function getSize(open: OpenFile): Promise<number | undefined> {
  const file = await open().catch(() => undefined);
  if (file === undefined) return undefined;
  try {
    return (await file.stat()).size;
  } finally {
    await file.close();
  }
}

/** A file that a run changed in its working folder. */
interface Artifact {
  readonly path: string;
  readonly change: keyof FsDiff;
}

/** Lists the files that a run changed; while it is running, only the changes of ended attempts. */
export async function listArtifacts(
  { result }: RunRecord,
  folder: RunFolder | undefined,
): Promise<readonly Artifact[]> {
  const changes = result?.artifacts ?? (folder === undefined ? NO_CHANGES : await readChanges(folder));
  return (['created', 'modified', 'deleted'] as const).flatMap((change) =>
    changes[change].filter(isArtifactPath).map((path) => ({ path, change })),
  );
}

async function readChanges(folder: RunFolder): Promise<FsDiff> {
  try {
    let changes = NO_CHANGES;
    for (const attempt of await folder.attempts()) {
      const attemptChanges = await readFsDiff(folder, attempt, () => undefined);
      if (attemptChanges !== undefined) changes = mergeFsDiffs(changes, attemptChanges);
    }
    return changes;
  } catch (error) {
    // The folder has unexpected contents: its changes are unknown.
    if (isSluiceError(error)) return NO_CHANGES;
    throw error;
  }
}

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
