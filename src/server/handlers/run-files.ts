import type { RunFolder } from '../../run-folder/index.js';
import type { ReadableFile } from '../../files/index.js';
import { isSluiceError } from '../../base/index.js';
import { RAW_STREAMS } from '../../events/index.js';
import type { RawRef } from '../../events/index.js';
import { answerFile } from '../files/answer-file.js';
import { findRunFiles, listArtifacts, listEvidence } from '../files/run-files.js';
import { openInside, sizeInside } from '../files/open-inside.js';
import { RequestError } from '../http/problem.js';
import type { Handlers } from '../http/request-checks.js';
import type { ServerContext } from '../server-context.js';
import { tarRun } from '../export/tar-files.js';
import { streamBody } from '../export/stream-body.js';
import { findRun } from './find-run.js';
import { viewHost } from './run-view.js';

/** Limits of a preview; the export has everything. */
const MAX_ARTIFACTS = 1000;
const MAX_BYTES = 1024 * 1024;
const PREVIEW = { type: 'text/plain; charset=utf-8', most: MAX_BYTES } as const;

type FileHandlers = Pick<Handlers, 'listRunFiles' | 'readEvidence' | 'readArtifact'>;

/** The files of a run: previews, raw bytes, export. */
export function createRunFileHandlers({ store, data }: ServerContext): FileHandlers {
  return {
    async listRunFiles({ params }) {
      const record = await findRun(store, params.id);
      const folder = await findRunFiles(data, record.id);
      const evidence = folder === undefined ? [] : await listEvidence(folder);
      const artifacts = await listArtifacts(record, folder);
      const shown = artifacts.slice(0, MAX_ARTIFACTS).map(async ({ path, change }) => ({
        path,
        change,
        size: change === 'deleted' ? null : await sizeInside(record.spec.workdir, path),
      }));
      return {
        evidence: evidence.map(({ name, size }) => ({ name, size })),
        artifacts: await Promise.all(shown),
        artifacts_left_out: Math.max(0, artifacts.length - MAX_ARTIFACTS),
        ...(folder === undefined ? viewHost(record.owner?.host) : {}),
      };
    },
    async readEvidence({ params, query, context, requestId }) {
      const { id } = await findRun(store, params.id);
      const folder = await findRunFiles(data, id);
      const evidence = folder === undefined ? [] : await listEvidence(folder);
      const file = evidence.find(({ name }) => name === query['name']);
      const handle = await file?.open().catch(() => undefined);
      if (handle === undefined) throw notFound();
      return answerFile(context, { handle, requestId, ...PREVIEW });
    },
    async readArtifact({ params, query, context, requestId }) {
      const record = await findRun(store, params.id);
      const artifacts = await listArtifacts(record, await findRunFiles(data, record.id));
      const artifact = artifacts.find(({ path }) => path === query['path']);
      const handle = artifact === undefined ? undefined : await openInside(record.spec.workdir, artifact.path);
      if (handle === undefined) throw notFound();
      return answerFile(context, { handle, requestId, ...PREVIEW });
    },
  };
}

/** The name is not repeated: it may be any text. */
function notFound(): RequestError {
  return new RequestError(
    'FILE_NOT_FOUND',
    'File not found: it is not a file of this run, was deleted, or is on another machine. GET /v1/runs/{id}/files lists the files.',
  );
}

/** The captured bytes of a run so far. */
export function createRunRawHandlers({ store, data }: ServerContext): Pick<Handlers, 'readRaw'> {
  return {
    async readRaw({ params, context, requestId }) {
      const { id } = await findRun(store, params.id);
      const handle = await openRaw(await findRunFiles(data, id), params.attempt, params.stream);
      return answerFile(context, { handle, type: 'application/octet-stream', requestId });
    },
  };
}

async function openRaw(folder: RunFolder | undefined, attempt: string, stream: string): Promise<ReadableFile> {
  if (!/^[1-9]\d{0,5}$/.test(attempt) || !isStream(stream)) {
    throw new RequestError(
      'RAW_NOT_FOUND',
      `Not found. Give the number of an attempt, and a stream: ${RAW_STREAMS.join(', ')}.`,
    );
  }
  try {
    const handle = await folder?.openAttempt(stream, Number(attempt));
    if (handle !== undefined) return handle;
  } catch (error) {
    // It is not a regular file: there is nothing to read.
    if (!isSluiceError(error)) throw error;
  }
  throw new RequestError(
    'RAW_NOT_FOUND',
    'The stream is not on this machine: the attempt has not started, or its worker runs elsewhere. Try again later, or ask the server of that worker.',
  );
}

function isStream(word: string): word is RawRef['stream'] {
  return (RAW_STREAMS as readonly string[]).includes(word);
}

/** The folder of a run as an archive. */
export function createRunExportHandlers({ store, data }: ServerContext): Pick<Handlers, 'exportRun'> {
  return {
    async exportRun({ params, context }) {
      const { id } = await findRun(store, params.id);
      const folder = await findRunFiles(data, id);
      if (folder === undefined) {
        throw new RequestError(
          'RAW_NOT_FOUND',
          'The run folder is not on this machine: the run has not started, or its worker runs elsewhere. Try again later, or ask the server of that worker.',
        );
      }
      const headers = {
        'content-type': 'application/x-tar',
        'content-disposition': `attachment; filename="${id}.tar"`,
      };
      return new Response(context.req.method === 'HEAD' ? null : streamBody(tarRun(folder.files(), id)), { headers });
    },
  };
}
