import {
  ARTIFACT_FOLDER,
  type RunFolder,
  RUN_LOGS,
  getAttemptFileName,
  isArtifactPath,
  openRun,
  readFsDiff,
  type AttemptFile,
} from '../../runs/run-folder/index.js';
import { type Secrets, NO_CHANGES, mergeFsDiffs } from '../../runs/index.js';
import { openInside, getSizeInside, VERSION, readChunks } from '../../base/files/index.js';
import { isSluiceError, omitUndefined, type ReadableFile, listKeys, type OpenFile } from '../../base/index.js';
import type { RunRecord } from '../../store/records/index.js';
import { RAW_STREAMS, type RawRef, type FsDiff } from '../../events/index.js';
import { RequestError } from '../http/problem.js';
import type { Handlers } from '../http/request-checks.js';
import type { ServerContext } from '../server-context.js';
import { listExportFiles, tarFiles, tarRun } from '../export/tar-files.js';
import { streamBody, createProblemResponse } from '../http/responses.js';
import { findRun, pickHost } from './run-view.js';
import type { OrderStore, RunStore } from '../../store/ports/index.js';
import { gatherReport, renderHtml, type RunReport } from '../report/index.js';
import { makeRunCase, makeTextCase, type NewCase } from '../suite/index.js';
import { hostname } from 'node:os';
import type { Context } from 'hono';
import { RESULT_FILES } from '../../orders/index.js';
import { isExecutedHere } from '../../orders/dispatch/index.js';

/** Limits for lists and previews. The export contains everything. */
const MAX_ARTIFACTS = 1000;
const MAX_BYTES = 1024 * 1024;
const PREVIEW = { type: 'text/plain; charset=utf-8', maxBytes: MAX_BYTES } as const;

/** Creates the handlers that list, preview and export a run's files, and export runs and parse inputs as suite cases. */
export function createRunFileHandlers(server: ServerContext) {
  const { store, secrets, wrappers, clock } = server;
  const findFiles = async (id: string) => {
    const record = await findRun(store, id);
    return { record, ...(await findRunFiles(server, record)) };
  };
  const openFolder = async (id: string) => {
    const { record, folder } = await findFiles(id);
    if (folder === undefined) throw createFilesMissingError(record);
    return { record, folder };
  };
  return {
    async listRunFiles({ params }) {
      const { record, folder, source = null } = await findFiles(params.id);
      const evidence = folder === undefined ? [] : await listEvidence(folder);
      const artifacts = await listArtifacts(record, folder);
      const listedArtifacts = artifacts.slice(0, MAX_ARTIFACTS).map(async ({ path, change }) => ({
        path,
        change,
        size: change === 'deleted' ? null : await measureArtifact(record, folder, path),
      }));
      return {
        source,
        evidence: evidence.map(({ name, size }) => ({ name, size })),
        artifacts: await Promise.all(listedArtifacts),
        artifacts_left_out: Math.max(0, artifacts.length - MAX_ARTIFACTS),
        ...(source === 'folder' ? {} : pickHost(record.owner?.host)),
      };
    },
    async readEvidence({ params, query, context, requestId }) {
      const { folder } = await openFolder(params.id);
      const file = (await listEvidence(folder)).find(({ name }) => name === query['name']);
      const handle = await file?.open().catch(() => undefined);
      return createFileResponse(context, { handle, requestId, ...PREVIEW });
    },
    async readArtifact({ params, query, context, requestId }) {
      const { record, folder } = await findFiles(params.id);
      if (folder === undefined && !isExecutedHere(record)) throw createFilesMissingError(record);
      const artifacts = await listArtifacts(record, folder);
      const artifact = artifacts.find(({ path }) => path === query['path']);
      const handle = artifact === undefined ? undefined : await openArtifact(record, folder, artifact.path);
      return createFileResponse(context, { handle, requestId, ...PREVIEW });
    },
    async readRaw({ params, context, requestId }) {
      const { record, folder } = await findFiles(params.id);
      const handle = await openRaw(record, folder, params.attempt, params.stream);
      return createFileResponse(context, { handle, type: 'application/octet-stream', requestId });
    },
    async exportRun({ params, context }) {
      const { record, folder } = await openFolder(params.id);
      const isHead = context.req.method === 'HEAD';
      const body = isHead ? null : streamBody(tarRun(listExportFiles(folder), record.id));
      return createDownload(body, 'application/x-tar', `${record.id}.tar`);
    },
    async reportRun({ params }) {
      const { id } = await findRun(store, params.id);
      const source = { store, secrets, openFolder: async () => (await openFolder(id)).folder };
      const { html } = await renderRunReport(source, id);
      return createDownload(html, 'text/html; charset=utf-8', `${id}.html`);
    },
    async exportRunCase({ params }) {
      const { record, folder } = await openFolder(params.id);
      return createCaseDownload(await makeRunCase({ record, folder, store, wrappers, secrets, clock }));
    },
    async exportTextCase({ body }) {
      const { text, name, schema, profile, allow_partial, align } = body;
      const contract = omitUndefined({ schema, profile, allow_partial, align });
      return createCaseDownload(await makeTextCase({ text, name, contract, secrets, clock }));
    },
  } satisfies Partial<Handlers>;
}

