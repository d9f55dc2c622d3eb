import { ARTIFACT_FOLDER, listFilesWithLogs } from '../../runs/run-folder/index.js';
import type { RunFolder } from '../../runs/run-folder/index.js';
import { openInside, getSizeInside, VERSION } from '../../base/files/index.js';
import { isSluiceError, omitUndefined } from '../../base/index.js';
import type { ReadableFile } from '../../base/index.js';
import type { RunRecord } from '../../store/records/index.js';
import { RAW_STREAMS } from '../../events/index.js';
import type { RawRef } from '../../events/index.js';
import {
  createFileResponse,
  findRunFiles,
  isExecutedHere,
  listArtifacts,
  listEvidence,
  createFilesMissingError,
} from '../files/run-files.js';
import { RequestError } from '../http/problem.js';
import type { Handlers } from '../http/request-checks.js';
import type { ServerContext } from '../server-context.js';
import { tarRun, tarFiles } from '../export/tar-files.js';
import { streamBody } from '../http/responses.js';
import { findRun, pickHost } from './run-view.js';
import type { OrderStore, RunStore } from '../../store/ports/index.js';
import { gatherReport, renderHtml } from '../report/index.js';
import type { RunReport } from '../report/index.js';
import { makeRunCase, makeTextCase } from '../suite/index.js';
import type { NewCase } from '../suite/index.js';

/** Limits for lists and previews. The export contains everything. */
const MAX_ARTIFACTS = 1000;
const MAX_BYTES = 1024 * 1024;
const PREVIEW = { type: 'text/plain; charset=utf-8', maxBytes: MAX_BYTES } as const;

type FileHandlers = Pick<Handlers, 'listRunFiles' | 'readEvidence' | 'readArtifact'>;

/** Creates the handlers that list and preview a run's files. */
export function createRunFileHandlers(server: ServerContext): FileHandlers {
  const { store } = server;
  return {
    async listRunFiles({ params }) {
      const record = await findRun(store, params.id);
      const { folder, source = null } = (await findRunFiles(server, record)) ?? {};
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
      const record = await findRun(store, params.id);
      const { folder } = (await findRunFiles(server, record)) ?? {};
      if (folder === undefined) throw createFilesMissingError(record);
      const file = (await listEvidence(folder)).find(({ name }) => name === query['name']);
      const handle = await file?.open().catch(() => undefined);
      if (handle === undefined) throw createFileNotFoundError();
      return createFileResponse(context, { handle, requestId, ...PREVIEW });
    },
    async readArtifact({ params, query, context, requestId }) {
      const record = await findRun(store, params.id);
      const { folder } = (await findRunFiles(server, record)) ?? {};
      if (folder === undefined && !isExecutedHere(record)) throw createFilesMissingError(record);
      const artifacts = await listArtifacts(record, folder);
      const artifact = artifacts.find(({ path }) => path === query['path']);
      const handle = artifact === undefined ? undefined : await openArtifact(record, folder, artifact.path);
      if (handle === undefined) throw createFileNotFoundError();
      return createFileResponse(context, { handle, requestId, ...PREVIEW });
    },
  };
}

/**
 * Opens an artifact. The working folder is used only if the run was executed on this host: on another host, the same
 * path is a different file.
 */
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
  if (size !== null) return size;
  const file = await openArtifact(record, folder, path);
  try {
    return (await file?.stat())?.size ?? null;
  } finally {
    await file?.close();
  }
}

/** Creates the error for an unknown file. The message does not quote the name, because it can be any string. */
function createFileNotFoundError(): RequestError {
  return new RequestError(
    'FILE_NOT_FOUND',
    'File not found: it does not belong to this run, was deleted, or is on another host. GET /v1/runs/{id}/files lists the files.',
  );
}

