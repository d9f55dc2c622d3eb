import { ARTIFACT_FOLDER, listFilesWithLogs } from '../../runs/run-folder/index.js';
import type { RunFolder } from '../../runs/run-folder/index.js';
import { openInside, getSizeInside } from '../../base/files/index.js';
import type { ReadableFile } from '../../base/index.js';
import { isSluiceError } from '../../base/index.js';
import type { RunRecord } from '../../store/records/index.js';
import { RAW_STREAMS } from '../../events/index.js';
import type { RawRef } from '../../events/index.js';
import { createFileResponse } from '../files/file-response.js';
import {
  findRunFiles,
  isExecutedHere,
  listArtifacts,
  listEvidence,
  createFilesMissingError,
} from '../files/run-files.js';
import { RequestError } from '../http/problem.js';
import type { Handlers } from '../http/request-checks.js';
import type { ServerContext } from '../server-context.js';
import { tarRun } from '../export/tar-files.js';
import { streamBody } from '../export/stream-body.js';
import { findRun, pickHost } from './run-view.js';

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
      if (folder === undefined) throw createFilesMissingError(record, 'FILE_NOT_FOUND');
      const file = (await listEvidence(folder)).find(({ name }) => name === query['name']);
      const handle = await file?.open().catch(() => undefined);
      if (handle === undefined) throw createFileNotFoundError();
      return createFileResponse(context, { handle, requestId, ...PREVIEW });
    },
    async readArtifact({ params, query, context, requestId }) {
      const record = await findRun(store, params.id);
      const { folder } = (await findRunFiles(server, record)) ?? {};
      if (folder === undefined && !isExecutedHere(record)) throw createFilesMissingError(record, 'FILE_NOT_FOUND');
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
      'RAW_NOT_FOUND',
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
        'RAW_NOT_FOUND',
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
