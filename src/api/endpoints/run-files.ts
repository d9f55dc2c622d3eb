import { name } from '../../base/index.js';
import { endpoint, json } from '../endpoint.js';
import { runFilesSchema } from '../shapes/files.js';

/** Fields that both previews of a file share. */
const filePreview = {
  answer: { status: 200, media: 'text/plain' },
  problems: ['RUN_NOT_FOUND', 'FILE_NOT_FOUND', 'INVALID_RANGE'],
} as const;

export const readRaw = endpoint({
  method: 'GET',
  path: '/v1/runs/{id}/raw/{attempt}/{stream}',
  scope: 'read',
  summary: 'The captured bytes of a stream; supports byte ranges.',
  answer: { status: 200, media: 'application/octet-stream' },
  problems: ['RUN_NOT_FOUND', 'RAW_NOT_FOUND', 'INVALID_RANGE'],
});

export const listRunFiles = endpoint({
  method: 'GET',
  path: '/v1/runs/{id}/files',
  scope: 'read',
  summary: 'The files of a run: evidence of what happened, and the files it changed.',
  answer: json(runFilesSchema),
  problems: ['RUN_NOT_FOUND'],
});

export const readEvidence = endpoint({
  method: 'GET',
  path: '/v1/runs/{id}/evidence',
  scope: 'read',
  summary: 'A file of evidence as text: its first MiB, or a byte range; x-total-bytes has its size.',
  query: { name },
  ...filePreview,
});

export const readArtifact = endpoint({
  method: 'GET',
  path: '/v1/runs/{id}/artifact',
  scope: 'read',
  summary: 'A file that the run changed, in its current state, in the same way.',
  query: { path: name },
  ...filePreview,
});

export const exportRun = endpoint({
  method: 'GET',
  path: '/v1/runs/{id}/export',
  scope: 'read',
  summary: 'The run folder as a tar archive.',
  answer: { status: 200, media: 'application/x-tar' },
  problems: ['RUN_NOT_FOUND', 'RAW_NOT_FOUND'],
});

export const reportRun = endpoint({
  method: 'GET',
  path: '/v1/runs/{id}/report',
  scope: 'read',
  summary: 'The run as one self-contained HTML file without scripts, to attach to a bug report; bounded.',
  answer: { status: 200, media: 'text/html' },
  problems: ['RUN_NOT_FOUND'],
});

export const exportRunCase = endpoint({
  method: 'GET',
  path: '/v1/runs/{id}/case',
  scope: 'read',
  summary: 'The run as a case of a suite: a tar archive to unpack in the folder of the suite.',
  answer: { status: 200, media: 'application/x-tar' },
  problems: ['RUN_NOT_FOUND', 'RUN_NOT_ENDED', 'RAW_NOT_FOUND', 'CASE_TOO_LARGE'],
});