/** Creates the handler for a run's captured bytes. */
export function createRunRawHandlers(server: ServerContext): Pick<Handlers, 'readRaw'> {
  return {
    async readRaw({ params, context, requestId }) {
      const record = await findRun(server.store, params.id);
      const { folder } = (await findRunFiles(server, record)) ?? {};
      const handle = await openRaw(record, folder, params.attempt, params.stream);
      return createFileResponse(context, { handle, type: 'application/octet-stream', requestId });
    },
  };
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

/** Creates the handler that exports a run's folder as an archive. */
export function createRunExportHandlers(server: ServerContext): Pick<Handlers, 'exportRun'> {
  return {
    async exportRun({ params, context }) {
      const record = await findRun(server.store, params.id);
      const { id } = record;
      const { folder } = (await findRunFiles(server, record)) ?? {};
      if (folder === undefined) throw createFilesMissingError(record);
      const headers = {
        'content-type': 'application/x-tar',
        'content-disposition': `attachment; filename="${id}.tar"`,
      };
      return new Response(context.req.method === 'HEAD' ? null : streamBody(tarRun(listFilesWithLogs(folder), id)), {
        headers,
      });
    },
  };
}

/** Creates the handlers that export a run as an HTML report, and runs and parse inputs as suite cases. */
export function createReportHandlers(
  context: ServerContext,
): Pick<Handlers, 'reportRun' | 'exportRunCase' | 'exportTextCase'> {
  const { store, secrets, wrappers, clock } = context;
  const openFolder = async (record: RunRecord): Promise<RunFolder> => {
    const runFiles = await findRunFiles(context, record);
    if (runFiles === undefined) throw createFilesMissingError(record);
    return runFiles.folder;
  };
  return {
    async reportRun({ params }) {
      const record = await findRun(store, params.id);
      const { id } = record;
      const source = { openFolder: async () => openFolder(record), mask: (bytes: Uint8Array) => secrets.mask(bytes) };
      const report = await gatherReport(source, await readReportRecords(store, id));
      const html = renderHtml(report, { version: VERSION, maskText: (text) => secrets.maskText(text) });
      return createDownload(Buffer.from(html), 'text/html; charset=utf-8', `${id}.html`);
    },
    async exportRunCase({ params }) {
      const record = await findRun(store, params.id);
      const folder = await openFolder(record);
      return createCaseDownload(await makeRunCase({ record, folder, store, wrappers, secrets, clock }));
    },
    async exportTextCase({ body }) {
      const { text, name, schema, profile, allow_partial, align } = body;
      const contract = omitUndefined({ schema, profile, allow_partial, align });
      return createCaseDownload(await makeTextCase({ text, name, contract, secrets, clock }));
    },
  };
}

/** Sends a case as an archive to be unpacked in the suite's folder. */
function createCaseDownload({ name, files }: NewCase): Response {
  const entries = files.map(({ path, bytes }) => ({ path: `${name}/${path}`, bytes }));
  const headers = {
    'content-type': 'application/x-tar',
    'content-disposition': `attachment; filename="${name}.tar"`,
  };
  return new Response(streamBody(tarFiles(entries)), { headers });
}

function createDownload(bytes: Uint8Array<ArrayBuffer>, type: string, name: string): Response {
  return new Response(bytes, {
    headers: { 'content-type': type, 'content-disposition': `attachment; filename="${name}"` },
  });
}

/** Loads the records for a run's report: the run, its order and its inbox items. */
export async function readReportRecords(
  store: Pick<RunStore, 'findRun'> & Pick<OrderStore, 'findOrder' | 'listInbox'>,
  id: string,
): Promise<Pick<RunReport, 'id' | 'record' | 'order' | 'items'>> {
  const record = await store.findRun(id);
  const orderRef = record?.order ?? null;
  if (orderRef === null) return { id, record, items: [] };
  const order = await store.findOrder(orderRef.issue_ref, orderRef.run_id);
  const { items } = await store.listInbox({ issueRef: orderRef.issue_ref, order: 'newest', limit: 100 });
  return { id, record, order, items: items.filter(({ run }) => run === id) };
}
