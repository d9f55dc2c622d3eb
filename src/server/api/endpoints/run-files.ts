import { name } from '../../../base/index.js';
import { defineEndpoints, json } from '../endpoint.js';
import { runFilesSchema } from '../shapes/files.js';

/** Fields shared by both previews. */
const filePreview = {
  response: { status: 200, media: 'text/plain' },
  problems: ['RUN_NOT_FOUND', 'FILE_NOT_FOUND', 'RUN_ON_ANOTHER_HOST', 'INVALID_RANGE'],
} as const;

export const runFileEndpoints = defineEndpoints({
  readRaw: {
    method: 'GET',
    path: '/v1/runs/{id}/raw/{attempt}/{stream}',
    scope: 'read',
    summary: 'Returns the captured bytes of a stream; supports byte ranges.',
    response: { status: 200, media: 'application/octet-stream' },
    problems: ['RUN_NOT_FOUND', 'RAW_NOT_FOUND', 'RUN_ON_ANOTHER_HOST', 'INVALID_RANGE'],
  },
  listRunFiles: {
    method: 'GET',
    path: '/v1/runs/{id}/files',
    scope: 'read',
    summary: "Lists a run's files: evidence of what happened, and the files that it changed.",
    response: json(runFilesSchema),
    problems: ['RUN_NOT_FOUND'],
  },
  readEvidence: {
    method: 'GET',
    path: '/v1/runs/{id}/evidence',
    scope: 'read',
    summary: 'Returns an evidence file as text: its first MiB, or a byte range. The header x-total-bytes has its size.',
    query: { name },
    ...filePreview,
  },
  readArtifact: {
    method: 'GET',
    path: '/v1/runs/{id}/artifact',
    scope: 'read',
    summary:
      'Returns the current content of a file that the run changed, as text: its first MiB, or a byte range. The header x-total-bytes has its size.',
    query: { path: name },
    ...filePreview,
  },
  exportRun: {
    method: 'GET',
    path: '/v1/runs/{id}/export',
    scope: 'read',
    summary: 'Exports the run folder as a tar archive.',
    response: { status: 200, media: 'application/x-tar' },
    problems: ['RUN_NOT_FOUND', 'RAW_NOT_FOUND', 'RUN_ON_ANOTHER_HOST'],
  },
  reportRun: {
    method: 'GET',
    path: '/v1/runs/{id}/report',
    scope: 'read',
    summary:
      'Exports the run as one self-contained HTML file without scripts, for example for a bug report; the size is limited.',
    response: { status: 200, media: 'text/html' },
    problems: ['RUN_NOT_FOUND'],
  },
  exportRunCase: {
    method: 'GET',
    path: '/v1/runs/{id}/case',
    scope: 'read',
    summary: "Exports the run as a suite case: a tar archive to unpack in the suite's folder.",
    response: { status: 200, media: 'application/x-tar' },
    problems: ['RUN_NOT_FOUND', 'RUN_NOT_ENDED', 'RAW_NOT_FOUND', 'CASE_TOO_LARGE'],
  },
});