/** Opens an artifact. The working folder counts only on the host of the run: elsewhere its path is a different file. */
async function openArtifact(
  record: RunRecord,
  folder: RunFolder | undefined,
  path: string,
): Promise<ReadableFile | undefined> {
  const localFile = isExecutedHere(record) ? await openInside(record.spec.workdir, path) : undefined;
  return localFile ?? folder?.openWorkFile(`${ARTIFACT_FOLDER}/${path}`).catch(() => undefined);
}

async function measureArtifact(record: RunRecord, folder: RunFolder | undefined, path: string): Promise<number | null> {
  const size = isExecutedHere(record) ? await getSizeInside(record.spec.workdir, path) : null;
  return size ?? (await getSize(async () => openArtifact(record, folder, path))) ?? null;
}

async function openRaw(
  record: RunRecord,
  folder: RunFolder | undefined,
  attempt: string,
  stream: string,
): Promise<ReadableFile> {
  if (!/^[1-9]\d{0,5}$/.test(attempt) || !isStream(stream)) {
    throw new RequestError(
      'FILE_NOT_FOUND',
      `No such attempt or stream. Use the number of an attempt and one of the streams ${RAW_STREAMS.join(', ')}.`,
    );
  }
  try {
    const handle = await folder?.openAttempt(stream, Number(attempt));
    if (handle !== undefined) return handle;
  } catch (error) {
    // The file is not a regular file, so it is not read.
    if (!isSluiceError(error)) throw error;
  }
  throw folder === undefined
    ? createFilesMissingError(record)
    : new RequestError(
        'FILE_NOT_FOUND',
        record.state === 'ended'
          ? 'The run does not have this attempt or stream. GET /v1/runs/{id}/files lists the files.'
          : 'The run does not have this attempt or stream yet. Try again later.',
      );
}

function isStream(word: string): word is RawRef['stream'] {
  return (RAW_STREAMS as readonly string[]).includes(word);
}

/** Sends a case as an archive to be unpacked in the suite's folder. */
function createCaseDownload({ name, files }: NewCase): Response {
  const entries = files.map(({ path, bytes }) => ({ path: `${name}/${path}`, bytes }));
  return createDownload(streamBody(tarFiles(entries)), 'application/x-tar', `${name}.tar`);
}

function createDownload(body: string | ReadableStream<Uint8Array> | null, type: string, name: string): Response {
  const headers = { 'content-type': type, 'content-disposition': `attachment; filename="${name}"` };
  return new Response(body, { headers });
}

interface ReportSources {
  readonly store: ReportStore;
  readonly secrets: Pick<Secrets, 'mask' | 'maskText'>;
  readonly openFolder: () => Promise<RunFolder>;
}

type ReportStore = Pick<RunStore, 'findRun'> & Pick<OrderStore, 'findOrder' | 'listInbox'>;

