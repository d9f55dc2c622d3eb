import { endpoint, json } from '../endpoint.js';
import { caseRequestSchema, parseAnswerSchema, parseRequestSchema } from '../shapes/parse.js';

export const parse = endpoint({
  method: 'POST',
  path: '/v1/parse',
  scope: 'read',
  summary: 'Extracts JSON from a text, repairs its syntax and validates it.',
  body: parseRequestSchema,
  answer: json(parseAnswerSchema),
  problems: ['INVALID_SCHEMA'],
});

export const exportTextCase = endpoint({
  method: 'POST',
  path: '/v1/parse/case',
  scope: 'read',
  summary: 'A text with its schema as a case of a suite: a tar archive to unpack in the folder of the suite.',
  body: caseRequestSchema,
  answer: { status: 200, media: 'application/x-tar' },
  problems: ['INVALID_SCHEMA', 'CASE_TOO_LARGE'],
});
