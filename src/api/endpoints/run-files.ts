import { name } from '../../base/index.js';
import { defineEndpoint, json } from '../endpoint.js';
import { runFilesSchema } from '../shapes/files.js';

/** Fields shared by both previews. */
const filePreview = {
  response: { status: 200, media: 'text/plain' },
  problems: ['RUN_NOT_FOUND', 'FILE_NOT_FOUND', 'INVALID_RANGE'],
} as const;

export const readRaw = defineEndpoint({
  method: 'GET',
  path: '/v1/runs/{id}/raw/{attempt}/{stream}',
  scope: 'read',
  summary: 'Returns the captured bytes of a stream; supports byte ranges.',
  response: { status: 200, media: 'application/octet-stream' },
  problems: ['RUN_NOT_FOUND', 'RAW_NOT_FOUND', 'INVALID_RANGE'],
});

export const listRunFiles = defineEndpoint({
  method: 'GET',
  path: '/v1/runs/{id}/files',
  scope: 'read',
  summary: "Lists a run's files: evidence of what happened, and the files that it changed.",
  response: json(runFilesSchema),
  problems: ['RUN_NOT_FOUND'],
});

export const readEvidence = defineEndpoint({
  method: 'GET',
  path: '/v1/runs/{id}/evidence',
  scope: 'read',
  summary: 'Returns an evidence file as text: its first MiB, or a byte range. The header x-total-bytes has its size.',
  query: { name },
  ...filePreview,
});

export const readArtifact = defineEndpoint({
  method: 'GET',
  path: '/v1/runs/{id}/artifact',
  scope: 'read',
  summary:
    'Returns the current content of a file that the run changed, as text: its first MiB, or a byte range. The header x-total-bytes has its size.',
  query: { path: name },
  ...filePreview,
});

export const exportRun = defineEndpoint({
  method: 'GET',
  path: '/v1/runs/{id}/export',
  scope: 'read',
  summary: 'Exports the run folder as a tar archive.',
  response: { status: 200, media: 'application/x-tar' },
  problems: ['RUN_NOT_FOUND', 'RAW_NOT_FOUND'],
});

export const reportRun = defineEndpoint({
  method: 'GET',
  path: '/v1/runs/{id}/report',
  scope: 'read',
  summary:
    'Exports the run as one self-contained HTML file without scripts, for example for a bug report; the size is limited.',
  response: { status: 200, media: 'text/html' },
  problems: ['RUN_NOT_FOUND'],
});

export const exportRunCase = defineEndpoint({
  method: 'GET',
  path: '/v1/runs/{id}/case',
  scope: 'read',
  summary: "Exports the run as a suite case: a tar archive to unpack in the suite's folder.",
  response: { status: 200, media: 'application/x-tar' },
  problems: ['RUN_NOT_FOUND', 'RUN_NOT_ENDED', 'RAW_NOT_FOUND', 'CASE_TOO_LARGE'],
});