/** Gathers a run's report and renders it as one HTML file, without secrets. */
export async function renderRunReport(
  { store, secrets, openFolder }: ReportSources,
  id: string,
): Promise<{ readonly report: RunReport; readonly html: string }> {
  const source = { openFolder, mask: (bytes: Uint8Array) => secrets.mask(bytes) };
  const report = await gatherReport(source, await readReportRecords(store, id));
  return { report, html: renderHtml(report, { version: VERSION, maskText: (text) => secrets.maskText(text) }) };
}

async function readReportRecords(
  store: ReportStore,
  id: string,
): Promise<Pick<RunReport, 'id' | 'record' | 'order' | 'items'>> {
  const record = await store.findRun(id);
  const orderRef = record?.order ?? null;
  if (orderRef === null) return { id, record, items: [] };
  const order = await store.findOrder(orderRef.issue_ref, orderRef.run_id);
  const { items } = await store.listInbox({ issueRef: orderRef.issue_ref, order: 'newest', limit: 100 });
  return { id, record, order, items: items.filter(({ run }) => run === id) };
}

/**
 * Finds a run's files, on this host or in the archive. Undefined if they are on another host, deleted, or damaged.
 * Throws if the archive cannot be used.
 */
async function findRunFiles(
  { data, archive }: Pick<ServerContext, 'data' | 'archive'>,
  { id, state }: Pick<RunRecord, 'id' | 'state'>,
): Promise<{ readonly source: 'folder' | 'archive'; readonly folder: RunFolder } | undefined> {
  try {
    return { source: 'folder', folder: await openRun(data, id) };
  } catch (error) {
    if (!isSluiceError(error)) throw error;
  }
  // While a run is active, the archive has the part that was already copied.
  const folder = state === 'queued' ? undefined : await archive?.openRun(id);
  return folder === undefined ? undefined : { source: 'archive', folder };
}

/** Creates the error for a run whose files are not on this host. It names the host that has them. */
function createFilesMissingError(record: Pick<RunRecord, 'owner' | 'state'>): RequestError {
  const { host } = pickHost(record.owner?.host);
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

/** Files that an agent received or wrote. */
const WORK_FILES = ['work_order.json', ...RESULT_FILES] as const;
const ATTEMPT_FILES: readonly AttemptFile[] = ['stdout', 'stderr', 'pty', 'stdin', 'meta', 'fsDiff', 'timing'];
/** The maximum number of attempts whose files are listed. The last attempts matter most. */
const MAX_ATTEMPTS = 20;

/** Lists the files of a run that someone needs to verify a decision: known names and regular files only. */
async function listEvidence(folder: RunFolder) {
  const attempts = (await folder.attempts()).slice(-MAX_ATTEMPTS);
  const candidates: readonly { readonly name: string; readonly open: OpenFile }[] = [
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

/** Lists the files that a run changed; while it is running, only the changes of ended attempts. */
async function listArtifacts({ result }: RunRecord, folder: RunFolder | undefined) {
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
  /** Undefined if there is no such file. */
  readonly handle: ReadableFile | undefined;
  readonly type: 'application/octet-stream' | 'text/plain; charset=utf-8';
  /** The maximum number of bytes in one response; the header `x-total-bytes` has the total. */
  readonly maxBytes?: number;
  readonly requestId: string;
}

/** Sends an open file, or the requested part of it, and closes it. */
async function createFileResponse(context: Context, file: FileResponse): Promise<Response> {
  const { handle, type, maxBytes = Number.POSITIVE_INFINITY, requestId } = file;
  if (handle === undefined)
    // The message does not quote the name, because it can be any string.
    throw new RequestError(
      'FILE_NOT_FOUND',
      'File not found: it does not belong to this run, was deleted, or is on another host. GET /v1/runs/{id}/files lists the files.',
    );
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

/**
 * Parses a `Range` header. Undefined means the whole file, which is also the result for an invalid header or multiple
 * ranges; `unsatisfiable` means that the range is outside the file. `to` is exclusive.
 *
 * @example
 * parseByteRange('bytes=10-19', 100) // { from: 10, to: 20 }
 * parseByteRange('bytes=-5', 100) // { from: 95, to: 100 }
 */
export function parseByteRange(header: string | undefined, size: number) {
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
