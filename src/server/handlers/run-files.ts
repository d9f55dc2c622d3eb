import { ARTIFACT_FOLDER, type RunFolder } from '../../runs/run-folder/index.js';
import type { Secrets } from '../../runs/index.js';
import { openInside, getSizeInside, VERSION } from '../../base/files/index.js';
import { isSluiceError, omitUndefined, type ReadableFile } from '../../base/index.js';
import type { RunRecord } from '../../store/records/index.js';
import { RAW_STREAMS, type RawRef } from '../../events/index.js';
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
import { listExportFiles, tarFiles, tarRun } from '../export/tar-files.js';
import { streamBody } from '../http/responses.js';
import { findRun, pickHost } from './run-view.js';
import type { OrderStore, RunStore } from '../../store/ports/index.js';
import { gatherReport, renderHtml, type RunReport } from '../report/index.js';
import { makeRunCase, makeTextCase, type NewCase } from '../suite/index.js';

/** Limits for lists and previews. The export contains everything. */
const MAX_ARTIFACTS = 1000;
const MAX_BYTES = 1024 * 1024;
const PREVIEW = { type: 'text/plain; charset=utf-8', maxBytes: MAX_BYTES } as const;

/** Creates the handlers that list, preview and export a run's files, and export runs and parse inputs as suite cases. */
export function createRunFileHandlers(server: ServerContext) {
  const { store, secrets, wrappers, clock } = server;
  const openFolder = async (record: RunRecord): Promise<RunFolder> => {
    const { folder } = (await findRunFiles(server, record)) ?? {};
    if (folder === undefined) throw createFilesMissingError(record);
    return folder;
  };
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
      const folder = await openFolder(await findRun(store, params.id));
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
    async readRaw({ params, context, requestId }) {
      const record = await findRun(store, params.id);
      const { folder } = (await findRunFiles(server, record)) ?? {};
      const handle = await openRaw(record, folder, params.attempt, params.stream);
      return createFileResponse(context, { handle, type: 'application/octet-stream', requestId });
    },
    async exportRun({ params, context }) {
      const record = await findRun(store, params.id);
      const folder = await openFolder(record);
      const isHead = context.req.method === 'HEAD';
      const body = isHead ? null : streamBody(tarRun(listExportFiles(folder), record.id));
      return createDownload(body, 'application/x-tar', `${record.id}.tar`);
    },
    async reportRun({ params }) {
      const record = await findRun(store, params.id);
      const source = { store, secrets, openFolder: async () => openFolder(record) };
      const { html } = await renderRunReport(source, record.id);
      return createDownload(html, 'text/html; charset=utf-8', `${record.id}.html`);
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
  } satisfies Partial<Handlers>;
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

/** The sources of a run's report. */
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

/** Loads the records for a run's report: the run, its order and its inbox items. */
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
